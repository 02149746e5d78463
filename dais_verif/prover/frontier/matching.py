"""Match places in RTL with ops by the values that they carry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.frontier.structure import Structure
from dais_verif.prover.frontier.values import OpValues, Place, as_number, bit_key, is_constant, key_of
from dais_verif.prover.netlist import Read, Signal
from dais_verif.prover.random_simulation import Wires
from dais_verif.prover.terms import Term
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Matching"]


class Matching:
    """The ops whose values places carry."""

    def __init__(self, program: Program, values: OpValues, structure: Structure, wires: Wires) -> None:
        self.program, self.op_values, self.structure, self.wires = program, values, structure, wires
        self._known: dict[Place, tuple[int, ...] | None] = {}
        self._readers: dict[Signal | int, list[Signal]] = {}
        self._computing: dict[int, list[Signal]] | None = None
        #: The ops of inputs that are taken from ports.
        self._taken: set[int] = set()
        self._carriers: dict[int, list[Signal]] | None = None

    def bits(self, place: Place) -> NDArray[Any]:
        """Return the bits of a place on the vectors that are looked at."""
        known = self.wires.values.get(place.signal)
        if known is None:
            known = self.wires.evaluated(partial(_read, place=place))
        elif place.width < place.signal.width:
            word = np.uint64 if known.dtype == np.uint64 else int
            known = (known >> word(place.low)) & word((1 << place.width) - 1)
        found: NDArray[Any] = known[self.op_values.kept]
        return found

    def numbers(self, place: Place) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the bits of a place as unsigned and as signed numbers."""
        bits = self.bits(place)
        return as_number(bits, place.width, 0), as_number(bits, place.width, 1)

    def is_right(self, place: Place) -> bool:
        """Return whether a place carries an input, a constant, or the values, or a bit, of an op."""
        return self.ops(place) is not None

    def ops(self, place: Place) -> tuple[int, ...] | None:
        """Return the ops whose values a place carries; empty if it carries a bit of one; None if none."""
        if place not in self._known:
            self._known[place] = self._ops_of(place)
        return self._known[place]

    def _ops_of(self, place: Place) -> tuple[int, ...] | None:
        given = self.structure.is_given(place)
        if place.signal in self.structure.boundary.others or not (place.signal.drivers or given):
            return ()
        if given:
            taken = self._matched(place) or ()
            self._taken.update(taken)
            return taken
        found = self._matched(place)
        whole = Place.whole(place.signal)
        if found is None and place != whole and place.signal in self.wires.values:
            found = self._matched(whole)
        return found

    def _matched(self, place: Place) -> tuple[int, ...] | None:
        numbers = self.numbers(place)
        if is_constant(numbers[0]):
            return self._constant(place)
        for raw in numbers:
            if ops := self.op_values.ops.get(key_of(raw)):
                return tuple(ops)
        return () if place.width == 1 and bit_key(numbers[0]) in self.op_values.bits else None

    def _constant(self, place: Place) -> tuple[int, ...] | None:
        """Return the ops of a constant: made of constants alone it may be wrong, and then its readers are.

        Else there must be an op of that value whose operands it reads.
        """
        reads = self.structure.reads(place)
        if all(self.ops(read) == () and is_constant(self.bits(read)) for read in reads):
            return ()
        near = {op for read in reads for op in self.ops(read) or ()}
        values = {int(raw[0]) for raw in self.numbers(place) if len(raw)}
        users = {user for op in near for user in self.op_values.users[op]}
        raw = self.op_values.raw
        found = (op for op in sorted(users) if op in raw and is_constant(raw[op]) and int(raw[op][0]) in values)
        return tuple(found) or None

    def carriers(self) -> dict[int, list[Signal]]:
        """Return the signals that carry the values of each op that is carried."""
        if self._carriers is None:
            found = defaultdict[int, list[Signal]](list)
            for signal in list(self.wires.values):
                for op in self.ops(Place.whole(signal)) or ():
                    found[op].append(signal)
            self._carriers = dict(found)
        return self._carriers

    def lost(self, roots: Iterable[int]) -> list[int]:
        """Return the first ops of the cones of ``roots`` that no signal carries: all their operands are carried.

        An operand may itself be one of these, since RTL need not have a signal for every op: it compares numbers, where
        a program looks at the sign of a difference.
        """
        carried, raw = self.carriers(), self.op_values.raw
        first: set[int] = set()
        found = []
        for i in cone(self.program, [root for root in roots if root >= 0]):
            if i not in raw or i in carried or i in self._taken or is_constant(raw[i]):
                continue
            there = [o in carried or o not in raw or self._is_given(o) for o in self.program.ops[i].operands]
            if all(there):
                first.add(i)
            if all(is_there or o in first for is_there, o in zip(there, self.program.ops[i].operands, strict=True)):
                found.append(i)
        return found

    def is_exact(self, signal: Signal, op: int) -> bool:
        """Return whether a signal carries an op as it is, up to shift, not negated."""
        key = key_of(self.op_values.raw[op])
        return any(key_of(raw) == key for raw in self.numbers(Place.whole(signal)))

    def _is_given(self, op: int) -> bool:
        return self.program.ops[op].code == INPUT or is_constant(self.op_values.raw[op])

    def operands(self, op: int) -> set[int]:
        """Return the operands of an op whose values vary."""
        raw = self.op_values.raw
        return {i for i in self.program.ops[op].operands if i in raw and not is_constant(raw[i])}

    def telling(self, place: Place) -> list[set[int]]:
        """Return the ops that a place may read: a set for each of its reads that carries any."""
        return [set(ops) for read in self.structure.reads(place) if (ops := self.ops(read))]

    def computed(self, op: int) -> list[Signal]:
        """Return the signals that carry an op's values and read no signal that does."""
        if self._computing is None:
            self._computing = defaultdict(list)
            for signal in list(self.wires.values):
                whole = Place.whole(signal)
                before = {one for read in self.structure.reads(whole) for one in self.ops(read) or ()}
                for one in set(self.ops(whole) or ()) - before:
                    self._computing[one].append(signal)
        return self._computing[op]

    def readers(self, signal: Signal | int) -> list[Signal]:
        """Return the signals that read a signal, or an input of the program."""
        if not self._readers:
            self._readers = defaultdict(list)
            for reader, sources in self.wires.sources.items():
                for source in dict.fromkeys(sources):
                    self._readers[source].append(reader)
        return self._readers.get(signal, [])

    def is_shared(self, place: Place) -> bool:
        """Return whether several signals read some of these bits."""
        count = 0
        for reader in self.readers(place.signal):
            reads = self.structure.reads(Place.whole(reader))
            count += any(
                read.signal is place.signal and read.low < place.low + place.width and place.low < read.low + read.width
                for read in reads
            )
        return count > 1


def _read(read: Read, place: Place) -> Term:
    return read(*place)
