"""Messages that members print: which values of a block they show, and how these are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dais_verif.errors import KernelPrintfError
from dais_verif.kernels.printf import Printf
from dais_verif.program import FixedType, Program

__all__ = ["PrintfTap", "dword_of", "require_taps", "tapped_block", "text_of_member", "variables_of"]

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
