"""Files that accompany the RTL of a wrapped core: documentation, and files for Vivado, FuseSoC and other tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dais_verif.emitter.board import BAUD, clocks_per_bit
from dais_verif.emitter.registers import register_table
from dais_verif.version import VERSION

__all__ = ["constraints", "file_list", "fusesoc_core", "readme", "vivado_script"]


def file_list(rtl: Iterable[str]) -> str:
    """Return a list of files relative to the folder, for tools that run in it, as ``iverilog -f`` reads it."""
    return "".join(f"{name}\n" for name in rtl)


def constraints(top: str, period: float, kind: str) -> str:
    """Return the constraint of the clock, since nothing else is known here; XDC and SDC have the same command."""
    return f"""\
# {kind}: {top} on its own, to see whether it is fast enough. Within a larger design the clock is
# already constrained there, and this file is not needed.
create_clock -name aclk -period {period:g} [get_ports aclk]

# Ports that are pins of the chip want delays of their own, for instance:
# set_input_delay  -clock aclk 1.0 [all_inputs -no_clocks]
# set_output_delay -clock aclk 1.0 [all_outputs]
"""


def vivado_script(top: str, rtl: Iterable[str]) -> str:
    """Return a script that adds the sources to the open project, or only reads them if none is open."""
    listed = " \\\n".join(f"  [file join $here {{{name}}}]" for name in rtl)
    return f"""\
# Adds {top} to the Vivado project that is open: source vivado.tcl
# To synthesise it alone instead, without a project:
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
    kind = f"pipelined, latency {core_latency}, `en` stops it" if core_latency else "combinational"
    files = "\n".join(f"| `{name}` | {_meaning(name, facts)} |" for name in rtl)
    around = _stream(facts) if facts["kind"] == "axis" else _board(facts)
    text = f"""\
# {top}

A DAIS program {_TITLES[facts["kind"]]}, written by dais-verif {facts["dais_verif"]}. `dais.json` says the same for
programs, with the hash of every file.

| | |
|---|---|
| program | `{program["hash"]}` |
| inputs, outputs, ops | {program["n_in"]}, {program["n_out"]}, {program["n_ops"]} |
| core | `{facts["core"]}`: {kind} |
{around}
Element 0 of a vector lies in the least significant bits, there are no gaps; offsets and widths of all elements are in
`dais.json` (`inputs`, `outputs`; bit 0 of an element weighs 2^lo).

| file | |
|---|---|
{files}
| `files.f` | the files above, for `iverilog -f`, `verilator -f` and the like, from this folder |
| `vivado.tcl` | adds them to a Vivado project: `source vivado.tcl` |
| `{top}.core` | FuseSoC core file |
| `constraints/` | a clock of {facts["period_ns"]:g} ns, XDC and SDC, to build {top} on its own |

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
| s_axis TDATA | {facts["s_axis_tdata_bits"]} bits, of which the lower {facts["input_bits"]} carry the vector |
| m_axis TDATA | {facts["m_axis_tdata_bits"]} bits, of which the lower {facts["output_bits"]} carry the result |
| TUSER | of width {facts["user_bits"]}, carried along with TLAST |
| throughput | one vector a clock |
| latency | a beat taken at edge t is offered at m_axis to edge t + {facts["latency"]} |
| reset | `aresetn`, synchronous, active low: drops everything in flight |

One beat is one vector. Pad bits are ignored at s_axis and 0 at m_axis.
"""


def _board(facts: Mapping[str, Any]) -> str:
    period = facts["period_ns"]
    pins = {
        "uart": f"""\
| UART | `uart_rx`, `uart_tx`: 8N1, {BAUD} baud at the clock of {period:g} ns |

Parameter `CLOCKS_PER_BIT` is the frequency of `aclk` divided by the baud rate ({clocks_per_bit(period)} here). Set it
to what your clock wants, or give `emit --period` its period.

    dais-verif hil prog.bin --target "serial:///dev/ttyUSB0?baud={BAUD}"
""",
        "spi": f"""\
| SPI | `spi_sck`, `spi_cs_n`, `spi_mosi`, `spi_miso`: mode 0, at most {1000 / period / 8:.4g} MHz |

A bit takes at least 8 clocks of {period:g} ns, and from `spi_cs_n` to `spi_sck` there are 4. A byte 00
means nothing, either way; who has to send one sends 7D 20 in its place. Behind whatever brings such bytes to TCP:

    dais-verif hil prog.bin --target tcp://host:port
""",
        "fifo": """\
| bytes | `rx_*` from the host, `tx_*` to it; one is passed whenever valid and ready are both 1 |

    dais-verif hil prog.bin --target tcp://host:port
""",
    }
    return f"""\
| vector, result | {facts["input_bits"]} and {facts["output_bits"]} bits |
| reset | at power-up, and by `aresetn` while it is 0: a button, or 1 |
{pins[facts["kind"]]}
`dais-verif hil` sends vectors to the board, and compares what comes back with the golden model. The whole core, or
each stage of it, must settle within one clock: if it does not, take a slower clock or `emit --stages`.
"""


def _meaning(name: str, facts: Mapping[str, Any]) -> str:
    known = {
        "dais_skid": "skid buffer of the wrapper",
        "dais_axis": "AXI4-Stream wrapper",
        "dais_selfcheck": "stimulus and signature of the self-check",
        "dais_axil": "AXI4-Lite registers",
        "dais_bridge": "vectors out of frames, results into frames",
        "dais_deframer": "frames out of bytes, checked, with a buffer",
        "dais_framer": "frames into bytes",
        "dais_crc32": "CRC of a frame",
        "dais_uart": "bytes on two wires",
        "dais_spi": "bytes on SPI",
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
A counter's low word is read first: that keeps the high word, at the next address. Other addresses answer SLVERR.

### Self-check

Write CHECK_BEATS, then START; the stream is blocked and drains, the core runs on pseudo-random vectors at full
speed, and when STATUS says DONE, SIGNATURE must be:

| CHECK_BEATS | SIGNATURE |
|---|---|
{signatures}

`rtl/dais_selfcheck.v` defines vectors and signature; the numbers above are the golden model's.
"""
