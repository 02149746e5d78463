"""``printf`` of kernels: a message with at most one variable, a dword, printed as C does; and buffers of messages."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from reprlib import repr as _short
from typing import Any

import numpy as np

from dais_verif.base.errors import InputError, KernelPrintfError
from dais_verif.spec.program import FixedType, Program

__all__ = [
    "CONVERSIONS",
    "PrintBuffer",
    "Printf",
    "PrintfTap",
    "buffer_of",
    "dword_of",
    "messages_of",
    "read_taps",
    "require_taps",
    "tapped_block",
    "text_of_member",
    "variables_of",
]


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


# Messages that members print: which values of a block they show, and how these are printed.


#: Formats of real numbers: bits of the significand, including the implicit one. Exponents have 8 bits.
_SIGNIFICAND = {"f": 24, "bf": 8}
_DWORD = 32


@dataclass(frozen=True)
class PrintfTap:
    """A message, printed by each member, with at most one value of its block: that of an op, or of an output.

    ``raw``: print the raw integer in any format. Otherwise print the value: integer formats require that its type has
    no fractional bits; ``%f`` and ``%bf`` round it to the nearest number of the format, ties to even.
    """

    message: str
    op: int | None = None
    output: int | None = None
    raw: bool = False
    printf: Printf = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "printf", Printf.of(self.message))
        if "\0" in self.message:
            raise KernelPrintfError(f"printf {self.message!r} has a NUL, which ends a string")
        if self.op is not None and self.output is not None:
            raise KernelPrintfError(
                f"printf {self.message!r} shows op {self.op} and output {self.output}: give one of them"
            )
        if self.has_variable != (self.op is not None or self.output is not None):
            what = (
                "has a variable: say which op or output it shows" if self.has_variable else "has no variable to show it"
            )
            raise KernelPrintfError(f"printf {self.message!r} {what}")

    @property
    def has_variable(self) -> bool:
        """True if the message contains a value."""
        return self.printf.conversion is not None


def tapped_block(block: Program, taps: Sequence[PrintfTap]) -> Program:
    """Return ``block`` with the variables of ``taps`` as additional outputs, in order."""
    shown = [_output(block, tap) for tap in taps if tap.has_variable]
    index, shift, negative = np.array(shown, dtype=np.int64).reshape(-1, 3).T
    return replace(
        block,
        out_idx=np.concatenate([block.out_idx, index]),
        out_shift=np.concatenate([block.out_shift, shift]),
        out_neg=np.concatenate([block.out_neg, negative]),
    )


def _output(block: Program, tap: PrintfTap) -> tuple[int, int, bool]:
    return block.outputs[tap.output] if tap.output is not None else (tap.op or 0, 0, False)


def variables_of(block: Program, taps: Sequence[PrintfTap]) -> tuple[FixedType, ...]:
    """Return the types of the variables of ``taps``."""
    return tapped_block(block, taps).output_types[block.n_out :]


def require_taps(block: Program, taps: Sequence[PrintfTap]) -> None:
    """Raise ``InputError`` for values that ``block`` does not have, or that do not fit their formats."""
    for tap in taps:
        for name, number, count in (("op", tap.op, block.n_ops), ("output", tap.output, block.n_out)):
            if number is not None and not 0 <= number < count:
                raise KernelPrintfError(f"printf {tap.message!r}: there is no {name} {number} in a block of {count}")
    shown = [tap for tap in taps if tap.has_variable]
    for tap, kind in zip(shown, variables_of(block, taps), strict=True):
        real = tap.printf.conversion in _SIGNIFICAND and not tap.raw
        bits = kind.width if tap.raw else kind.width + max(-kind.f, 0)
        if not real and not tap.raw and kind.width and kind.f > 0:
            raise KernelPrintfError(
                f"printf {tap.message!r}: the value has type {kind}, of which %{tap.printf.conversion} prints no "
                "fraction: take %f, or raw = true for its raw integer"
            )
        if not real and bits > _DWORD:
            raise KernelPrintfError(
                f"printf {tap.message!r}: the value has type {kind}, of {bits} bits; a variable is a dword"
                + ("" if tap.raw else ": take %f")
            )


def dword_of(tap: PrintfTap, raw: int, kind: FixedType) -> int:
    """Return the dword that ``tap`` prints of a raw integer of type ``kind``."""
    digits = _SIGNIFICAND.get(tap.printf.conversion or "")
    if tap.raw or digits is None:
        return (raw if tap.raw else raw << max(-kind.f, 0)) & ((1 << _DWORD) - 1)
    if not raw:
        return 0
    # Subnormal numbers have fewer significant bits.
    exponent = max(abs(raw).bit_length() - 1 - kind.f, -126)
    shift = exponent - digits + 1 + kind.f
    number = abs(raw) << -shift if shift <= 0 else _to_even(abs(raw), shift)
    bits = min(((exponent + 126) << (digits - 1)) + number, 255 << (digits - 1))
    return (raw < 0) << (digits + 7) | bits


def _to_even(number: int, shift: int) -> int:
    """Return ``number / 2**shift``, rounded to the nearest integer, ties to even."""
    found, rest = number >> shift, number & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    return found + (rest > half or (rest == half and found & 1))


def text_of_member(taps: Sequence[PrintfTap], kinds: Sequence[FixedType], raw: Sequence[int | None]) -> str:
    """Return the text that a member prints. ``raw``, ``kinds``: the raw integer and the type of each variable.

    A variable that is None, since it has an X bit in a simulator, is printed as ``x``.
    """
    values = zip(raw, kinds, strict=True)
    return "".join(_text(tap, *next(values)) if tap.has_variable else tap.printf.render() for tap in taps)


def _text(tap: PrintfTap, raw: int | None, kind: FixedType) -> str:
    if raw is None:
        return f"{tap.printf.before}x{tap.printf.behind}"
    return tap.printf.render(dword_of(tap, raw, kind))


# Messages of members in a TOML file: ``[printf]``, or ``[[printf]]`` where there are several.


_KEYS = ("message", "op", "output", "raw")
#: The most messages of a member.
_MOST = 1 << 12
_NUMBERS = re.compile(r"(\d{1,9})\.\.(\d{1,9})", re.ASCII)


def read_taps(name: str, entries: Any) -> tuple[PrintfTap, ...]:
    """Return the messages that ``entries`` of file ``name`` state. Raises ``InputError``, which names file and key.

    ``op`` and ``output`` are a number, or a range such as ``"3..6"``: then the message is printed once for each number.
    """
    tables = [entries] if isinstance(entries, dict) else entries
    if not isinstance(tables, list) or not all(isinstance(entry, dict) for entry in tables):
        raise KernelPrintfError(f"{name}: printf must be a table, [printf], or several, [[printf]]")
    taps: list[PrintfTap] = []
    for number, entry in enumerate(tables):
        where = f"{name}: printf" + (f"[{number}]" if len(tables) > 1 else "")
        taps += _taps(where, entry, _MOST - len(taps))
    return tuple(taps)


def _taps(where: str, entry: dict[str, Any], room: int) -> Iterator[PrintfTap]:
    for key in entry:
        if key not in _KEYS:
            raise KernelPrintfError(f"{where}: {key!r} is not a key; known keys are {', '.join(_KEYS)}")
    message, raw = entry.get("message"), entry.get("raw", False)
    if not isinstance(message, str):
        raise KernelPrintfError(f"{where}: message is {_short(message)}, must be a string")
    if not isinstance(raw, bool):
        raise KernelPrintfError(f"{where}: raw is {_short(raw)}, must be true or false")
    values = {key: _numbers(f"{where}: {key}", entry[key]) for key in ("op", "output") if key in entry}
    if len(values) > 1:
        raise KernelPrintfError(f"{where}: op and output both select a value; give only one")
    key, numbers = next(iter(values.items()), ("op", [None]))
    if len(numbers) > room:
        raise KernelPrintfError(f"{where}: a member prints up to {_MOST} messages")
    for number in numbers:
        try:
            yield PrintfTap(
                message, raw=raw, op=number if key == "op" else None, output=number if key == "output" else None
            )
        except InputError as error:
            raise KernelPrintfError.of("{where}: {error}", where=where, error=error) from None


def _numbers(where: str, value: Any) -> range | list[None]:
    found = _NUMBERS.fullmatch(value) if isinstance(value, str) else None
    first, last = (int(found[1]), int(found[2])) if found else (value, value)
    if type(first) is not int or not 0 <= first <= last:
        raise KernelPrintfError(f"{where} is {_short(value)}, must be a number, 0 or more, or a range such as '3..6'")
    return range(first, last + 1)
