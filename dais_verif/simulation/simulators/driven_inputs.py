"""Refuse RTL that drives its own inputs: a bench overrides such a driver, but hardware does not.

In Icarus the compiled design lists the drivers of each net. Verilator refuses such RTL itself, unless the RTL switches
that error off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import SimulatorFailure

__all__ = ["Plain", "refuse_in_icarus", "refuse_unchecked_in_verilator", "without_computed_attributes"]


#: A root module, one of its input ports, and a net with its source. The source of a net without drivers is an open
#: functor, whose label begins with ``o``. A net at a switch (``tran``) has another label, even with 0 drivers.
_ROOT = re.compile(r'S_\w+ \.scope module, "(.*)" "(?:.*)" \d+ \d+;$')
_INPUT = re.compile(r'    \.port_info \d+ /INPUT \d+ "(.*)"')
_NET = re.compile(r'v\w+ \.net\S* "(.*)", -?\d+ -?\d+, (\S+); +(\d+) drivers')

#: Later versions of Verilator accept several codes, separated by commas.
_UNCHECKED = re.compile(rb"verilator\s+lint_off[\w\s,]*?\bASSIGNIN\b|`\s*verilator_config", re.IGNORECASE)


def refuse_in_icarus(compiled: Path, top: str, own: frozenset[str] = frozenset()) -> None:
    """Raise ``ToolError`` if the design drives an input of its top module.

    ``compiled``: the design as vvp runs it. ``own``: top modules that are not the user's.
    """
    with compiled.open(encoding="utf-8", errors="surrogateescape") as lines:
        inputs: set[str] | None = None
        for line in lines:
            if line.startswith("S_"):
                if inputs is not None:
                    break
                root = _ROOT.match(line)
                inputs = set() if root is not None and root[1] not in own else None
            elif inputs is not None:
                port, net = _INPUT.match(line), _NET.match(line)
                if port is not None:
                    inputs.add(port[1])
                elif net is not None and net[1] in inputs:
                    if not net[2].startswith("o") or int(net[3]):
                        raise SimulatorFailure(_told(net[1]))
                    inputs.discard(net[1])
    if inputs is None or inputs:
        what = f"of input {min(inputs)!r}" if inputs else f"of the inputs of {top!r}"
        raise SimulatorFailure(
            f"iverilog's output does not show which drivers {what} are within the design: update dais-verif"
        )


def refuse_unchecked_in_verilator(texts: Iterable[bytes]) -> None:
    """Raise ``ToolError`` if one of ``texts`` keeps Verilator from saying that the RTL drives its own input."""
    for text in texts:
        found = _UNCHECKED.search(text)
        if found is not None:
            line = text.count(b"\n", 0, found.start()) + 1
            words = " ".join(found[0].decode(errors="replace").split())
            raise SimulatorFailure(
                f"line {line} of the RTL, {words!r}, lets Verilator accept a driver of an input within the design: a "
                "bench would override that driver, hardware would not; remove that line"
            )


def _told(port: str) -> str:
    return (
        f"input {port!r} is driven within the design: a bench would override that driver, hardware would not; "
        "drive outputs only"
    )


# Remove Verilog attributes with computed values, which Icarus 11 refuses, although they do not affect simulation.
#
# ``(* rom_style = (WIDTH <= 9) ? "distributed" : "block" *)`` tells a synthesis tool how to build a table. The
# standard allows any constant expression of parameters as the value; Icarus accepts only literals.
#
# A simulator must not get any code other than the user's. Therefore unusual text stays, and Icarus reports what it
# cannot read: comments and macros in an attribute, macros that begin one, names or strings whose end is ambiguous.


_STRING = rb'"(?:\\[\s\S]|[^"\\\n])*"'
#: Text that contains ``(*`` but no attribute, and possible starts of attributes. The last two are unterminated.
_PIECE = re.compile(
    rb"(?P<skip>//[^\n]*|/\*[\s\S]*?\*/|" + _STRING + rb")|(?P<escaped>\\\S*)|(?P<attribute>\(\*)"
    rb'|(?P<define>`define\b(?:\\\r?\n|[^\n])*)|(?P<odd>/\*|")'
)
#: An attribute without unusual text: no comment, macro, statement or further attribute.
_WHOLE = re.compile(
    rb"\(\*\s*[A-Za-z_](?:" + _STRING + rb"|\\[\w+.$\[\]]+(?=\s)|/(?![/*])|\((?!\*)|\*(?!\))|[^\"\\/(*`;])*\*\)"
)
#: Text that readers may interpret differently: names with a backslash, and bodies of macros.
_ODD_NAME = re.compile(rb'"|//|/\*|\(\*|`')
_ODD_BODY = re.compile(rb'"|/\*|\(\s*\*|\*\s*\)')
#: In an attribute: literals, whose letters do not refer to names, and the name of each attribute.
_NO_NAMES = re.compile(_STRING + rb"|\d*\s*\'[sS]?[bodhBODH]\s*[0-9a-fA-F_xXzZ?]+")
_OWN_NAME = re.compile(rb"(?:^|,)\s*[A-Za-z_$][\w$]*\s*(?==|,|$)")
_NAME = re.compile(rb"[A-Za-z_\\`$]")


class Plain(NamedTuple):
    """A text without computed attributes, and the lines on which they were; the first line is 1."""

    text: bytes
    lines: tuple[int, ...]


def without_computed_attributes(text: bytes) -> Plain:
    """Return ``text`` with blanks instead of attributes whose values refer to names; positions do not change."""
    lines: list[int] = []
    parts: list[bytes] = []
    kept, line, counted = 0, 1, 0
    for begin, end in _attributes(text):
        line, counted = line + text.count(b"\n", counted, begin), begin
        if _NAME.search(_OWN_NAME.sub(b",", _NO_NAMES.sub(b"0", text[begin + 2 : end - 2]))):
            lines.append(line)
            parts += [text[kept:begin], re.sub(rb"[^\n]", b" ", text[begin:end])]
            kept = end
    return Plain(b"".join([*parts, text[kept:]]), tuple(lines))


def _attributes(text: bytes) -> list[tuple[int, int]]:
    """Return starts and ends of attributes; none if anything in the text is unusual."""
    found: list[tuple[int, int]] = []
    at = 0
    while (piece := _PIECE.search(text, at)) is not None:
        begin, at = piece.span()
        match piece.lastgroup:
            case "odd":
                return []
            case "escaped" if _ODD_NAME.search(piece[0]):
                return []
            case "define" if _ODD_BODY.search(re.sub(_STRING, b"", piece[0])):
                return []
            case "attribute" if text[at : at + 200].lstrip()[:1] != b")":  # (*) is not an attribute
                whole = None if _is_event(text, begin) else _WHOLE.match(text, begin)
                if whole is None:
                    return []
                found.append((begin, whole.end()))
                at = whole.end()
    return found


def _is_event(text: bytes, begin: int) -> bool:
    """Return True if the text that begins here follows ``@``, or a comment that may hide one."""
    while begin and text[begin - 1 : begin].isspace():
        begin -= 1
    return text[max(begin - 1, 0) : begin] == b"@" or text[max(begin - 2, 0) : begin] == b"*/"
