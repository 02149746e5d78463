// What cocotb's main program knows as the design.
//
// A stand-in with a fixed shape: main.o is compiled against it once per machine, and design.cpp, compiled with
// each design, passes the calls on to the class that Verilator wrote.
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
