// A board in simulation: stdin and stdout are its link.
//
// The design is a top module of `emit --wrap`, as on a real board, and is clocked here. A UART is driven bit by bit.
// When the design is idle, the process waits for bytes; when its link is closed, it ends.

#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <deque>

#include "Vdesign.h"
#include "verilated.h"

// Macros of the build: CLOCKS_PER_BIT, 0 if bytes are not sent bit by bit; SPI, 1 if the link is SPI; IDLE_CLOCKS, the
// number of clocks without output after which the design is idle.

namespace {

// The largest number of bytes that are taken from the link at once; the others wait there.
constexpr size_t MOST = 4096;

std::deque<uint8_t> to_design, from_design;

// Read from the link and write to it; false when it is closed. `wait`: wait for data, since the design is idle.
bool exchange(bool wait) {
    pollfd ends[2] = {{0, static_cast<short>(to_design.size() < MOST ? POLLIN : 0), 0},
                      {1, static_cast<short>(from_design.empty() ? 0 : POLLOUT), 0}};
    if (poll(ends, 2, wait ? -1 : 0) < 0) return false;
    uint8_t bytes[MOST];
    if (ends[0].revents & (POLLIN | POLLHUP | POLLERR)) {
        const ssize_t count = read(0, bytes, sizeof bytes);
        if (count <= 0) return false;
        to_design.insert(to_design.end(), bytes, bytes + count);
    }
    if (ends[1].revents & (POLLHUP | POLLERR)) return false;
    if (ends[1].revents & POLLOUT) {
        size_t some = 0;
        while (some < from_design.size() && some < 512) {
            bytes[some] = from_design[some];
            ++some;
        }
        const ssize_t count = write(1, bytes, some);
        if (count <= 0) return false;
        from_design.erase(from_design.begin(), from_design.begin() + count);
    }
    return true;
}

#if SPI

// The host's end of SPI, one call per clock: a byte in both directions all the time, 00 if there is nothing to send.
class Line final {
public:
    void before_edge(Vdesign& design) {
        const int bit = m_clock / CLOCKS_PER_BIT;
        if (m_clock == 0) begin();
        // The board is selected for bursts of bytes of varying lengths, with a pause between bursts.
        design.spi_cs_n = m_pause > 0;
        if (m_pause > 0) {
            --m_pause;
            design.spi_sck = 0;
            return;
        }
        design.spi_mosi = m_send >> (7 - bit) & 1;
        design.spi_sck = m_clock % CLOCKS_PER_BIT >= CLOCKS_PER_BIT / 2;
        // A host reads the bit right before the edge that it drives.
        if (m_clock % CLOCKS_PER_BIT == CLOCKS_PER_BIT / 2) m_take = m_take << 1 | design.spi_miso;
        if (++m_clock == 8 * CLOCKS_PER_BIT) end();
    }
    void after_edge(Vdesign&) {}
    bool busy() const { return m_busy; }

private:
    void begin() {
        if (m_pause > 0) return;
        m_take = 0;
        m_send = 0;
        if (m_inverted) {
            m_send = 0x20;
            m_inverted = false;
        } else if (!to_design.empty()) {
            m_send = to_design.front();
            to_design.pop_front();
            if (m_send == 0) {
                m_send = 0x7D;
                m_inverted = true;
            }
        }
    }
    void end() {
        m_clock = 0;
        m_take &= 0xFF;
        if (m_take) from_design.push_back(static_cast<uint8_t>(m_take));
        m_busy = m_take || m_send || m_inverted;
        if (++m_bytes % m_run == 0) {
            m_pause = 4 * CLOCKS_PER_BIT;
            m_run = m_run % 7 + 1;
        }
    }

    unsigned m_send = 0, m_take = 0, m_bytes = 0, m_run = 3;
    int m_clock = 0, m_pause = 4 * CLOCKS_PER_BIT;
    bool m_inverted = false, m_busy = false;
};

#elif CLOCKS_PER_BIT

// The host's end of the UART, one call per clock.
class Line final {
public:
    void before_edge(Vdesign& design) {
        if (m_send_clocks == 0 && !to_design.empty()) {
            m_send = 0x200 | to_design.front() << 1;
            to_design.pop_front();
            m_send_clocks = 10 * CLOCKS_PER_BIT;
        }
        design.uart_rx = m_send_clocks ? m_send >> (10 - (m_send_clocks + CLOCKS_PER_BIT - 1) / CLOCKS_PER_BIT) & 1 : 1;
        if (m_send_clocks) --m_send_clocks;
    }
    void after_edge(Vdesign& design) {
        if (m_take_clocks == 0) {
            if (!design.uart_tx) m_take_clocks = 1, m_take = 0;
            return;
        }
        ++m_take_clocks;
        const int bit = m_take_clocks / CLOCKS_PER_BIT;
        if (m_take_clocks % CLOCKS_PER_BIT == CLOCKS_PER_BIT / 2) {
            m_take |= design.uart_tx << bit;
            if (bit == 9) {
                if (m_take >> 9) from_design.push_back(static_cast<uint8_t>(m_take >> 1));
                m_take_clocks = 0;
            }
        }
    }
    bool busy() const { return m_send_clocks || m_take_clocks; }

private:
    unsigned m_send = 0, m_take = 0;
    int m_send_clocks = 0, m_take_clocks = 0;
};

#else

// The host's end of a FIFO: one byte in each direction per clock, or, half of the time, only in some clocks.
class Line final {
public:
    void before_edge(Vdesign& design) {
        m_random ^= m_random << 13;
        m_random ^= m_random >> 7;
        m_random ^= m_random << 17;
        const bool brisk = ++m_clocks & 128;
        // An offered byte stays offered until it is taken.
        m_offered = !to_design.empty() && (m_offered || brisk || m_random & 1);
        design.rx_valid = m_offered;
        design.rx_data = m_offered ? to_design.front() : static_cast<uint8_t>(m_random >> 8);
        design.tx_ready = from_design.size() < MOST && (brisk || m_random & 2);
        design.eval();
        if (design.rx_valid && design.rx_ready) {
            to_design.pop_front();
            m_offered = false;
        }
        m_moved = design.tx_valid;
        if (design.tx_valid && design.tx_ready) from_design.push_back(design.tx_data);
    }
    void after_edge(Vdesign&) {}
    bool busy() const { return m_moved; }

private:
    uint64_t m_random = 0x9E3779B97F4A7C15, m_clocks = 0;
    bool m_moved = false, m_offered = false;
};

#endif

}  // namespace

int main() {
    VerilatedContext context;
    Vdesign design{&context};
    Line line;
    design.aresetn = 1;
#if SPI
    design.spi_cs_n = 1;
#elif CLOCKS_PER_BIT
    design.uart_rx = 1;
#endif
    design.aclk = 0;
    // Run some clocks first, as a real board does between power-up and the first request.
    for (int clock = 0; clock < 64; ++clock) {
        design.aclk = !design.aclk;
        design.eval();
    }
    int idle = 0;
    for (uint64_t clock = 0;; ++clock) {
        if (idle >= IDLE_CLOCKS || clock % 64 == 0) {
            if (!exchange(idle >= IDLE_CLOCKS && to_design.empty() && from_design.empty())) break;
        }
        line.before_edge(design);
        design.eval();
        design.aclk = 1;
        design.eval();
        line.after_edge(design);
        design.aclk = 0;
        design.eval();
        idle = line.busy() || !to_design.empty() ? 0 : idle + 1;
    }
    design.final();
    return 0;
}
