"""What makes RTL another design for synthesis than for simulation: macros of tools, text that is hidden from one.

The text is read as a lexer reads it, so that a comment in a string is none, and a string in a comment neither. What a
macro of its own hides is read too: no tool sees more than is seen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["READINGS", "Directives", "as_synthesized", "directives_of", "readings", "told"]

#: The macros that synthesis tools define, tool by tool.
READINGS: dict[str, frozenset[str]] = {
    "any": frozenset({"SYNTHESIS"}),
    "Yosys": frozenset({"SYNTHESIS", "YOSYS"}),
    "AMD": frozenset({"SYNTHESIS", "XILINX", "VIVADO", "XST", "AMD", "__XILINX__", "XILINX_SYNTHESIS"}),
    "Intel": frozenset(
        {"SYNTHESIS", "ALTERA", "QUARTUS", "INTEL", "INTEL_FPGA", "ALTERA_RESERVED_QIS", "QUARTUS_SYNTHESIS"}
    ),
    "Synopsys": frozenset({"SYNTHESIS", "SYNOPSYS", "DC", "SYNPLIFY", "SYNPLIFY_PRO", "DESIGN_COMPILER"}),
    "Cadence": frozenset({"SYNTHESIS", "CADENCE", "GENUS", "RTL_COMPILER", "AMBIT", "RC", "__genus__"}),
    "Siemens": frozenset({"SYNTHESIS", "PRECISION", "PRECISION_RTL", "LEONARDO", "CATAPULT"}),
    "Lattice": frozenset({"SYNTHESIS", "LATTICE", "LSE", "RADIANT", "DIAMOND"}),
    "others": frozenset({"SYNTHESIS", "GOWIN", "EFINIX", "EFX", "FPGA", "ASIC", "MICROSEMI", "LIBERO", "ODIN", "VTR"}),
}
#: Those that only simulators and readers define: to synthesis they are not defined.
_OF_SIMULATORS = frozenset(
    re.findall(
        r"\w+",
        """
        VERILATOR verilator verilator3 VERILATOR_TIMING __VERILATOR__ __ICARUS__ IVERILOG ICARUS __VVP__ __slang__
        __slang_major__ __slang_minor__ VCS SIMULATION SIMULATOR SIM MODELSIM MODEL_TECH MTI QUESTA QUESTASIM INCA
        NCVERILOG NC_VERILOG XCELIUM XMVERILOG XSIM XILINX_SIMULATOR XILINX_ISIM ISIM ALDEC RIVIERA ACTIVE_HDL DSIM
        GHDL NVC CVC COCOTB_SIM COCOTB TESTBENCH FORMAL JASPER JASPERGOLD SVA TARGET_SIMULATION SYNTHESIS_OFF
        NO_SYNTHESIS
        """,
    )
)
_MACROS = frozenset().union(_OF_SIMULATORS, *READINGS.values())

_VERILOG = re.compile(
    rb"""
    (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<attribute>\b(?:full_case|parallel_case|syn_black_box|black_box|blackbox|box_type)\b)
  | "(?:\\.|[^"\\\n])*"
  | \\[^\s]+
  | `(?:ifdef|ifndef|elsif)\s+(?P<macro>\w+)
  | `pragma\s+(?P<pragma>[^\n]*)
    """,
    re.DOTALL | re.VERBOSE,
)
_VHDL = re.compile(rb"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))|\"[^\"\n]*\"|'.'", re.DOTALL)

_HIDING = re.compile(
    rb"^[/*\-\s]*(?:[\w$]+[\s:]+)?(?:translate[_ ]|synthesis_)(off|on)\b|^[/*\-\s]*rtl_synthesis\s+(off|on)\b", re.I
)
_CASES = re.compile(rb"\b(full_case)\b")
#: ``parallel_case`` among them: which of two items that match is taken is up to the tool.
_OTHERS = re.compile(rb"\b(parallel_case|read_comments_as_hdl|syn_black_box|black_box|blackbox|box_type)\b", re.I)


#: A text without any of them, as most are, need not be read letter by letter.
_HINTS = (b"`ifdef", b"`ifndef", b"`elsif", b"translate", b"synthesis", b"_case", b"box", b"read_comments")


@dataclass(frozen=True)
class Directives:
    """What a text says to one tool and not to another. ``hidden``: stretches of its bytes that synthesis passes over.

    ``cases``: places, with what stands there, of what makes a ``case`` mean more to synthesis. ``others``: words that
    nothing here can follow.
    """

    macros: frozenset[str] = frozenset()
    hidden: tuple[tuple[int, int], ...] = ()
    cases: tuple[tuple[int, int, bytes], ...] = ()
    others: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.macros or self.hidden or self.cases or self.others)


def directives_of(text: bytes, vhdl: bool = False) -> Directives:
    """Return what ``text`` says to one tool and not to another."""
    lower = text.lower()
    if not any(word in lower for word in _HINTS):
        return Directives()
    macros, others = set[str](), set[str]()
    hidden, cases, begin = list[tuple[int, int]](), list[tuple[int, int, bytes]](), None
    for found in (_VHDL if vhdl else _VERILOG).finditer(text):
        groups = found.groupdict()
        if groups.get("macro") is not None and (name := groups["macro"].decode()) in _MACROS:
            macros.add(name)
        said = groups.get("comment") or groups.get("pragma") or groups.get("attribute")
        if said is None:
            continue
        others.update(word.decode().lower() for word in _OTHERS.findall(said))
        words = b" ".join(dict.fromkeys(_CASES.findall(said)))
        if words:
            cases.append((found.start(), found.end(), words if groups.get("comment") else b""))
        if hiding := _HIDING.match(said):
            off = (hiding[1] or hiding[2]).lower() == b"off"
            if off and begin is None:
                begin = found.end()
            elif not off and begin is not None:
                hidden.append((begin, found.start()))
                begin = None
    if begin is not None:
        hidden.append((begin, len(text)))
    return Directives(frozenset(macros), tuple(hidden), tuple(cases), frozenset(others))


def readings(found: Iterable[Directives]) -> list[tuple[str, ...]]:
    """Return the sets of macros under which synthesis tools read such texts otherwise than simulators, sorted.

    None of them has a macro that the texts do not ask for. The empty one: what is hidden is passed over.
    """
    found = list(found)
    asked = frozenset().union(*(one.macros for one in found))
    sets = {tuple(sorted(macros & asked)) for macros in READINGS.values()} if any(found) else set()
    if not any(one.hidden or one.cases or one.others or one.macros & _OF_SIMULATORS for one in found):
        sets.discard(())  # as it is read anyway
    return sorted(sets)


def as_synthesized(text: bytes, macros: Iterable[str], vhdl: bool = False) -> bytes:
    """Return ``text`` as synthesis reads it that defines ``macros``: what is hidden is blank, line for line.

    Comments on a ``case`` are given the form that Yosys knows.
    """
    found = directives_of(text, vhdl)
    changes = [(low, high, re.sub(rb"[^\n]", b" ", text[low:high])) for low, high in found.hidden]
    changes += [
        (low, high, b"/* synopsys " + words + b" */" + b"\n" * text.count(b"\n", low, high))
        for low, high, words in found.cases
        if words and not vhdl and not any(a <= low < b for a, b in found.hidden)
    ]
    parts, end = [], 0
    for low, high, new in sorted(changes):
        parts += [text[end:low], new]
        end = high
    lines = b"" if vhdl else b"".join(b"`define %s 1\n" % name.encode() for name in sorted(macros))
    return lines + b"".join([*parts, text[end:]])


def told(found: Directives) -> Iterator[str]:
    """Say in a few words each what of ``found`` is there."""
    if found.macros:
        yield f"asks for {', '.join(sorted(found.macros))}"
    if found.hidden:
        yield f"hides {len(found.hidden)} stretch{'es' if len(found.hidden) > 1 else ''} from synthesis (translate_off)"
    if found.cases:
        yield "has full_case"
    if found.others:
        yield f"has {', '.join(sorted(found.others))}"
