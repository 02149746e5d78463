"""Make a folder for an FPGA project: a machine wrapped in AXI4-Stream, file lists, constraints and a README."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dais_verif.base.errors import EmitterError
from dais_verif.base.version import VERSION
from dais_verif.hardware.emitter import project
from dais_verif.hardware.emitter.expressions import Writer
from dais_verif.hardware.emitter.machines.machine import emit_machine
from dais_verif.hardware.emitter.project import MANIFEST, SCHEMA
from dais_verif.hardware.emitter.rtl_library import library_sources
from dais_verif.spec.machine import Machine, Signal
from dais_verif.spec.machine.ports import CLOCK, bits_of, port_names
from dais_verif.spec.machine.streams import MachineStream

__all__ = ["emit_machine_axis", "machine_folder", "machine_hash", "written_folder"]


_LIBRARY = ("dais_skid.v",)


def machine_hash(machine: Machine, core: str) -> str:
    """Return the identity of a machine: the SHA-256 of its Verilog as module ``core``."""
    return hashlib.sha256(emit_machine(machine, core).encode()).hexdigest()


def machine_folder(machine: Machine, stream: MachineStream, core: str, period: float) -> dict[str, bytes]:
    """Return the files of the folder, by relative name. ``period``: the clock period in ns.

    Raises ``InputError`` if two modules would have the same name.
    """
    text, top = emit_machine(machine, core), f"{core}_axis"
    library = {path.stem: path.read_text(encoding="utf-8") for path in library_sources(*_LIBRARY)}
    for module in re.findall(r"^module (\w+)", text, re.MULTILINE):
        if module in (*library, top):
            raise EmitterError.of(
                "{top} {core} gives two modules {module}; choose another {top}", core=core, module=module
            )
    rtl = {f"rtl/{name}.v": content for name, content in library.items()}
    rtl |= {f"rtl/{core}.v": text, f"rtl/{top}.v": emit_machine_axis(machine, stream, core)}
    facts: dict[str, Any] = {
        "program": {"hash": machine_hash(machine, core)},
        "kind": "axis",
        "top": top,
        "core": core,
        "core_latency": 0,
        "user_bits": 0,
        "stream": stream.pins._asdict(),
        "input_bits": stream.input_bits,
        "output_bits": stream.output_bits,
        "period_ns": period,
        "inputs": {signal.name: bits_of(signal.types) for signal in stream.inputs},
        "outputs": {signal.name: bits_of(signal.types) for signal in stream.outputs},
    }
    return written_folder(facts, rtl, _readme)


def written_folder(
    facts: Mapping[str, Any], rtl: Mapping[str, str], readme: Callable[[dict[str, Any], list[str]], str]
) -> dict[str, bytes]:
    """Return the files of a folder, by relative name: ``rtl``, files for tools, and documentation.

    ``facts``: further content of ``dais.json``, including the ``top`` module, the ``program`` and the ``period_ns``.
    """
    top, digest, period = facts["top"], facts["program"]["hash"], facts["period_ns"]
    whole = {"schema": SCHEMA, "dais_verif": VERSION, **facts}
    texts = {
        **rtl,
        "files.f": project.file_list(rtl),
        f"{top}.core": project.fusesoc_core(top, digest, rtl),
        "vivado.tcl": project.vivado_script(top, rtl),
        f"constraints/{top}.xdc": project.constraints(top, period, "XDC, for Vivado"),
        f"constraints/{top}.sdc": project.constraints(top, period, "SDC"),
        "README.md": readme(whole, list(rtl)),
    }
    files = {name: content.encode() for name, content in texts.items()}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files[MANIFEST] = (json.dumps({**whole, "files": hashes}, indent=2) + "\n").encode()
    return files


def _readme(facts: dict[str, Any], rtl: list[str]) -> str:
    top, pins = facts["top"], facts["stream"]
    ports = "\n".join(
        f"| {side} TDATA | {', '.join(f'`{name}` ({n})' for name, n in facts[key].items())}, the first one lowest |"
        for side, key in (("s_axis", "inputs"), ("m_axis", "outputs"))
    )
    reset = f"`{pins['reset']}` is 1 while `aresetn` is 0" if pins["reset"] else "the machine has no reset"
    return f"""\
# {top}

A machine behind AXI4-Stream, written by dais-verif {facts["dais_verif"]}. `dais.json` has the same facts in
machine-readable form, and the hash of every file.

| | |
|---|---|
| core | `{facts["core"]}` |
{ports}
| input | one beat per cycle in which `{pins["valid_in"]}` is 1; in other cycles, the data is 0 |
| output | one beat per cycle in which `{pins["valid_out"]}` and `{pins["enable"]}` are both 1 |
| stalls | `{pins["enable"]}` is 0 while a beat waits at m_axis |
| reset | `aresetn`, synchronous, active low: drops all beats in flight; {reset} |
| throughput | one cycle of the machine per clock |
| latency | from s_axis to m_axis, two clocks more than that of the machine |

Numbers of bits are in parentheses. TDATA is padded to whole bytes; padding bits are ignored at s_axis, and are 0 at
m_axis. There is no TLAST and no TUSER, since a machine may have more or fewer output beats than input beats.

    iverilog -g2005 -s {top} -o /dev/null -f files.f
    verilator --lint-only -Wall -Wno-DECLFILENAME --top-module {top} -f files.f
    yosys -p "read_verilog {" ".join(rtl)}; synth -noalumacc -top {top}"
"""


# The top module that wraps a machine in AXI4-Stream.
#
#     s_axis --> skid buffer --> machine --> register --> m_axis
#
# The enable stops the machine while a beat in the register waits for the sink. In all other cycles the machine
# advances, with or without a beat from the source, so that data in the machine comes out. There is no combinational
# path from one stream to the other, even if outputs of the machine depend on its inputs.


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
