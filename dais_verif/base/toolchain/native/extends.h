// Sign extension with half the instructions of Verilator's own; included after verilated.h, before any design.
//
// Verilator stores signed signals without sign extension, and extends every operand of every signed operation, which
// takes most of the time of a simulation. Its own code masks the sign bit and combines it with its negation, and needs
// a mask on each result, so that the bits above the width are 0. Two shifts do not need that mask, and the compiler
// removes it. For all values of a signal, whose bits above its width are 0, both give the same result:
// tests/sim/test_extends.py.
#pragma once

#include <cstdint>

#include "verilated.h"

static inline IData dais_verif_extends_i(int /*output_bits*/, int bits, IData value) {
    const int unused = 32 - bits;
    return static_cast<IData>(static_cast<int32_t>(value << unused) >> unused);
}
static inline QData dais_verif_extends_q(int /*output_bits*/, int bits, QData value) {
    const int unused = 64 - bits;
    return static_cast<QData>(static_cast<int64_t>(value << unused) >> unused);
}

#define VL_EXTENDS_II dais_verif_extends_i
#define VL_EXTENDS_QI dais_verif_extends_q
#define VL_EXTENDS_QQ dais_verif_extends_q
