"""Make a folder for an FPGA project: a machine wrapped in AXI4-Stream, file lists, constraints and a README."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from dais_verif.emitter import project
from dais_verif.emitter.folder import MANIFEST, SCHEMA
from dais_verif.emitter.machines.axis import emit_machine_axis
from dais_verif.emitter.machines.machine import emit_machine
from dais_verif.emitter.rtl_library import library_sources
from dais_verif.errors import EmitterError
from dais_verif.machine import Machine
from dais_verif.machine.ports import bits_of
from dais_verif.machine.streams import MachineStream
from dais_verif.version import VERSION

__all__ = ["machine_folder", "machine_hash", "written_folder"]

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
