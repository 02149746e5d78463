"""Find directives that make RTL differ between synthesis and simulation: macros of tools, text hidden from synthesis.

A lexer splits the text, so that comments within strings, and strings within comments, are not mistaken for real ones.
Text that the design's own macros hide is read as well, so that no tool reads more than this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.errors import PortError
from dais_verif.hardware.ports.outside_effects import VERILOG, tokens_of

__all__ = ["Directives", "READINGS", "as_synthesized", "directives_of", "readings", "refuse_ambiguous", "told"]


#: The macros that synthesis tools define, by tool.
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
#: Macros that only simulators and other readers define, but not synthesis.
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

_WORDS = rb"parallel_case|syn_black_box|black_box|blackbox|whitebox|box_type|ram_init_file"
_VERILOG = re.compile(
    rb"""
    (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<attribute>\b(?:full_case|lib_whitebox|%s)\b)
  | "(?:\\.|[^"\\\n])*"
  | (?P<escaped>\\[^\s]+)
  | `(?:ifdef|ifndef|elsif)(?:(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)+\\?|\\)(?P<macro>\w+)
  | `pragma\s+(?P<pragma>[^\n]*)
  | (?P<branch>`(?:else|endif)\b)
  | (?P<define>`define\b)
  | (?P<paste>``)
  | (?P<use>`)
  | \b(?P<priority>priority)\s+case[xz]?\b
  | \b(?P<keyword>unique0?|priority)\b(?!\$)
  | \(\s*\*\s*\)
  | (?P<open>\(\*)
  | (?P<close>\*\))
    """
    % _WORDS,
    re.DOTALL | re.VERBOSE,
)
_MACRO_TEXT = re.compile(rb"(?:[^\n\\]|\\\r?\n|\\.)*")
_VHDL = re.compile(rb"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))|\"[^\"\n]*\"|'.'", re.DOTALL)

_HIDING = re.compile(
    rb"^[/*\-\s]*(?:[\w$]+?[\s:]*)?(?:translate|synthesis)[_ ](off|on)\b|^[/*\-\s]*rtl_synthesis\s+(off|on)\b", re.I
)
#: A comment that matches this, but is not a plain mark, may be a mark for some tool.
_DOUBTFUL = re.compile(rb"(?:translate|synthesis)[\s_]*off(?![a-z])", re.I)
_MARK = re.compile(rb"(?:translate|synthesis)[\s_]*o(?:n|ff)(?![a-z])", re.I)
#: Yosys recognizes this text anywhere in a comment.
_CASES = re.compile(rb"(full_case)")
#: Words whose effect cannot be followed. With ``parallel_case``, for instance, the tool chooses one of two matching
#: items.
_OTHERS = re.compile(rb"(parallel_case|read_comments_as_hdl|\b(?:%s)\b)" % _WORDS, re.I)


#: A text that does not match this, as most do not, need not be split by the lexer.
_HINTS = re.compile(
    rb"`(?:ifdef|ifndef|elsif|`)|translate|synthesis|_case|box|read_comments|ram_init|unique|priority|\(\*(?!\s*\))",
    re.I,
)


@dataclass(frozen=True)
class Directives:
    """The tool-specific parts of a text.

    ``macros``: the macros of tools that the text tests. ``hidden``: the ranges of bytes that synthesis skips.
    ``cases``: the ranges, and texts, of marks that change a ``case`` for synthesis. ``others``: words whose effect
    cannot be followed. ``marks``: the spellings of the comments that hide text; a tool may obey only some of them.
    """

    macros: frozenset[str] = frozenset()
    hidden: tuple[tuple[int, int], ...] = ()
    cases: tuple[tuple[int, int, bytes], ...] = ()
    others: frozenset[str] = frozenset()
    marks: frozenset[bytes] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.macros or self.hidden or self.cases or self.others or self.marks)


def directives_of(text: bytes, vhdl: bool = False) -> Directives:
    """Return the parts of ``text`` that apply only to some tools."""
    if not _HINTS.search(text):
        return Directives()
    macros, others, marks = set[str](), set[str](), set[bytes]()
    hidden, cases, begin = list[tuple[int, int]](), list[tuple[int, int, bytes]](), None
    count, attribute, macro_end = 0, False, 0
    branches, branch = list[int](), list[int]()  # starts of open conditional branches; of the one with translate_off
    for found in (_VHDL if vhdl else _VERILOG).finditer(text):
        groups = found.groupdict()
        _follow(branches, found)
        if groups.get("macro") is not None and (name := groups["macro"].decode("latin-1")) in _MACROS:
            macros.add(name)
        if groups.get("define") and found.start() >= macro_end and (body := _MACRO_TEXT.match(text, found.end())):
            macro_end = body.end()
        if groups.get("open") or groups.get("close"):
            attribute = groups.get("open") is not None
        if attribute and found[0].startswith(b"`"):
            others.add("a macro in an attribute")
        if groups.get("paste"):
            others.add("pasted tokens")
        if groups.get("keyword"):
            others.add(groups["keyword"].decode())
        if groups.get("priority"):
            cases.append((found.start(), found.end(), b""))
        said = next((groups[kind] for kind in _SAYING if groups.get(kind) is not None), None)
        if said is None:
            continue
        others.update(word.decode().lower() for word in _OTHERS.findall(said))
        words = b" ".join(dict.fromkeys(_CASES.findall(said)))
        if words:
            cases.append((found.start(), found.end(), words if groups.get("comment") else b""))
        if hiding := _HIDING.match(said):
            off = (hiding[1] or hiding[2]).lower() == b"off"
            count += len(_MARK.findall(hiding[0]))
            if off or begin is not None:
                marks.add(_spelling(said, hiding))
            if found.start() < macro_end:
                others.add("translate_off in a macro")
            if off and begin is None:
                begin, branch = found.end(), branches[-1:]
            elif not off and begin is not None:
                hidden.append((begin, found.start()))
                begin = None
                if branches[-1:] != branch:
                    others.add("translate_off and translate_on in different branches")
        elif _DOUBTFUL.search(said):
            others.add("a comment that may be a translate_off")
    if begin is not None:
        hidden.append((begin, len(text)))
        others.add("translate_off without translate_on")
    if hidden and len(_MARK.findall(text)) != count:
        others.add("something like translate_on next to a real one")
    return Directives(frozenset(macros), tuple(hidden), tuple(cases), frozenset(others), frozenset(marks))


#: The tokens whose text is examined.
_SAYING = ("comment", "pragma", "attribute", "escaped")


def _follow(branches: list[int], found: re.Match[bytes]) -> None:
    """Update ``branches``, the starts of the conditional branches that contain the text after ``found``."""
    if not found[0].startswith((b"`if", b"`els", b"`endif")):
        return
    if branches and not found[0].startswith(b"`if"):
        branches.pop()
    if not found[0].startswith(b"`endif"):
        branches.append(found.start())


def _spelling(said: bytes, hiding: re.Match[bytes]) -> bytes:
    """Return the spelling of a mark, without ``on`` or ``off``, and without the blanks that all tools ignore."""
    low, high = hiding.span(1) if hiding[1] else hiding.span(2)
    body = re.sub(rb"[ \t\r]", b"", said[:low] + said[high:])
    return body[2:].removesuffix(b"*/") if body[:2] in (b"//", b"/*", b"--") else b"`pragma" + body


def readings(found: Iterable[Directives]) -> list[tuple[str, ...]]:
    """Return the sets of macros with which synthesis tools read texts differently from simulators, sorted.

    The sets contain only macros that the texts test. With the empty set, only hidden text is skipped.
    """
    found = list(found)
    asked = frozenset().union(*(one.macros for one in found))
    sets = {tuple(sorted(macros & asked)) for macros in READINGS.values()} if any(found) else set()
    if not any(one.hidden or one.cases or one.others or one.macros & _OF_SIMULATORS for one in found):
        sets.discard(())  # without these macros, simulators read the texts in the same way
    return sorted(sets)


def as_synthesized(text: bytes, macros: Iterable[str], vhdl: bool = False) -> bytes:
    """Return ``text`` as a synthesis tool that defines ``macros`` reads it; lines are kept, and hidden text is blank.

    Comments with ``full_case`` are rewritten in the form that Yosys supports.
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
    """Yield a short description of each kind of directive in ``found``."""
    if found.macros:
        yield f"asks for {', '.join(sorted(found.macros))}"
    if found.hidden:
        yield f"hides {len(found.hidden)} stretch{'es' if len(found.hidden) > 1 else ''} from synthesis (translate_off)"
    if len(found.marks) > 1:
        spelt = ", ".join(sorted(mark.decode("latin-1") for mark in found.marks))
        yield f"hides code by pragmas that only some tools obey ({spelt!a})"
    if found.cases:
        yield "has full_case or priority"
    if found.others:
        yield f"has {', '.join(sorted(found.others))}"


# Find text that tools read differently: where a line comment ends, and the place of the text as a value.
#
# Simulators count lines differently within the arguments of macros, and copies of a file have other names. A call that
# only prints may use both.


_PLACES = ("`__LINE__", "`__FILE__")
#: Characters that end a line comment in some tools only, unless they belong to the end of a line.
_ENDS = (b"\r", b"\v", b"\f")
_PRINTING = (
    *("$display", "$write", "$strobe", "$monitor", "$info", "$warning", "$error", "$fatal"),
    *("$sformat", "$sformatf", "$swrite"),
)


def refuse_ambiguous(files: Iterable[Path]) -> None:
    """Raise ``InputError`` with the place of the first text that tools read differently."""
    for file in files:
        text = file.read_bytes()
        if any(end in text for end in _ENDS):
            _refuse_comments(file, text)
        if b"`__LINE__" in text or b"`__FILE__" in text:
            _refuse_places(file, text)


def _refuse_comments(file: Path, text: bytes) -> None:
    for found in VERILOG.finditer(text):
        end = found.end()
        if found[0].startswith(b"//") and text[end : end + 1] in _ENDS and text[end : end + 2] != b"\r\n":
            raise PortError(
                f"{file}:{_line(text, end)}: a carriage return, or another control character, is in a comment, which"
                " ends there in some tools only; remove it"
            )


def _refuse_places(file: Path, text: bytes) -> None:
    calls: list[bool] = []  # for each open parenthesis, whether it is within a call that prints
    before = ""
    for token in tokens_of(VERILOG, text):
        if token.kind == "directive" and token.text in _PLACES and not any(calls):
            raise PortError(
                f"{file}:{_line(text, token.at)}: {token.text} is a value here, in which tools differ; write the number"
                " or the name itself"
            )
        for mark in token.text if token.kind == "other" else "":
            if mark == "(":
                calls.append(before in _PRINTING)
            elif mark == ")" and calls:
                calls.pop()
            before = ""
        if token.kind != "other":
            before = token.text


def _line(text: bytes, at: int) -> int:
    return text.count(b"\n", 0, at) + 1
