"""Compare values of ops and of places in RTL on many vectors, up to sign, shift and width."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.netlist import Signal
from dais_verif.prover.random_simulation import Trace
from dais_verif.spec.program import Program

__all__ = ["Key", "OpValues", "Place", "as_number", "bit_key", "is_constant", "key_of", "where"]

#: The largest number of bits of which numbers are computed as machine words, whatever their sign.
_WORD = 62

#: The values of some bits on all vectors, without common trailing zeros: a key under which equal values meet.
Key = bytes
_Values = NDArray[Any]


class Place(NamedTuple):
    """Bits ``low .. low + width - 1`` of a signal."""

    signal: Signal
    low: int
    width: int

    def __str__(self) -> str:
        if self.width == self.signal.width:
            return self.signal.name
        high = self.low + self.width - 1
        return f"{self.signal.name}[{high}:{self.low}]" if self.width > 1 else f"{self.signal.name}[{self.low}]"

    @classmethod
    def whole(cls, signal: Signal) -> Place:
        """Return all bits of ``signal``."""
        return cls(signal, 0, signal.width)


def where(place: Place) -> str:
    """Return file and line of what drives a place."""
    driver = next(place.signal.driving(place.low, place.width), None)
    return place.signal.where if driver is None else driver.where


class OpValues:
    """The raw integers of ops on the vectors on which the program keeps its promises, and the ops of given values."""

    def __init__(self, program: Program, found: Trace) -> None:
        self.kept = ~found.broken
        self.raw: dict[int, _Values] = {}
        self.ops: dict[Key, list[int]] = defaultdict(list)
        #: Keys of single bits of ops.
        self.bits: set[Key] = set()
        #: The ops that read each op.
        self.users: dict[int, list[int]] = defaultdict(list)
        for op in program.ops:
            for operand in dict.fromkeys(op.operands):
                self.users[operand].append(op.index)
            if op.type.width:
                raw = as_number(found.values[op.index][self.kept], op.type.width, op.type.k)
                self.raw[op.index] = raw
                for key in {key_of(raw), key_of(-raw)}:
                    self.ops[key].append(op.index)
                self.bits |= _bit_keys(raw, op.type.width)


def as_number(bits: _Values, width: int, signed: int) -> _Values:
    """Return the numbers that ``bits`` encode, as machine words if they fit."""
    bits = bits.astype(np.int64 if width <= _WORD else object)
    if not signed or not width:
        return bits
    half = 1 << (width - 1)
    found: _Values = (bits ^ half) - half
    return found


def is_constant(values: _Values) -> bool:
    """Return whether all values are the same."""
    return bool((values == values[0]).all()) if len(values) else True


def key_of(values: _Values) -> Key:
    """Return a key of the values, without the zeros at the end that all have."""
    union = int(np.bitwise_or.reduce(values)) if len(values) else 0
    moved = values >> ((union & -union).bit_length() - 1 if union else 0)
    try:
        return moved.astype(np.int64).tobytes()
    except OverflowError:
        return repr(moved.tolist()).encode()


def bit_key(bits: _Values) -> Key:
    """Return a key of a bit, the same for its inverse."""
    return np.packbits((bits != bits[0]).astype(bool)).tobytes()


def _bit_keys(raw: _Values, width: int) -> set[Key]:
    """Return a key of each bit that varies."""
    if width > _WORD:
        return _bit_keys(raw & ((1 << _WORD) - 1), _WORD) | _bit_keys(raw >> _WORD, width - _WORD)
    bits = (raw.astype(np.int64)[None, :] >> np.arange(width)[:, None]) & 1
    return {bit_key(column) for column in bits if not is_constant(column)}
