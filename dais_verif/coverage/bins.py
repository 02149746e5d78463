"""The table of bins: events that should occur at least once in an op of each opcode, in an output, in an input.

Observations are recorded in an array of places. A bin is hit if one of two places, its sources, is set. Bins that mean
the same in several ops, such as the MSB of a condition and the muxes that it controls, have the same sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dais_verif.coverage.inputs import READ, Readers
from dais_verif.golden.coverage_probes import ARM, LOST, WRAPPED, Places
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import MUXES, QUANTISATIONS, RELUS, Code, low_int32

__all__ = ["GROUPS", "Bins", "bins_of"]

Ints = NDArray[np.int64]

#: Every kind of bin. The bins of one kind in one op are numbered from 0.
GROUPS = (
    "bit",
    "sign",
    "zero",
    "input corner",
    "mux condition",
    "mux arm",
    "relu",
    "wrap",
    "truncation",
    "table entry",
)
_NUMBER = {name: number for number, name in enumerate(GROUPS)}

_SIGN = ("negative", "positive")
_CONDITION = ("MSB of the condition 1", "MSB of the condition 0")
_ARM = ("first arm taken where the second is another value", "second arm taken where the first is another value")
_RELU = ("operand below the kink", "operand at the kink", "operand above the kink")
_WRAP = ("taken", "not taken")
_TRUNCATION = ("taken", "not taken", "taken below zero")


@dataclass(frozen=True)
class Bins:
    """All bins of a program, as columns with one entry per bin, ordered by owner.

    ``owner``: an op, or n_ops + output, or n_ops + n_out + input. ``group``: a number in ``GROUPS``; ``which``: the
    number of the bin within its group and owner. ``first``, ``second``: the sources, in an array of ``size`` places:
    the places of ops and outputs, those of readers of inputs, one place that is never set, and one that is always set.
    """

    program: Program
    places: Places
    readers: Readers
    owner: Ints
    group: Ints
    which: Ints
    first: Ints
    second: Ints

    @property
    def size(self) -> int:
        """The number of places, including the last two."""
        return self.places.size + self.readers.size + 2

    def nothing(self) -> NDArray[np.uint8]:
        """Return an array of places in which none is set."""
        return np.zeros(self.size, dtype=np.uint8)

    def hit(self, seen: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return for every bin whether it is hit."""
        return (seen[self.first] | seen[self.second]).astype(bool)

    def never(self, impossible: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for every bin whether it cannot be hit, given the places that cannot be set."""
        return impossible[self.first] & impossible[self.second]

    def where(self, number: int) -> tuple[int | None, int | None, int | None]:
        """Return (op, input, output) of a bin; two of them are None."""
        owner, n_ops, n_out = int(self.owner[number]), self.program.n_ops, self.program.n_out
        if owner < n_ops:
            return owner, None, None
        return (None, None, owner - n_ops) if owner < n_ops + n_out else (None, owner - n_ops - n_out, None)

    def text(self, number: int) -> str:
        """Return the description of a bin, without the name of its group."""
        which, name = int(self.which[number]), GROUPS[self.group[number]]
        op, source, output = self.where(number)
        match name:
            case "bit":
                width = int(self.places.widths[self.owner[number]])
                what = f"bit {which % width} is {which // width}"
            case "zero":
                what = "zero"
            case "input corner":
                assert source is not None
                kind, raw = self.corners[source][which]
                what = f"{raw} as {kind}"
            case "table entry":
                what = f"entry {which} of table {low_int32(int(self.program.columns.data[self.owner[number]]))}"
            case _:
                names = dict(zip(GROUPS[4:9], (_CONDITION, _ARM, _RELU, _WRAP, _TRUNCATION), strict=True))
                what = (names | {"sign": _SIGN})[name][which]
        if op is not None:
            return f"{self.program.ops[op]}: {_said(name, what)}"
        return f"input {source}: {what}" if output is None else f"output {output}: {_said(name, what)}"

    @cached_property
    def corners(self) -> dict[int, list[tuple[str, int]]]:
        """The corners of every input, each as the type with which the input is read, and the raw value."""
        found: dict[int, list[tuple[str, int]]] = {}
        for reader in self.readers.readers:
            found.setdefault(reader.input, []).extend((str(reader.kind), raw) for raw in reader.corners)
        return found


def _said(name: str, what: str) -> str:
    return f"{name} {what}" if name in ("wrap", "truncation") else what


class _Columns:
    def __init__(self) -> None:
        self.parts: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []

    def add(self, name: str, owner: Ints, which: Ints | int, first: Ints, second: Ints | int) -> None:
        whole = (np.full(len(owner), _NUMBER[name]), np.broadcast_to(which, len(owner)))
        self.parts.append((owner, *whole, first, np.broadcast_to(second, len(owner))))

    def joined(self) -> tuple[Ints, ...]:
        columns = [np.concatenate(column) for column in zip(*self.parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        return tuple(column[order] for column in columns)


def bins_of(program: Program, *, declared: bool = True) -> Bins:
    """Return the bins of ``program``. ``declared``: inputs stay within the intervals that its source declares."""
    places, readers = Places(program), Readers.of(program, declared=declared)
    never, always = places.size + readers.size, places.size + readers.size + 1
    made = _Columns()
    _add_values(made, program, places, never)
    _add_inputs(made, program, readers, places.size, never)
    _add_muxes(made, program, places, never, always)
    _add_relus(made, program, places, never, always)
    _add_changes(made, program, places, never)
    _add_entries(made, program, places, never)
    return Bins(program, places, readers, *made.joined())


def _with_bits(places: Places, *ops: Ints) -> Ints:
    found = np.concatenate(ops) if ops else np.arange(len(places.widths))
    return found[places.widths[found] > 0]


def _add_values(made: _Columns, program: Program, places: Places, never: int) -> None:
    """Add the bins of the values of every op and output: each bit 0 and 1, negative, positive, zero."""
    owners = _with_bits(places)
    widths, at = places.widths[owners], places.at[owners]
    bits, which = _counted(owners, 2 * widths)
    made.add("bit", bits, which, np.repeat(at, 2 * widths) + which, never)
    k = np.concatenate([program.columns.k, np.array([t.k for t in program.output_types], dtype=np.int64)])[owners]
    # A signed type of one bit has no positive value.
    for number, chosen, place in ((0, k == 1, at + 2 * widths - 1), (1, widths > k, at + 2 * widths + 1)):
        made.add("sign", owners[chosen], number, place[chosen], never)
    made.add("zero", owners, 0, at + 2 * widths, never)


def _counted(owners: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return each owner as often as ``counts`` states, and for each occurrence the number of earlier ones."""
    starts = np.cumsum(counts) - counts
    return np.repeat(owners, counts), np.arange(int(counts.sum())) - np.repeat(starts, counts)


def _add_inputs(made: _Columns, program: Program, readers: Readers, start: int, never: int) -> None:
    """Add the corners of every input, and the wraps and truncations of every ``input`` op."""
    met: dict[int, int] = {}
    for reader, place in zip(readers.readers, readers.at, strict=True):
        ops = np.array(reader.ops, dtype=np.int64)
        names = [*(("wrap", n) for n in range(2)), *(("truncation", n) for n in range(3))]
        for offset, (name, which) in enumerate(names):
            made.add(name, ops, which, np.full(len(ops), start + place + offset), never)
        count, before = len(reader.corners), met.get(reader.input, 0)
        owner = np.full(count, program.n_ops + program.n_out + reader.input)
        first = start + place + len(READ) + np.arange(count)
        made.add("input corner", owner, before + np.arange(count), first, never)
        met[reader.input] = before + count


def _of(program: Program, places: Places, *codes: int) -> Ints:
    """Return the ops with one of these codes whose type has bits."""
    return _with_bits(places, np.flatnonzero(np.isin(program.columns.code, codes)))


def _bit(places: Places, ops: Ints, value: int, otherwise: int) -> Ints:
    """Return the places that record that the MSB of ``ops`` was ``value``; ``otherwise`` for ops without bits."""
    widths = places.widths[ops]
    return np.where(widths > 0, places.at[ops] + (1 + value) * widths - 1, otherwise)


def _add_muxes(made: _Columns, program: Program, places: Places, never: int, always: int) -> None:
    muxes = _of(program, places, *MUXES)
    conditions = low_int32(program.columns.data[muxes])
    made.add("mux condition", muxes, 0, _bit(places, conditions, 1, never), never)
    made.add("mux condition", muxes, 1, _bit(places, conditions, 0, always), never)
    for number in range(2):
        made.add("mux arm", muxes, number, places.more[muxes] + ARM + number, never)


def _add_relus(made: _Columns, program: Program, places: Places, never: int, always: int) -> None:
    for code in RELUS:
        relus = _of(program, places, code)
        operands = program.columns.id0[relus]
        widths, at = places.widths[operands], places.at[operands]
        negative = np.where(program.columns.k[operands] == 1, _bit(places, operands, 1, never), never)
        positive = np.where(widths > 0, at + 2 * widths + 1, never)
        zero = np.where(widths > 0, at + 2 * widths, always)
        sides = (negative, zero, positive) if code == Code.RELU else (positive, zero, negative)
        for number, place in enumerate(sides):
            made.add("relu", relus, number, place, never)


def _add_changes(made: _Columns, program: Program, places: Places, never: int) -> None:
    """Add the wraps and truncations of ops that quantise; a relu never quantises negative values."""
    ops = _of(program, places, *RELUS, *QUANTISATIONS, *MUXES)
    for name, change in (("wrap", WRAPPED), ("truncation", LOST)):
        at = places.more[ops] + change
        made.add(name, ops, 0, at, at + 1)
        made.add(name, ops, 1, at + 2, never)
        if name == "truncation":
            below = ~np.isin(program.columns.code[ops], RELUS)
            made.add(name, ops[below], 2, at[below], never)


def _add_entries(made: _Columns, program: Program, places: Places, never: int) -> None:
    lookups = _of(program, places, Code.LOOKUP)
    sizes = places.at[lookups + 1] - places.more[lookups]
    owners, which = _counted(lookups, sizes)
    made.add("table entry", owners, which, np.repeat(places.more[lookups], sizes) + which, never)
