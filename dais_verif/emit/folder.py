"""A folder that drops into an FPGA project: core, shell, top, file lists, constraints, and what to know about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from dais_verif.emit import project
from dais_verif.emit.axis import Identity, emit_axis_top
from dais_verif.emit.shell import AXIL_FILES, AXIS_FILES, shell_sources
from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.program.ports import ports_of
from dais_verif.version import VERSION

__all__ = ["MANIFEST", "SCHEMA", "Wrapping", "wrap_axis"]

#: The file that makes a folder ours.
MANIFEST = "dais.json"
SCHEMA = "dais-verif/wrap/1"


@dataclass(frozen=True)
class Wrapping:
    """How a core is wrapped. ``latency``: of the core, in clocks; 0 if it is combinational. ``period``: ns.

    ``signatures``: what the self-check must give after so many beats; they come from the golden model.
    """

    latency: int = 0
    user_bits: int = 1
    axil: bool = False
    period: float = 5.0
    signatures: Mapping[int, int] = field(default_factory=dict)


def wrap_axis(program: Program, core: str, text: str, wrapping: Wrapping) -> dict[str, bytes]:
    """The files of the folder, by relative name, for module ``core`` with the Verilog ``text``.

    Raises ``InputError`` if the names of core or top are those of modules of the shell.
    """
    top = f"{core}_axis"
    sources = shell_sources(*AXIS_FILES, *AXIL_FILES * wrapping.axil)
    taken = {path.stem for path in sources} & {core, top}
    if taken:
        raise InputError(
            f"--top {core} gives a module {taken.pop()!r}, a name of the shell's own; choose another --top"
        )
    ports = ports_of(program)
    bits = max(ports.input_bits, 1), max(ports.output_bits, 1)
    top_text = emit_axis_top(
        core,
        input_bits=bits[0],
        output_bits=bits[1],
        latency=wrapping.latency,
        user_bits=wrapping.user_bits,
        axil=Identity(program.n_in, program.n_out, program.hash) if wrapping.axil else None,
    )
    rtl = {f"rtl/{path.name}": path.read_text(encoding="utf-8") for path in sources}
    rtl[f"rtl/{core}.v"] = text
    rtl[f"rtl/{top}.v"] = top_text
    facts = {
        "schema": SCHEMA,
        "dais_verif": VERSION,
        "program": {"hash": program.hash, "n_in": program.n_in, "n_out": program.n_out, "n_ops": program.n_ops},
        "top": top,
        "core": core,
        "core_latency": wrapping.latency,
        "latency": 1 + max(wrapping.latency, 1),
        "input_bits": bits[0],
        "output_bits": bits[1],
        "s_axis_tdata_bits": 8 * -(-bits[0] // 8),
        "m_axis_tdata_bits": 8 * -(-bits[1] // 8),
        "user_bits": wrapping.user_bits,
        "axil": wrapping.axil,
        "period_ns": wrapping.period,
        "signatures": {str(beats): f"{value:08x}" for beats, value in wrapping.signatures.items()},
        "inputs": [element._asdict() for element in ports.inputs],
        "outputs": [element._asdict() for element in ports.outputs],
    }
    texts = {
        **rtl,
        "files.f": project.file_list(rtl),
        f"{top}.core": project.fusesoc_core(top, program.hash, rtl),
        "vivado.tcl": project.vivado_script(top, rtl),
        f"constraints/{top}.xdc": project.constraints(top, wrapping.period, "XDC, for Vivado"),
        f"constraints/{top}.sdc": project.constraints(top, wrapping.period, "SDC"),
        "README.md": project.readme(facts, rtl),
    }
    files = {name: text.encode() for name, text in texts.items()}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files[MANIFEST] = (json.dumps({**facts, "files": hashes}, indent=2) + "\n").encode()
    return files
