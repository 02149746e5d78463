// The bulk path, compiled once per machine: vectors in memory are evaluated in a C++ loop with an instance of the design
// of its own, so that any number of threads can run beside that of cocotb.

#include "bulk.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "verilated.h"
#include "verilated_sym_props.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

namespace {

constexpr size_t WORD = 64;

// A port of the design, or an element of a port, and its bits in a packed row.
struct Pin final {
    uint8_t* data = nullptr;
    size_t offset = 0;
    size_t width = 0;
};

uint64_t ones(size_t bits) { return bits < WORD ? (uint64_t{1} << bits) - 1 : ~uint64_t{0}; }

// Returns bits `offset` to `offset + count - 1` of a row, at most one word.
uint64_t bits_at(const uint64_t* row, size_t offset, size_t count) {
    const size_t word = offset / WORD, shift = offset % WORD;
    uint64_t bits = row[word] >> shift;
    if (shift + count > WORD) bits |= row[word + 1] << (WORD - shift);
    return bits & ones(count);
}

// Copies bits of a row to a port. Verilator requires that the bits above its width are 0.
void load(const Pin& pin, const uint64_t* row) {
    for (size_t done = 0; done < pin.width; done += WORD) {
        const size_t count = pin.width - done < WORD ? pin.width - done : WORD;
        const uint64_t bits = bits_at(row, pin.offset + done, count);
        std::memcpy(pin.data + done / 8, &bits, (count + 7) / 8);
    }
}

// Copies a port to its bits in `row`, which must be 0 before.
void store(const Pin& pin, uint64_t* row) {
    for (size_t done = 0; done < pin.width; done += WORD) {
        const size_t count = pin.width - done < WORD ? pin.width - done : WORD;
        uint64_t bits = 0;
        std::memcpy(&bits, pin.data + done / 8, (count + 7) / 8);
        const size_t word = (pin.offset + done) / WORD, shift = (pin.offset + done) % WORD;
        row[word] |= bits << shift;
        if (shift + count > WORD) row[word + 1] |= bits >> (WORD - shift);
    }
}

// An instance of the design, with the ports of its interface; `clock` has data only if the design is clocked.
struct Instance final {
    VerilatedContext context;
    std::unique_ptr<Model> design;
    std::vector<Pin> inputs, outputs;
    Pin clock;

    // Returns the port `name` of the testbench, which may be an element of an array, such as "x[3]".
    Pin find(const std::string& name) const {
        const VerilatedScope* const scope = context.scopeFind("bulk.TOP");
        const size_t bracket = name.back() == ']' ? name.rfind('[') : std::string::npos;
        const VerilatedVar* const found = scope ? scope->varFind(name.substr(0, bracket).c_str()) : nullptr;
        Pin pin;
        if (!found) return pin;
        pin.data = static_cast<uint8_t*>(found->datap());
        if (bracket != std::string::npos) {
            if (found->udims() != 1) return Pin{};
            pin.data += (std::stol(name.substr(bracket + 1)) - found->low(1)) * found->entSize();
        }
        return pin;
    }

    // Reads an interface: lines "input NAME OFFSET WIDTH", "output NAME OFFSET WIDTH", "set NAME VALUE", "clock NAME"
    // and "reset NAME ACTIVE". Sets these ports, and applies the reset. Returns false if the design lacks a port.
    bool take(const char* face) {
        std::istringstream lines{face};
        std::string kind, name;
        Pin reset;
        uint64_t active = 0;
        while (lines >> kind >> name) {
            Pin pin = find(name);
            if (!pin.data) return false;
            if (kind == "input" || kind == "output") {
                lines >> pin.offset >> pin.width;
                if (pin.width) (kind == "input" ? inputs : outputs).push_back(pin);
            } else if (kind == "clock") {
                clock = pin;
            } else {
                uint64_t value = 0;
                lines >> value;
                if (kind == "reset") reset = pin, active = value;
                else std::memcpy(pin.data, &value, value > 0xffffffff ? 8 : value > 0xff ? 4 : 1);
            }
        }
        if (reset.data) {
            *reset.data = active;
            for (int edge = 0; edge < 8; ++edge) cycle();
            *reset.data = !active;
        }
        return true;
    }

    void cycle() {
        *clock.data = 0;
        design->eval();
        *clock.data = 1;
        design->eval();
    }

    // Runs a machine from power-up, and stores its outputs before each edge, and after it with the same inputs.
    void sequence(const uint64_t* inputs_of, size_t input_words, uint64_t* outputs_of, size_t output_words,
                  size_t cycles) {
        for (size_t t = 0; t < cycles; ++t) {
            for (const Pin& pin : inputs) load(pin, inputs_of + t * input_words);
            for (size_t level = 0; level < 2; ++level) {
                if (clock.data) *clock.data = level;
                design->eval();
                for (const Pin& pin : outputs) store(pin, outputs_of + (2 * t + level) * output_words);
            }
        }
    }

    // Evaluates rows. With a clock, each edge takes a row; after the last row, the first ones are repeated until all
    // outputs are known. An output is sampled right before the edge that is `latency` edges after that of its row.
    void run(const uint64_t* inputs_of, size_t input_words, uint64_t* outputs_of, size_t output_words, size_t rows,
             size_t latency) {
        for (size_t edge = 0; edge < rows + latency; ++edge) {
            const uint64_t* const row = inputs_of + edge % rows * input_words;
            for (const Pin& pin : inputs) load(pin, row);
            if (clock.data) *clock.data = 0;
            design->eval();
            if (edge >= latency)
                for (const Pin& pin : outputs) store(pin, outputs_of + (edge - latency) * output_words);
            if (!clock.data) continue;
            *clock.data = 1;
            design->eval();
        }
    }
};

// Restores the thread's context. Calls of an instance need its context as that of the thread, but the thread may be the
// one that runs cocotb's simulation, which has another context.
struct Visit final {
    VerilatedContext* const before = Verilated::threadContextp();
    ~Visit() { Verilated::threadContextp(before); }
};

}  // namespace

extern "C" {

void dais_verif_close(void* handle) {
    const Visit visit;
    Instance* const instance = static_cast<Instance*>(handle);
    Verilated::threadContextp(&instance->context);
#if VM_COVERAGE
    static std::atomic<int> written{0};  // cocotb's own instance writes coverage.dat
    instance->context.coveragep()->write(("coverage_" + std::to_string(++written) + ".dat").c_str());
#endif
    instance->design.reset();
    Verilated::threadContextp(visit.before);
    delete instance;
}

// Returns an instance with the interface `face`; null if the design has other ports. `filling`: the value of all that
// nothing drives or initialises, which in Verilog is X: 0, 1, or another number for random bits of that seed.
void* dais_verif_open(const char* face, int filling) {
    const Visit visit;
    Instance* const instance = new Instance;
    Verilated::threadContextp(&instance->context);
    instance->context.randReset(filling < 2 ? filling : 2);
    instance->context.randSeed(filling);
    instance->design.reset(dais_verif_model(&instance->context));
    if (instance->take(face)) return instance;
    dais_verif_close(instance);
    return nullptr;
}

// Rows are packed in little-endian 64-bit words, with 0 in bits beyond those of the ports. `outputs` must be 0 before.
// `latency`: for a clocked design, the number of edges from an input to its output.
void dais_verif_evaluate(void* handle, const uint64_t* inputs, size_t input_words, uint64_t* outputs,
                         size_t output_words, size_t rows, size_t latency) {
    const Visit visit;
    Instance& instance = *static_cast<Instance*>(handle);
    Verilated::threadContextp(&instance.context);
    instance.run(inputs, input_words, outputs, output_words, rows, latency);
}

// The same for a machine: two rows of outputs per cycle, before its edge and after it. At most one call per instance.
void dais_verif_sequence(void* handle, const uint64_t* inputs, size_t input_words, uint64_t* outputs,
                         size_t output_words, size_t cycles) {
    const Visit visit;
    Instance& instance = *static_cast<Instance*>(handle);
    Verilated::threadContextp(&instance.context);
    instance.sequence(inputs, input_words, outputs, output_words, cycles);
}
}
