"""Concatenations of bits in Verilog, which copy elements of some types into elements of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dais_verif.machine.ports import offsets_of
from dais_verif.program import FixedType

__all__ = ["Bits", "Vector", "copied", "joined", "zeros"]


class Vector(NamedTuple):
    """A signal of the module: its name, and its width in bits."""

    name: str
    width: int


class Bits(NamedTuple):
    """Bits ``low`` to ``low + width - 1`` of ``vector``; zeros if ``vector`` is None.

    ``spread``: bit ``low``, repeated ``width`` times.
    """

    vector: Vector | None
    low: int
    width: int
    spread: bool = False

    def __str__(self) -> str:
        if self.vector is None:
            return f"{self.width}'d0"
        name, high = self.vector.name, self.low + self.width - 1
        if self.spread:
            one = f"{name}[{self.low}]"
            return one if self.width == 1 else f"{{{self.width}{{{one}}}}}"
        if (self.low, self.width) == (0, self.vector.width):
            return name
        return f"{name}[{high}:{self.low}]" if self.width > 1 else f"{name}[{self.low}]"


def zeros(width: int) -> Bits:
    """Return ``width`` zeros."""
    return Bits(None, 0, width)


def copied(vector: Vector, low: int, sources: Sequence[FixedType], targets: Sequence[FixedType]) -> list[Bits]:
    """Return elements of types ``sources`` as elements of types ``targets``, least significant bits first.

    The elements begin at bit ``low`` of ``vector``. Bits below and above the bits of the target are dropped; missing
    bits below are 0, and missing bits above are copies of the sign.
    """
    found: list[Bits] = []
    for source, target, offset in zip(sources, targets, offsets_of(sources), strict=False):
        for part in _element(vector, low + offset, source, target):
            last = found[-1] if found else None
            plain = last is not None and last.vector is vector is part.vector and not last.spread and not part.spread
            if last is not None and plain and last.low + last.width == part.low:
                found[-1] = last._replace(width=last.width + part.width)
            elif part.width:
                found.append(part)
    return found


def _element(vector: Vector, low: int, source: FixedType, target: FixedType) -> list[Bits]:
    """Return one element: zeros below, its own bits, and its sign above."""
    if source.width == 0 or target.width == 0:
        return [zeros(target.width)]
    below = min(max(target.f - source.f, 0), target.width)
    first = max(source.f - target.f, 0)
    own = min(max(source.width - first, 0), target.width - below)
    above = target.width - below - own
    sign = Bits(vector, low + source.width - 1, above, spread=True) if source.k else zeros(above)
    return [zeros(below), Bits(vector, low + first, own), sign]


def joined(parts: Sequence[Bits]) -> list[str]:
    """Return ``parts`` as the words of one expression, most significant first."""
    if len(parts) == 1:
        return [str(parts[0])]
    words = [f"{part}," for part in reversed(parts)]
    return ["{" + words[0], *words[1:-1], words[-1].removesuffix(",") + "}"]
