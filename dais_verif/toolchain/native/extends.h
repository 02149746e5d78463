// Sign extension in half the instructions of Verilator's own; included after verilated.h, before any design.
//
// A signed signal is kept without its sign: every operand of every signed operation is extended first, so that this
// is most of what a simulation does. Verilator masks the sign bit out and joins its negation: that also needs the bits
// above to be 0, for which each result is masked. Two shifts need no such mask, which the compiler then drops.
// For every value of a signal, whose bits above its width are 0, both give the same: tests/sim/test_extends.py.
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
