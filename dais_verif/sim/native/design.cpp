// Compiled with each design, in one unit with what Verilator wrote of it.
//
// First the calls of cocotb's main program; then the bulk path: vectors in memory, evaluated in a loop that never
// leaves C++, by an instance of the design of its own, so that any number of threads may run beside cocotb's.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "Vdesign.h"
#include "Vtop.h"

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

struct Instance final {
    VerilatedContext context;
    std::unique_ptr<Vdesign> design;
};

// Everything about an instance must be done with its context as the thread's, and the thread may be the one in which
// cocotb's simulation lives, with a context of its own.
struct Visit final {
    VerilatedContext* const before = Verilated::threadContextp();
    ~Visit() { Verilated::threadContextp(before); }
};

// The bytes of a port of any width, or none if the design has no port of that name: cocotb's side tells the user.
struct Bytes final {
    void* start;
    size_t size;
};
template <typename Design>
auto input_port(Design& design, int) -> decltype((void)design.model_inp, Bytes{}) {
    return {&design.model_inp, sizeof(design.model_inp)};
}
template <typename Design>
auto output_port(Design& design, int) -> decltype((void)design.model_out, Bytes{}) {
    return {&design.model_out, sizeof(design.model_out)};
}
template <typename Design>
Bytes input_port(Design&, long) { return {nullptr, 0}; }
template <typename Design>
Bytes output_port(Design&, long) { return {nullptr, 0}; }

size_t lesser(size_t a, size_t b) { return a < b ? a : b; }

}  // namespace

extern "C" {

void* dais_verif_open() {
    const Visit visit;
    Instance* const instance = new Instance;
    Verilated::threadContextp(&instance->context);
    instance->design.reset(new Vdesign{&instance->context, "bulk"});
    return instance;
}

void dais_verif_close(void* handle) {
    const Visit visit;
    Instance* const instance = static_cast<Instance*>(handle);
    Verilated::threadContextp(&instance->context);
    instance->design.reset();
    Verilated::threadContextp(visit.before);
    delete instance;
}

// Rows are the ports' bits in little-endian 64-bit words, bits beyond the port 0; `outputs` comes zeroed.
void dais_verif_evaluate(void* handle, const uint64_t* inputs, size_t input_words, uint64_t* outputs,
                         size_t output_words, size_t rows) {
    const Visit visit;
    Instance& instance = *static_cast<Instance*>(handle);
    Verilated::threadContextp(&instance.context);
    const Bytes in = input_port(*instance.design, 0);
    const Bytes out = output_port(*instance.design, 0);
    const size_t in_size = lesser(in.size, input_words * sizeof(uint64_t));
    const size_t out_size = lesser(out.size, output_words * sizeof(uint64_t));
    for (size_t row = 0; row < rows; ++row) {
        std::memcpy(in.start, inputs + row * input_words, in_size);
        instance.design->eval();
        std::memcpy(outputs + row * output_words, out.start, out_size);
    }
}
}
