// The class that cocotb's main program uses as the design.
//
// It is the same for all designs: main.o is compiled with it once per machine, and design.cpp, which is compiled with
// each design, forwards the calls to the class that Verilator wrote.
#pragma once

#include <cstdint>

#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

class VerilatedTraceBaseC;

class Vtop final {
public:
    explicit Vtop(const char* name);
    ~Vtop();
    void eval_step();
    void eval_end_step();
    void final();
    bool eventsPending();
    uint64_t nextTimeSlot();
    void trace(VerilatedTraceBaseC* file, int levels);

private:
    void* const m_design;
};
