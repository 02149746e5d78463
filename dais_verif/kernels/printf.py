"""``printf`` of kernels: a message with at most one variable, a dword, printed as C does; and buffers of messages."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dais_verif.errors import KernelPrintfError

__all__ = ["CONVERSIONS", "PrintBuffer", "Printf", "buffer_of", "messages_of"]


def _signed(bits: int) -> Callable[[int], str]:
    def text(dword: int) -> str:
        low = dword & ((1 << bits) - 1)
        return str(low - (low >> (bits - 1) << bits))

    return text


def _unsigned(bits: int) -> Callable[[int], str]:
    return lambda dword: str(dword & ((1 << bits) - 1))


def _real(dword: int) -> str:
    return f"{struct.unpack('<f', struct.pack('<I', dword))[0]:f}"


#: The supported formats, and the function with which each prints a dword.
CONVERSIONS: dict[str, Callable[[int], str]] = {
    "hhd": _signed(8),
    "hhu": _unsigned(8),
    "hd": _signed(16),
    "hu": _unsigned(16),
    "d": _signed(32),
    "u": _unsigned(32),
    "bf": lambda dword: _real((dword & 0xFFFF) << 16),
    "f": _real,
}

#: A ``%`` and the text that may follow it in C.
_ANY = re.compile(r"%(%|[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|ll|[hlLqjzt])*(?:bf|[a-zA-Z])?)")


@dataclass(frozen=True)
class Printf:
    """A message: the text before its variable, the variable's format (None: no variable), and the text after it."""

    before: str
    conversion: str | None = None
    behind: str = ""

    @classmethod
    def of(cls, text: str) -> Printf:
        """Parse the message ``text``. Raises ``InputError`` for unsupported formats.

        ``%%`` is a percent sign. Escape sequences of C are not interpreted.
        """
        parts, at, conversion = [""], 0, None
        for found in _ANY.finditer(text):
            parts[-1] += text[at : found.start()]
            at = found.end()
            if found[1] == "%":
                parts[-1] += "%"
                continue
            if found[1] not in CONVERSIONS:
                raise KernelPrintfError(
                    f"printf {text!r}: %{found[1]} is not a conversion; known are %{' %'.join(CONVERSIONS)}"
                )
            if conversion is not None:
                raise KernelPrintfError(f"printf {text!r} has two variables; a message has at most one")
            conversion = found[1]
            parts.append("")
        parts[-1] += text[at:]
        return cls(parts[0], conversion, parts[1] if conversion is not None else "")

    def render(self, dword: int = 0) -> str:
        """Return the printed form of a variable, given as its 32 bits."""
        if not 0 <= dword < 1 << 32:
            raise KernelPrintfError(f"a variable of printf must be a dword, not {dword}")
        return self.before + (CONVERSIONS[self.conversion](dword) if self.conversion else "") + self.behind


#: The dwords that mark the beginning of a record of the buffer, and the end of all records.
_RECORD, _END = 0xCDCDCDCD, 0xFFFFFFFF


@dataclass(frozen=True)
class PrintBuffer:
    """The dwords of the runtime's buffer, and the number of messages that did not fit."""

    dwords: tuple[int, ...]
    lost: int = 0


def buffer_of(messages: Iterable[tuple[str, int]], size: int = 32 << 10) -> PrintBuffer:
    """Return a buffer of up to ``size`` bytes with texts and their variables, 0 for a text without a variable.

    A record is a mark, the variable, and the text with four bytes per dword, which ends with a NUL in its last dword.
    """
    dwords, lost = list[int](), 0
    for text, dword in messages:
        if "\0" in text:
            raise KernelPrintfError(f"printf {text!r} has a NUL, which ends a string")
        data = text.encode() + b"\0"
        data += bytes(-len(data) % 4)
        record = [_RECORD, dword, *struct.unpack(f"<{len(data) // 4}I", data)]
        if lost or 4 * (len(dwords) + len(record) + 1) > size:
            lost += 1
        else:
            dwords += record
    return PrintBuffer((*dwords, _END), lost)


def messages_of(dwords: Sequence[int]) -> Iterator[str]:
    """Yield the texts printed by the records of a buffer. Raises ``InputError`` for other content."""
    at = 0
    while at < len(dwords) and dwords[at] == _RECORD:
        data = b""
        for number in dwords[at + 2 :]:
            data += struct.pack("<I", number)
            if not data[-1]:
                break
        if not data or data[-1]:
            break
        yield Printf.of(data.rstrip(b"\0").decode(errors="replace")).render(dwords[at + 1])
        at += 2 + len(data) // 4
    if at >= len(dwords) or dwords[at] != _END:
        raise KernelPrintfError(
            f"dword {at} of a printf buffer is neither the start of a record nor the end of the buffer"
        )
