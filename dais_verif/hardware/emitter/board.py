"""The top module for a core on a board: wrapped in AXI4-Stream, with a bridge and a byte link.

link --> dais_bridge --> <core>_axis --> dais_bridge --> link. Core, wrapper and top module are written for a program;
all other modules are in ``rtl/``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.hardware.emitter.expressions import Writer
from dais_verif.hardware.emitter.rtl_library import AXIS_FILES

__all__ = ["BAUD", "BOARD_FILES", "LINKS", "buffer_bits", "clocks_per_bit", "emit_board_top"]

#: The kinds of byte links.
LINKS = ("uart", "spi", "fifo")

_BRIDGE_FILES = (*AXIS_FILES, "dais_crc32.v", "dais_deframer.v", "dais_framer.v", "dais_bridge.v")

#: The files of ``rtl/`` that a top module needs, lowest module first.
BOARD_FILES = {
    "uart": (*_BRIDGE_FILES, "dais_uart.v"),
    "spi": (*_BRIDGE_FILES, "dais_spi.v"),
    "fifo": _BRIDGE_FILES,
}

#: The default baud rate of a UART and of the host.
BAUD = 115200

#: The smallest buffer: 4096 bytes, with a bit that marks the end of a frame, fit in one block RAM of many FPGAs.
_FEWEST_BUFFER_BITS = 12
#: The number of requests that the buffer must hold so that a host can hide the latency of its link; and the number of
#: bytes of a request in addition to its data.
_REQUESTS, _OVERHEAD = 4, 16

_LINK_PORTS = {
    "uart": ("input  wire uart_rx,", "output wire uart_tx"),
    "spi": (
        "// Mode 0; a bit takes at least 8 clocks.",
        "input  wire spi_sck,",
        "input  wire spi_cs_n,",
        "input  wire spi_mosi,",
        "output wire spi_miso",
    ),
    "fifo": (
        "// A byte is passed when valid and ready are both 1; rx comes from the host.",
        "input  wire [7:0] rx_data,",
        "input  wire rx_valid,",
        "output wire rx_ready,",
        "output wire [7:0] tx_data,",
        "output wire tx_valid,",
        "input  wire tx_ready",
    ),
}

_SIGNALS = ("tdata", "tvalid", "tready", "tlast")
_BYTES = ("rx_data", "rx_valid", "rx_ready", "tx_data", "tx_valid", "tx_ready")


def buffer_bits(input_bits: int) -> int:
    """Return the parameter ``BUFFER_BITS`` of the bridge for a core with ``input_bits`` input bits."""
    vector = -(-input_bits // 8)
    return max(_FEWEST_BUFFER_BITS, (_REQUESTS * (vector + _OVERHEAD) - 1).bit_length())


def clocks_per_bit(period: float) -> int:
    """Return ``CLOCKS_PER_BIT`` of a UART at ``BAUD`` for a clock period of ``period`` ns, at least 4."""
    return max(round(1e9 / (period * BAUD)), 4)


def emit_board_top(
    core: str,
    link: str,
    program_hash: str,
    *,
    input_bits: int,
    output_bits: int,
    latency: int = 0,
    period: float = 10.0,
) -> str:
    """Return the text of module ``<core>_<link>``: module ``<core>_axis`` connected to a link, one of ``LINKS``.

    ``program_hash``: 64 hexadecimal digits, by which a host identifies the program. ``input_bits``, ``output_bits``:
    widths of the core's ports, at least 1. ``latency``: the latency of the core in clocks, which the host can read.
    ``period``: the clock period in ns, which determines the parameter of a UART.
    """
    out = Writer()
    out.line(f"// {core}, of DAIS program {program_hash},")
    out.line("// with a byte link for `dais-verif hil`.")
    out.line("`default_nettype none")
    out.line(f"module {core}_{link} #(")
    with out.indent():
        if link == "uart":
            clocks = clocks_per_bit(period)
            out.line(f"parameter CLOCKS_PER_BIT = {clocks},  // frequency of aclk / {BAUD} baud, for {period:g} ns")
        out.line(f"parameter BUFFER_BITS = {buffer_bits(input_bits)}  // buffer of 2**BUFFER_BITS bytes for requests")
    out.line(") (")
    with out.indent():
        out.line("input  wire aclk,")
        out.line("input  wire aresetn,  // a button that is 0 while pressed, or 1")
        for port in _LINK_PORTS[link]:
            out.line(port)
    out.line(");")
    with out.indent():
        _reset(out)
        if link == "uart":
            _wires(out, "dais_uart", ["CLOCKS_PER_BIT(CLOCKS_PER_BIT)"], ("uart_rx", "uart_tx"))
        if link == "spi":
            _wires(out, "dais_spi", [], ("spi_sck", "spi_cs_n", "spi_mosi", "spi_miso"))
        _bridge(out, program_hash, input_bits, output_bits, latency)
        _core(out, core)
    out.line("endmodule")
    out.line("`default_nettype wire")
    return out.text()


def _reset(out: Writer) -> None:
    out.line("// Reset after power-on, and while the button is pressed, which is asynchronous to this clock.")
    out.line("reg [7:0] awake;")
    out.line("initial awake = 8'b0;")
    out.line("always @(posedge aclk) awake <= {awake[6:0], aresetn};")
    out.line("wire resetn = &awake[7:1];")
    out.line("")


def _wires(out: Writer, module: str, parameters: list[str], pins: Sequence[str]) -> None:
    """Write the module that converts between bytes and bits on ``pins``."""
    out.line("wire [7:0] rx_data, tx_data;")
    out.line("wire rx_valid, rx_ready, tx_valid, tx_ready;")
    connections = {name: name for name in (*pins, *_BYTES) if name != "rx_ready"}
    name = module.removeprefix("dais_")
    _instance(out, module, name, parameters, {"clk": "aclk", "resetn": "resetn", **connections})
    out.line("wire unused_ready = &{1'b0, rx_ready};  // always 1")
    out.line("")


def _bridge(out: Writer, program_hash: str, input_bits: int, output_bits: int, latency: int) -> None:
    for name, bits in (("vector", input_bits), ("result", output_bits)):
        out.line(f"wire [{8 * -(-bits // 8) - 1}:0] {name}_tdata;")
        out.line(f"wire {name}_tvalid, {name}_tready, {name}_tlast;")
    parameters = [
        f"IN_BITS({input_bits})",
        f"OUT_BITS({output_bits})",
        f"LATENCY({latency})",
        f"PROGRAM(256'h{program_hash})",
        "BUFFER_BITS(BUFFER_BITS)",
    ]
    streams = [f"{name}_{signal}" for name in ("vector", "result") for signal in _SIGNALS]
    _instance(
        out,
        "dais_bridge",
        "bridge",
        parameters,
        {"aclk": "aclk", "aresetn": "resetn", **{name: name for name in (*_BYTES, *streams)}},
    )
    out.line("")


def _core(out: Writer, core: str) -> None:
    connections = {"aclk": "aclk", "aresetn": "resetn"}
    for side, name in (("s", "vector"), ("m", "result")):
        connections.update({f"{side}_axis_{signal}": f"{name}_{signal}" for signal in _SIGNALS})
        connections[f"{side}_axis_tuser"] = "1'b0" if side == "s" else "unused_tuser"
    out.line("wire unused_tuser;")
    _instance(out, f"{core}_axis", "core", [], connections)


def _instance(out: Writer, module: str, name: str, parameters: list[str], connections: dict[str, str]) -> None:
    out.line(f"{module} #({', '.join(f'.{p}' for p in parameters)}) {name} (" if parameters else f"{module} {name} (")
    with out.indent():
        lines = [f".{port}({signal})" for port, signal in connections.items()]
        for line in lines[:-1]:
            out.line(f"{line},")
        out.line(lines[-1])
    out.line(");")
