"""The thin top module that joins a core and the hand-written AXI4-Stream shell of ``rtl/``."""

from __future__ import annotations

from dais_verif.emit.writer import Writer

__all__ = ["emit_axis_top"]


def emit_axis_top(core: str, *, input_bits: int, output_bits: int, latency: int = 0, user_bits: int = 1) -> str:
    """The text of module ``<core>_axis``: ``dais_axis`` around module ``core``.

    ``input_bits``, ``output_bits``: of the core's ports, at least 1. With ``latency`` over 0 the core has ``clk`` and
    ``en`` besides ``model_inp`` and ``model_out``. ``user_bits`` of 0 leaves a TUSER that carries nothing.
    """
    out = Writer()
    out.line(f"// {core} behind AXI4-Stream, one vector a beat. TDATA: the core's port, padded to whole bytes.")
    out.line("`default_nettype none")
    out.line(f"module {core}_axis (")
    with out.indent():
        for line in _stream_ports(input_bits, output_bits, user_bits):
            out.line(line)
    out.line(");")
    with out.indent():
        out.line(f"wire [{input_bits - 1}:0] core_inp;")
        out.line(f"wire [{output_bits - 1}:0] core_out;")
        out.line("wire core_en;")
        out.line("")
        out.line("dais_axis #(")
        with out.indent():
            out.line(f".IN_BITS({input_bits}),")
            out.line(f".OUT_BITS({output_bits}),")
            out.line(f".LATENCY({latency}),")
            out.line(f".USER_BITS({user_bits})")
        out.line(") shell (")
        with out.indent():
            for name in ("aclk", "aresetn", *_STREAM):
                out.line(f".{name}({name}),")
            out.line(".core_inp(core_inp),")
            out.line(".core_out(core_out),")
            out.line(".core_en(core_en)")
        out.line(");")
        out.line("")
        out.line(f"{core} core (")
        with out.indent():
            if latency:
                out.line(".clk(aclk),")
                out.line(".en(core_en),")
            out.line(".model_inp(core_inp),")
            out.line(".model_out(core_out)")
        out.line(");")
        if not latency:
            out.line("wire unused_en = &{1'b0, core_en};  // the core has no registers that could stand")
    out.line("endmodule")
    out.line("`default_nettype wire")
    return out.text()


_STREAM = tuple(f"{side}_axis_{name}" for side in "sm" for name in ("tdata", "tvalid", "tready", "tlast", "tuser"))


def _stream_ports(input_bits: int, output_bits: int, user_bits: int) -> list[str]:
    """Declarations of clock, reset and both streams; Vivado reads the attribute, others pass over it."""
    lines = [
        '(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axis:m_axis, ASSOCIATED_RESET aresetn" *)',
        "input  wire aclk,",
        "input  wire aresetn,",
    ]
    for side, bits, forth, back in (("s", input_bits, "input ", "output"), ("m", output_bits, "output", "input ")):
        data, user = 8 * -(-bits // 8), max(user_bits, 1)
        lines += [
            f"{forth} wire [{data - 1}:0] {side}_axis_tdata,",
            f"{forth} wire {side}_axis_tvalid,",
            f"{back} wire {side}_axis_tready,",
            f"{forth} wire {side}_axis_tlast,",
            f"{forth} wire [{user - 1}:0] {side}_axis_tuser,",
        ]
    lines[-1] = lines[-1].removesuffix(",")
    return lines
