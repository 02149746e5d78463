"""A core behind a byte stream: the top module that puts a program on a board, for ``dais-verif hil``.

link --> dais_bridge --> dais_axis --> core, and back. Only this module depends on the program; the rest is in ``rtl``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.emit.writer import Writer
from dais_verif.program import Program
from dais_verif.program.ports import ports_of

__all__ = ["LINKS", "RTL", "buffer_bits", "emit_hil_top"]

#: The kinds of byte stream.
LINKS = ("uart", "fifo")

#: Files of ``rtl`` that a top module needs.
RTL = {
    "fifo": ("dais_axis.v", "dais_skid.v", "dais_bridge.v", "dais_deframer.v", "dais_framer.v", "dais_crc32.v"),
}
RTL["uart"] = (*RTL["fifo"], "dais_uart.v")

#: 4096 bytes of 9 bits are one block RAM of most FPGAs.
_FEWEST_BUFFER_BITS = 12
#: Frames that fit the buffer at once, or a host could not hide the latency of its link; and what one has besides data.
_FRAMES, _OVERHEAD = 4, 16

_LINK_PORTS: dict[str, Sequence[str]] = {
    "uart": ("input  wire       uart_rx,", "output wire       uart_tx"),
    "fifo": (
        "input  wire [7:0] rx_data,  // from the host; a byte is passed when valid and ready are both 1",
        "input  wire       rx_valid,",
        "output wire       rx_ready,",
        "output wire [7:0] tx_data,  // to the host",
        "output wire       tx_valid,",
        "input  wire       tx_ready",
    ),
}

_UART = """\
wire [7:0] rx_data, tx_data;
wire rx_valid, rx_ready, tx_valid, tx_ready;
dais_uart #(.CLOCKS_PER_BIT(CLOCKS_PER_BIT)) uart (
  .clk(aclk), .resetn(resetn), .uart_rx(uart_rx), .uart_tx(uart_tx),
  .rx_data(rx_data), .rx_valid(rx_valid), .tx_data(tx_data), .tx_valid(tx_valid), .tx_ready(tx_ready)
);
wire unused_ready = rx_ready;  // always 1
"""

_BODY = """\
wire [{in_top}:0] vector_tdata;
wire [{out_top}:0] result_tdata;
wire vector_tvalid, vector_tready, vector_tlast, result_tvalid, result_tready, result_tlast, unused_tuser;
dais_bridge #(
  .IN_BITS({in_bits}), .OUT_BITS({out_bits}), .LATENCY({latency}), .BUFFER_BITS(BUFFER_BITS),
  .PROGRAM(256'h{hash})
) bridge (
  .aclk(aclk), .aresetn(resetn),
  .rx_data(rx_data), .rx_valid(rx_valid), .rx_ready(rx_ready),
  .tx_data(tx_data), .tx_valid(tx_valid), .tx_ready(tx_ready),
  .vector_tdata(vector_tdata), .vector_tvalid(vector_tvalid),
  .vector_tready(vector_tready), .vector_tlast(vector_tlast),
  .result_tdata(result_tdata), .result_tvalid(result_tvalid),
  .result_tready(result_tready), .result_tlast(result_tlast)
);

wire [{in_bits} - 1:0] core_inp;
wire [{out_bits} - 1:0] core_out;
wire core_en;
dais_axis #(.IN_BITS({in_bits}), .OUT_BITS({out_bits}), .LATENCY({latency}), .USER_BITS(0)) shell (
  .aclk(aclk), .aresetn(resetn),
  .s_axis_tdata(vector_tdata), .s_axis_tvalid(vector_tvalid), .s_axis_tready(vector_tready),
  .s_axis_tlast(vector_tlast), .s_axis_tuser(1'b0),
  .m_axis_tdata(result_tdata), .m_axis_tvalid(result_tvalid), .m_axis_tready(result_tready),
  .m_axis_tlast(result_tlast), .m_axis_tuser(unused_tuser),
  .core_inp(core_inp), .core_out(core_out), .core_en(core_en)
);
{top} core ({clock}.model_inp(core_inp), .model_out(core_out));
"""


def buffer_bits(program: Program) -> int:
    """``BUFFER_BITS`` of the bridge: room for some frames of at least one vector."""
    vector = (max(ports_of(program).input_bits, 1) + 7) // 8
    return max(_FEWEST_BUFFER_BITS, (_FRAMES * (vector + _OVERHEAD) - 1).bit_length())


def emit_hil_top(program: Program, link: str, top: str = "model", *, latency: int = 0) -> str:
    """The text of module ``{top}_{link}``, which holds the module ``top`` of ``program``.

    ``link``: one of ``LINKS``. ``latency``: of the core in clocks; 0: it is combinational, else it has the ports ``clk``
    and ``en``.
    """
    ports = ports_of(program)
    in_bits, out_bits = max(ports.input_bits, 1), max(ports.output_bits, 1)
    body = _BODY.format(
        in_bits=in_bits,
        out_bits=out_bits,
        in_top=8 * ((in_bits + 7) // 8) - 1,
        out_top=8 * ((out_bits + 7) // 8) - 1,
        latency=latency,
        hash=program.hash,
        top=top,
        clock=".clk(aclk), .en(core_en), " if latency else "",
    )
    out = Writer()
    out.line(f"// DAIS program {program.hash}")
    out.line(f"// Module {top} behind a byte stream, for dais-verif hil. Made by dais-verif; parts of it are in dais_*.v.")
    out.line("`default_nettype none")
    out.line("")
    out.line(f"module {top}_{link} #(")
    with out.indent():
        if link == "uart":
            out.line("parameter CLOCKS_PER_BIT = 868,  // frequency of aclk / baud rate: 100 MHz / 115200")
        out.line(f"parameter BUFFER_BITS = {buffer_bits(program)}  // requests that wait may take 2**BUFFER_BITS bytes")
    out.line(") (")
    with out.indent():
        out.line("input  wire       aclk,")
        out.line("input  wire       aresetn,  // a button, or 1")
        for port in _LINK_PORTS[link]:
            out.line(port)
    out.line(");")
    with out.indent():
        out.line("// Reset after power-on, and while the button is pressed, which may bounce.")
        out.line("reg [7:0] awake = 8'b0;")
        out.line("always @(posedge aclk) awake <= {awake[6:0], aresetn};")
        out.line("wire resetn = &awake[7:1];")
        out.line("")
        for line in ((_UART if link == "uart" else "") + body).splitlines():
            out.line(line)
    out.line("endmodule")
    out.line("")
    out.line("`default_nettype wire")
    return out.text()
