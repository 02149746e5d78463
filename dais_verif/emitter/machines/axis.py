"""The top module that wraps a machine in AXI4-Stream.

    s_axis --> skid buffer --> machine --> register --> m_axis

The enable stops the machine while a beat in the register waits for the sink. In all other cycles the machine advances,
with or without a beat from the source, so that data in the machine comes out. There is no combinational path from one
stream to the other, even if outputs of the machine depend on its inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dais_verif.emitter.writer import Writer
from dais_verif.machine import Machine, Signal
from dais_verif.machine.ports import CLOCK, bits_of, port_names
from dais_verif.machine.streams import MachineStream

__all__ = ["emit_machine_axis"]


def emit_machine_axis(machine: Machine, stream: MachineStream, core: str) -> str:
    """Return the text of module ``<core>_axis``: it connects module ``core`` of ``machine`` to a skid buffer."""
    bits_in, bits_out = stream.input_bits, stream.output_bits
    beat_in, beat_out = (8 * -(-bits // 8) for bits in (bits_in, bits_out))
    names = port_names(machine)
    pins = stream.pins
    ports = [f".{CLOCK}(aclk)"] if machine.registers else []
    ports += [f".{names[pins.enable]}(enable)", f".{names[pins.valid_in]}(valid_in)"]
    ports += [f".{names[pins.reset]}(!aresetn)"] if pins.reset is not None else []
    ports += [f".{names[pins.valid_out]}(core_valid)"]
    ports += [f".{names[name]}({part or zero})" for name, part, zero in _parts(stream)]
    out = Writer()
    out.line(f"// {core} wrapped in AXI4-Stream: a beat for every cycle in which its {pins.valid_in} is 1, and one for")
    out.line(
        f"// every cycle in which its {pins.valid_out} is. TDATA: the ports that carry data, the first one lowest."
    )
    out.line("`default_nettype none")
    out.line(f"module {core}_axis (")
    with out.indent():
        out.line(
            '(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axis:m_axis, ASSOCIATED_RESET aresetn" *)',
        )
        for line in (
            "input  wire aclk,",
            "input  wire aresetn,  // synchronous, active low: drops everything in flight",
            f"input  wire [{beat_in - 1}:0] s_axis_tdata,",
            "input  wire s_axis_tvalid,",
            "output wire s_axis_tready,",
            f"output wire [{beat_out - 1}:0] m_axis_tdata,",
            "output wire m_axis_tvalid,",
            "input  wire m_axis_tready",
        ):
            out.line(line)
    out.line(");")
    with out.indent():
        out.line(f"wire {_range(bits_in)}taken;")
        out.line("wire valid_in;")
        out.line(f"wire {_range(bits_in)}core_inp = valid_in ? taken : {bits_in}'d0;")
        out.line(f"wire {_range(bits_out)}core_out;")
        out.line("wire core_valid;")
        out.line(f"reg  {_range(bits_out)}result;")
        out.line("reg  valid_out;")
        out.line("wire enable = !valid_out || m_axis_tready;")
        out.line("")
        _instance(
            out,
            f"dais_skid #(.WIDTH({bits_in})) skid",
            [
                ".clk(aclk)",
                ".resetn(aresetn)",
                f".s_data(s_axis_tdata[{bits_in - 1}:0])",
                ".s_valid(s_axis_tvalid)",
                ".s_ready(s_axis_tready)",
                ".m_data(taken)",
                ".m_valid(valid_in)",
                ".m_ready(enable)",
            ],
        )
        out.line("")
        _instance(out, f"{core} core", ports)
        out.line("")
        out.line("always @(posedge aclk) begin")
        with out.indent():
            out.line("if (!aresetn) valid_out <= 1'b0;")
            out.line("else if (enable) valid_out <= core_valid;")
        out.line("end")
        out.line("always @(posedge aclk) if (enable) result <= core_out;")
        out.line("")
        pad = beat_out - bits_out
        out.line(f"assign m_axis_tdata = {f'{{{pad}' + chr(39) + 'd0, result}' if pad else 'result'};")
        out.line("assign m_axis_tvalid = valid_out;")
        if beat_in > bits_in:
            out.line(f"wire unused_pad = &{{1'b0, s_axis_tdata[{beat_in - 1}:{bits_in}]}};")
    out.line("endmodule")
    out.line("`default_nettype wire")
    return out.text()


def _parts(stream: MachineStream) -> Iterator[tuple[str, str, str]]:
    """Yield each data signal's name, its bits of the beat (empty if it has none), and the default for that case."""
    sides: Iterable[tuple[Sequence[Signal], str, str]] = (
        (stream.inputs, "core_inp", "1'b0"),
        (stream.outputs, "core_out", ""),
    )
    for signals, vector, zero in sides:
        whole = sum(bits_of(signal.types) for signal in signals)
        offset = 0
        for signal in signals:
            bits = bits_of(signal.types)
            high = offset + bits - 1
            part = vector if whole == 1 else f"{vector}[{high}:{offset}]" if bits > 1 else f"{vector}[{offset}]"
            yield signal.name, part if bits else "", zero
            offset += bits


def _range(bits: int) -> str:
    return f"[{bits - 1}:0] " if bits > 1 else ""


def _instance(out: Writer, head: str, ports: Sequence[str]) -> None:
    out.line(f"{head} (")
    with out.indent():
        for number, port in enumerate(ports, 1):
            out.line(f"{port}{',' if number < len(ports) else ''}")
    out.line(");")
