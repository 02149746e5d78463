// Compiled with each design, in one unit with Verilator's output: the calls of cocotb's main program, and the design that
// the bulk path evaluates. All that is the same for each design is in bulk.cpp.

#include "Vdesign.h"
#include "Vtop.h"
#include "bulk.h"

static Vdesign* design_of(void* pointer) { return static_cast<Vdesign*>(pointer); }

Vtop::Vtop(const char* name)
    : m_design{new Vdesign{name}} {}
Vtop::~Vtop() { delete design_of(m_design); }
void Vtop::eval_step() { design_of(m_design)->eval_step(); }
void Vtop::eval_end_step() { design_of(m_design)->eval_end_step(); }
void Vtop::final() { design_of(m_design)->final(); }
bool Vtop::eventsPending() { return design_of(m_design)->eventsPending(); }
uint64_t Vtop::nextTimeSlot() { return design_of(m_design)->nextTimeSlot(); }
void Vtop::trace(VerilatedTraceBaseC* file, int levels) {
#if VM_TRACE
    design_of(m_design)->trace(file, levels);
#else
    (void)file, (void)levels;
#endif
}

namespace {

struct Made final : Model {
    explicit Made(VerilatedContext* context)
        : design{context, "bulk"} {}
    void eval() override { design.eval(); }
    Vdesign design;
};

}  // namespace

Model* dais_verif_model(VerilatedContext* context) { return new Made{context}; }
