"""Files that accompany the RTL of a wrapped core: documentation, and files for Vivado, FuseSoC and other tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dais_verif.base.version import VERSION
from dais_verif.hardware.emitter.board import BAUD, clocks_per_bit
from dais_verif.hardware.emitter.register_map import register_table
from dais_verif.hardware.emitter.wrapper import Identity, wrap
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of

__all__ = [
    "MANIFEST",
    "SCHEMA",
    "WrapperOptions",
    "constraints",
    "file_list",
    "fusesoc_core",
    "project_folder",
    "readme",
    "vivado_script",
]


def file_list(rtl: Iterable[str]) -> str:
    """Return a list of files relative to the folder, for tools that run in the folder; ``iverilog -f`` reads it."""
    return "".join(f"{name}\n" for name in rtl)


def constraints(top: str, period: float, kind: str) -> str:
    """Return the constraint of the clock, the only one that is known here; XDC and SDC have the same command for it."""
    return f"""\
# {kind}: {top} on its own, to check that it is fast enough. A larger design already constrains its
# clock, and does not need this file.
create_clock -name aclk -period {period:g} [get_ports aclk]

# Ports that are pins of the chip need delays, for example:
# set_input_delay  -clock aclk 1.0 [all_inputs -no_clocks]
# set_output_delay -clock aclk 1.0 [all_outputs]
"""


def vivado_script(top: str, rtl: Iterable[str]) -> str:
    """Return a script that adds the sources to the open project, or only reads them if no project is open."""
    listed = " \\\n".join(f"  [file join $here {{{name}}}]" for name in rtl)
    return f"""\
# Adds {top} to the open Vivado project: source vivado.tcl
# To synthesize it alone, without a project:
#   source vivado.tcl; read_xdc $constraints
#   synth_design -top {top} -part <part> -mode out_of_context
set here [file dirname [file normalize [info script]]]
set sources [list \\
{listed}]
set constraints [file join $here {{constraints/{top}.xdc}}]
if {{[llength [get_projects -quiet]] > 0}} {{
  add_files -fileset sources_1 -norecurse $sources
  add_files -fileset constrs_1 -norecurse $constraints
  set_property USED_IN {{out_of_context}} [get_files $constraints]
  update_compile_order -fileset sources_1
}} else {{
  read_verilog $sources
}}
"""


def fusesoc_core(top: str, program_hash: str, rtl: Iterable[str]) -> str:
    """Return a FuseSoC core file, in format CAPI2."""
    listed = "\n".join(f"      - {name}" for name in rtl)
    return f"""\
CAPI=2:
name: dais-verif:cores:{top}:0
description: DAIS program {program_hash[:16]}, wrapped by dais-verif {VERSION}

filesets:
  rtl:
    files:
{listed}
    file_type: verilogSource-2005
  constraints:
    files:
      - constraints/{top}.xdc
    file_type: xdc

targets:
  default: &default
    filesets: [rtl]
    toplevel: {top}
  lint:
    <<: *default
    default_tool: verilator
    tools:
      verilator:
        mode: lint-only
  synth:
    <<: *default
    filesets: [rtl, "tool_vivado? (constraints)"]
    default_tool: vivado
    tools:
      vivado:
        pnr: none
"""


def readme(facts: Mapping[str, Any], rtl: Iterable[str]) -> str:
    """Return the README of the folder, in Markdown."""
    top, program, core_latency = facts["top"], facts["program"], facts["core_latency"]
    kind = f"pipelined, latency {core_latency}, stalls while `en` is 0" if core_latency else "combinational"
    files = "\n".join(f"| `{name}` | {_meaning(name, facts)} |" for name in rtl)
    around = _stream(facts) if facts["kind"] == "axis" else _board(facts)
    text = f"""\
# {top}

A DAIS program {_TITLES[facts["kind"]]}, written by dais-verif {facts["dais_verif"]}. `dais.json` has the same facts in
machine-readable form, and the hash of every file.

| | |
|---|---|
| program | `{program["hash"]}` |
| inputs, outputs, ops | {program["n_in"]}, {program["n_out"]}, {program["n_ops"]} |
| core | `{facts["core"]}`: {kind} |
{around}
Element 0 of a vector occupies the least significant bits, and there are no gaps. Offsets and widths of all elements are
in `dais.json` (`inputs`, `outputs`); bit 0 of an element has the weight 2^lo.

| file | |
|---|---|
{files}
| `files.f` | list of the files above, for `iverilog -f`, `verilator -f` and others, started in this folder |
| `vivado.tcl` | adds them to a Vivado project: `source vivado.tcl` |
| `{top}.core` | FuseSoC core file |
| `constraints/` | a clock of {facts["period_ns"]:g} ns, as XDC and SDC, to build {top} on its own |

    iverilog -g2005 -s {top} -o /dev/null -f files.f
    verilator --lint-only -Wall --top-module {top} -f files.f
    yosys -p "read_verilog {" ".join(rtl)}; synth -noalumacc -top {top}"
"""
    return text + _lite(facts) if facts.get("axil") else text


_TITLES = {
    "axis": "behind AXI4-Stream",
    "uart": "for a board with a UART",
    "spi": "for a board with SPI",
    "fifo": "for a board with a byte stream to a host",
}


def _stream(facts: Mapping[str, Any]) -> str:
    return f"""\
| s_axis TDATA | {facts["s_axis_tdata_bits"]} bits; the lower {facts["input_bits"]} carry the vector |
| m_axis TDATA | {facts["m_axis_tdata_bits"]} bits; the lower {facts["output_bits"]} carry the result |
| TUSER | width {facts["user_bits"]}; passed on with the beat, like TLAST |
| throughput | one vector per clock |
| latency | a beat taken at edge t is offered at m_axis at edge t + {facts["latency"]} |
| reset | `aresetn`, synchronous, active low: drops all beats in flight |

Each beat is one vector. Padding bits are ignored at s_axis, and are 0 at m_axis.
"""


def _board(facts: Mapping[str, Any]) -> str:
    period = facts["period_ns"]
    pins = {
        "uart": f"""\
| UART | `uart_rx`, `uart_tx`: 8N1, {BAUD} baud with a clock period of {period:g} ns |

The parameter `CLOCKS_PER_BIT` is the frequency of `aclk` divided by the baud rate ({clocks_per_bit(period)} here). Set
it for your clock, or give the clock period with `emit --period`.

    dais-verif hil prog.bin --target "serial:///dev/ttyUSB0?baud={BAUD}"
""",
        "spi": f"""\
| SPI | `spi_sck`, `spi_cs_n`, `spi_mosi`, `spi_miso`: mode 0, at most {1000 / period / 8:.4g} MHz |

A bit takes at least 8 clocks of {period:g} ns, and `spi_cs_n` precedes `spi_sck` by at least 4. In both directions, a
byte 00 means that there is no data; a byte 00 of the data is sent as 7D 20. With a server that connects SPI to TCP:

    dais-verif hil prog.bin --target tcp://host:port
""",
        "fifo": """\
| bytes | `rx_*` from the host, `tx_*` to the host; a byte is passed when valid and ready are both 1 |

    dais-verif hil prog.bin --target tcp://host:port
""",
    }
    return f"""\
| vector, result | {facts["input_bits"]} and {facts["output_bits"]} bits |
| reset | at power-up, and while `aresetn` is 0: connect a button, or 1 |
{pins[facts["kind"]]}
`dais-verif hil` sends vectors to the board, and compares the results with the golden model. The whole core, or each of
its stages, must settle within one clock period: if it does not, use a slower clock or `emit --stages`.
"""


def _meaning(name: str, facts: Mapping[str, Any]) -> str:
    known = {
        "dais_skid": "skid buffer of the wrapper",
        "dais_axis": "AXI4-Stream wrapper",
        "dais_selfcheck": "stimulus and signature of the self-check",
        "dais_axil": "AXI4-Lite registers",
        "dais_bridge": "converts requests to vectors, and results to replies",
        "dais_deframer": "receives and checks frames, and buffers them",
        "dais_framer": "sends frames",
        "dais_crc32": "CRC of a frame",
        "dais_uart": "UART",
        "dais_spi": "SPI",
        f"{facts['core']}_axis": "wrapper and core",
        facts["top"]: "the top module",
        facts["core"]: "the program",
    }
    return known[name.removeprefix("rtl/").removesuffix(".v")]


def _lite(facts: Mapping[str, Any]) -> str:
    signatures = "\n".join(f"| {beats} | `{value}` |" for beats, value in facts["signatures"].items())
    return f"""
## AXI4-Lite

{register_table()}
Read the low word of a counter first: this latches the high word, which is at the next address. Accesses to other
addresses return SLVERR.

### Self-check

Write CHECK_BEATS, then START. The stream is blocked and drains, and the core runs on pseudo-random vectors at full
speed. When DONE is set in STATUS, SIGNATURE must be:

| CHECK_BEATS | SIGNATURE |
|---|---|
{signatures}

`rtl/dais_selfcheck.v` defines the vectors and the signature; the signatures above are from the golden model.
"""


# Make a folder for an FPGA project: a wrapped core, file lists, constraints and documentation.


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
        "files.f": file_list(rtl),
        f"{top}.core": fusesoc_core(top, program.hash, rtl),
        "vivado.tcl": vivado_script(top, rtl),
        f"constraints/{top}.xdc": constraints(top, options.period, "XDC, for Vivado"),
        f"constraints/{top}.sdc": constraints(top, options.period, "SDC"),
        "README.md": readme(facts, rtl),
    }
    files = {name: text.encode() for name, text in texts.items()}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files[MANIFEST] = (json.dumps({**facts, "files": hashes}, indent=2) + "\n").encode()
    return files
