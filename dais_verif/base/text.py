"""Make foreign text safe to print: names of files and signals, messages, and other content of records.

A terminal executes control characters. A CI system executes commands in lines: a name with a line break could begin a
new line, and GitHub executes ``::error::`` at the beginning of a line, Azure ``##vso[`` anywhere.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable

__all__ = ["command_line", "counted", "equal_text", "printable", "printable_lines"]


#: Unsafe characters: C0, DEL and C1; separators of lines and paragraphs; marks of writing direction; surrogates, by
#: which Python represents bytes of a name that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_COMMAND = re.compile(r"##(vso)?\[")
_COMMAND_LINE = re.compile(r"^(\s*)::")
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: str) -> str:
    """Return ``text`` on one line, with each control character replaced by its escape sequence in Python."""
    if text.isascii() and text.isprintable() and "##" not in text:
        return text
    return _COMMAND.sub(r"##\1\\[", _UNSAFE.sub(_escape, text))


def printable_lines(text: str) -> str:
    """Return ``text`` with its line breaks and tabs, but as ``printable`` otherwise, and without commands of GitHub."""
    lines = ("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(_COMMAND_LINE.sub(r"\1\\::", line) for line in lines)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def command_line(words: Iterable[str]) -> str:
    """Return a line to copy into bash that runs the command ``words``, whatever characters these hold."""
    return " ".join(shlex.quote(word) if word == printable(word) else _in_bash(word) for word in words)


def _in_bash(word: str) -> str:
    r"""Return ``word`` as ``$'...'`` in bash, with unsafe bytes as ``\x1b``."""
    data = os.fsencode(word)
    return "$'" + "".join(chr(x) if 0x20 <= x < 0x7F and x not in b"\\'#" else f"\\x{x:02x}" for x in data) + "'"


# Counts with their nouns: 1 output, 2 outputs.


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``count`` with ``noun``, or with ``plural`` (by default ``noun`` with an s) unless the count is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def equal_text(bits: int, vectors: int) -> str:
    """Return the message of a simulation in which all ``bits`` output bits of ``vectors`` vectors are right."""
    if bits == 1:
        return f"the only output bit of {counted(vectors, 'vector')} equals the golden model"
    return f"all {bits} output bits of {counted(vectors, 'vector')} equal the golden model"
