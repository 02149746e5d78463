"""Find text that tools read differently: where a line comment ends, and the place of the text as a value.

Simulators count lines differently within the arguments of macros, and copies of a file have other names. A call that
only prints may use both.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dais_verif.dut.outside import VERILOG, tokens_of
from dais_verif.errors import PortError

__all__ = ["refuse_ambiguous"]

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
