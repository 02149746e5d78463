"""Make a folder for an FPGA project: a wrapped core, file lists, constraints and documentation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from dais_verif.emitter import project
from dais_verif.emitter.axis import Identity
from dais_verif.emitter.wrapper import wrap
from dais_verif.program import Program
from dais_verif.program.ports import ports_of
from dais_verif.version import VERSION

__all__ = ["MANIFEST", "SCHEMA", "WrapperOptions", "project_folder"]

#: The file by which dais-verif recognizes such a folder.
MANIFEST = "dais.json"
SCHEMA = "dais-verif/wrap/1"


@dataclass(frozen=True)
class WrapperOptions:
    """Options of the wrapper of a core.

    ``kind``: one of ``WRAPS``. ``latency``: the latency of the core in clocks; 0 if the core is combinational.
    ``period``: the clock period in ns, for constraints.

    For kind ``axis``: ``user_bits`` is the width of TUSER, ``axil`` adds the AXI4-Lite block, and ``signatures`` maps a
    number of beats to the expected signature of the self-check, from the golden model.
    """

    kind: str = "axis"
    latency: int = 0
    user_bits: int = 1
    axil: bool = False
    period: float = 5.0
    signatures: Mapping[int, int] = field(default_factory=dict)


def project_folder(program: Program, core: str, text: str, options: WrapperOptions) -> dict[str, bytes]:
    """Return the files of the folder by relative name. ``core``: the name of the module with the Verilog ``text``.

    Raises ``InputError`` if a module would have the name of a module in the RTL library.
    """
    ports = ports_of(program)
    bits = max(ports.input_bits, 1), max(ports.output_bits, 1)
    wrapped = wrap(
        options.kind,
        core,
        text,
        program.hash,
        input_bits=bits[0],
        output_bits=bits[1],
        latency=options.latency,
        period=options.period,
        user_bits=options.user_bits,
        axil=Identity(program.n_in, program.n_out, program.hash) if options.axil else None,
    )
    top = wrapped.top
    rtl = {f"rtl/{name}": content for name, content in wrapped.files.items()}
    stream = {
        "latency": 1 + max(options.latency, 1),
        "s_axis_tdata_bits": 8 * -(-bits[0] // 8),
        "m_axis_tdata_bits": 8 * -(-bits[1] // 8),
        "user_bits": options.user_bits,
        "axil": options.axil,
        "signatures": {str(beats): f"{value:08x}" for beats, value in options.signatures.items()},
    }
    facts = {
        "schema": SCHEMA,
        "dais_verif": VERSION,
        "program": {"hash": program.hash, "n_in": program.n_in, "n_out": program.n_out, "n_ops": program.n_ops},
        "kind": options.kind,
        "top": top,
        "core": core,
        "core_latency": options.latency,
        "input_bits": bits[0],
        "output_bits": bits[1],
        **(stream if options.kind == "axis" else {}),
        "period_ns": options.period,
        "inputs": [element._asdict() for element in ports.inputs],
        "outputs": [element._asdict() for element in ports.outputs],
    }
    texts = {
        **rtl,
        "files.f": project.file_list(rtl),
        f"{top}.core": project.fusesoc_core(top, program.hash, rtl),
        "vivado.tcl": project.vivado_script(top, rtl),
        f"constraints/{top}.xdc": project.constraints(top, options.period, "XDC, for Vivado"),
        f"constraints/{top}.sdc": project.constraints(top, options.period, "SDC"),
        "README.md": project.readme(facts, rtl),
    }
    files = {name: text.encode() for name, text in texts.items()}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files[MANIFEST] = (json.dumps({**facts, "files": hashes}, indent=2) + "\n").encode()
    return files
