"""Search for places in RTL that may be wrong, each with the op whose values it should carry; the likeliest first.

From a wrong output, the search goes back through places that carry no op's values, and ends at those whose operands
all carry the right ones. Ops that nothing carries, though something carries their operands, tell of further places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.frontier.matching import Matching
from dais_verif.prover.frontier.values import Place, as_number, is_constant, key_of
from dais_verif.prover.limits import require_time
from dais_verif.prover.netlist import Read, Signal
from dais_verif.prover.op_semantics import bits_of, interpret_op
from dais_verif.prover.random_simulation import Trace
from dais_verif.prover.terms import Term, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.spec.program import Op
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Candidate", "Search"]

#: The largest number of places that the search visits.
_MOST = 20_000
#: The largest number of places between a wrong reader and the one that should carry an op.
_STEPS = 20
#: How far the search for a wrong operand goes.
_NEAR = 5
#: The largest number of first places and of ops that are looked at: with more, the RTL is of another program.
_FINDINGS = 8
#: How many places are looked at for the low bits of an op, and how many bits these are at least.
_NARROW, _LOW_BITS = 40, 4


class Candidate(NamedTuple):
    """A place that may be wrong, and the op whose values it should carry, if that is known.

    ``sure``: if all outputs are right then, the place is wrong; else it may be one on their way only.
    """

    place: Place
    op: int | None
    sure: bool = True


class Search:
    """The search from the wrong outputs ``roots``: their places, and the ops that they should carry."""

    def __init__(self, matching: Matching, found: Trace, roots: Mapping[int, tuple[Place, ...]]) -> None:
        self._matching, self._found = matching, found
        self._program, self._structure = matching.program, matching.structure
        self._starts = [place for places in roots.values() for place in places]
        self.visited = self._back(self._starts)
        ends = [self._program.outputs[j][0] for j in roots if self._program.outputs[j][0] >= 0]
        self._cone = set(cone(self._program, ends))
        self.lost = matching.lost(ends)[:_FINDINGS]

    @cached_property
    def first(self) -> list[Place]:
        """The wrong places whose operands are right."""
        return self._earliest([place for place in self.visited if self._is_first(place)])[:_FINDINGS]

    def candidates(self) -> Iterator[Candidate]:
        """Yield places that may be wrong, the likelier ones first.

        Before places that should carry a lost op come those that should carry one of its operands.
        """
        yield from self._negated()
        yield from self.likely()
        wanted = dict.fromkeys(operand for op in self.lost for operand in self._program.ops[op].operands)
        for place in self.first:
            for operand in wanted:
                if self._fits_in(place, operand):
                    yield Candidate(place, operand)
        for op in self.lost:
            yield from (Candidate(Place.whole(signal), op) for signal in self._depending(op)[:_STEPS])
        for op in self.lost:
            yield from (Candidate(place, op) for place in self.first)
            yield from (Candidate(place, op) for place in self._bits_like(op))
        for place in self._constants:  # what is stuck reads nothing
            yield from (Candidate(place, op) for op in (*self.lost, *wanted) if self._fits_in(place, op))
        for place in self.first:
            near = {op for read in self._structure.reads(place) for op in self._matching.ops(read) or ()}
            users = {user for op in near for user in self._matching.op_values.users[op]}
            fed = [user for user in users if self._matching.operands(user) <= near]
            yield from (Candidate(place, op, sure=False) for op in sorted(fed, reverse=True))

    def _narrow(self, place: Place) -> Iterator[Candidate]:
        """Yield an op of which a place has the low bits only."""
        if place.signal not in self._matching.wires.values or self._structure.is_alias(place):
            return
        bits = self._matching.numbers(place)[0]
        for op in sorted(self._cone):
            raw = self._matching.op_values.raw.get(op)
            if raw is None or self._program.ops[op].type.width <= place.width or place.width < _LOW_BITS:
                continue
            if np.array_equal(raw & ((1 << place.width) - 1), bits) and not is_constant(bits):
                yield Candidate(place, op)
                return

    def _fits_in(self, place: Place, op: int) -> bool:
        return 0 <= place.width - self._program.ops[op].type.width <= 1

    def _negated(self) -> Iterator[Candidate]:
        """Yield places that carry an op with the other sign, if none carries it as it is."""
        for op, signals in self._matching.carriers().items():
            if op in self._cone and not any(self._matching.is_exact(signal, op) for signal in signals):
                yield from (Candidate(Place.whole(signal), op) for signal in signals[:2])

    def _bits_like(self, op: int) -> Iterator[Place]:
        """Yield places of one bit, which are matched with some bit only, if the op has one."""
        if self._program.ops[op].type.width == 1:
            for place in map(Place.whole, list(self._matching.wires.values)):
                if place.width <= 2 and self._matching.ops(place) == () and not self._structure.is_alias(place):
                    yield place

    def likely(self) -> list[Candidate]:
        """Return the places that carry an op which is used wrongly, and those that read all operands of a lost op."""
        found: dict[Candidate, None] = {}
        for place in self.first:
            ops = self._of(place)
            behind = ((self._behind(place, op), op) for op in ops)
            found |= dict.fromkeys(Candidate(one, op) for one, op in behind if one is not None)
            found |= dict.fromkeys(one for op in ops for one in self._taken_instead(place, op))
            found |= dict.fromkeys(filter(self.computes, (Candidate(place, op) for op in ops)))
        return list(found)

    def guesses(self) -> list[Candidate]:
        """Return the first wrong places, and the nearest ones that should carry an op that is lost."""
        narrow = [one for place in self.visited[:_NARROW] for one in self._narrow(Place.whole(place.signal))]
        if narrow:
            return list(dict.fromkeys(narrow))
        found: dict[Candidate, None] = {}
        for place in self.first:
            found |= dict.fromkeys([Candidate(place, op) for op in self._of(place)] or [Candidate(place, None)])
        named = {one.op for one in found}
        for op in self.lost:
            carrier = None if op in named else self._carrier(op)
            if carrier is not None:
                found[Candidate(carrier, op)] = None
        return list(found)

    def _depending(self, op: int) -> list[Signal]:
        """Return signals that depend on operands of an op, not through other ops: those on most, the first of these.

        Sums of several terms need not be computed in one step, so what is between the operands may carry no op.
        """
        met: dict[Signal, int] = {}
        for operand in self._matching.operands(op):
            waiting = list(self._matching.carriers().get(operand, ()))
            if self._program.ops[operand].code == INPUT:
                waiting += self._matching.readers(self._program.ops[operand].id0)
            seen = set(waiting)
            for signal in waiting:  # the list grows while it is read
                for reader in self._matching.readers(signal):
                    if reader not in seen:
                        seen.add(reader)
                        if not self._matching.ops(Place.whole(reader)):
                            waiting.append(reader)
            for signal in seen.difference(self._matching.carriers().get(operand, ())):
                met[signal] = met.get(signal, 0) + 1
        order = {signal: number for number, signal in enumerate(self._matching.wires.values)}
        found = [signal for signal in met if not self._structure.is_alias(Place.whole(signal))]
        return sorted(found, key=lambda signal: (-met[signal], order[signal]))

    @cached_property
    def _constants(self) -> list[Place]:
        places = map(Place.whole, list(self._matching.wires.values))
        return [place for place in places if is_constant(self._matching.bits(place))]

    def computes(self, candidate: Candidate) -> bool:
        """Return whether all that a place reads are operands of the op that it should carry, and it reads them all."""
        if candidate.op is None:
            return False
        operands, telling = self._matching.operands(candidate.op), self._matching.telling(candidate.place)
        return bool(telling) and all(ops & operands for ops in telling) and operands <= set().union(*telling)

    def _carrier(self, op: int) -> Place | None:
        """Return the place nearest to the outputs that reads all operands of an op, but carries other values."""
        operands = self._matching.operands(op)
        seen = dict.fromkeys(self._starts)
        for place in (waiting := list(self._starts)):  # the list grows while it is read
            telling = [ops & operands for ops in self._matching.telling(place)]
            if operands and all(telling) and set().union(*telling) == operands and not self._structure.is_wiring(place):
                return place
            for read in self._structure.reads(place):
                if read not in seen and len(seen) < _MOST and not self._structure.is_given(read):
                    seen[read] = None
                    waiting.append(read)
        return None

    def _earliest(self, places: list[Place]) -> list[Place]:
        """Return those of ``places`` that read no other of them, even through others that are wrong."""
        chosen = set(places)
        return [place for place in places if not chosen.intersection(self._back(self._wrong_reads(place)))]

    def _wrong_reads(self, place: Place) -> list[Place]:
        return [read for read in self._structure.reads(place) if not self._matching.is_right(read)]

    def _is_first(self, place: Place) -> bool:
        """Return whether a place is wrong, but what it reads is right; taking the wrong bits is a reader's fault."""
        if self._matching.is_right(place) or (self._structure.is_unaligned(place) and self._structure.is_wiring(place)):
            return False
        return all(map(self._leaves_right, self._structure.reads(place)))

    def _leaves_right(self, read: Place) -> bool:
        """Return whether a read is right, or takes the wrong bits of signals that are right."""
        if self._matching.is_right(read):
            return True
        return self._structure.is_unaligned(read) and all(map(self._fits, self._structure.driven(read)))

    def _fits(self, place: Place) -> bool:
        if self._matching.is_right(place):
            return True
        return self._structure.is_wiring(place) and all(map(self._fits, self._structure.reads(place)))

    def _of(self, place: Place) -> list[int]:
        """Return the lost ops whose values a wrong place, or one that it reads, should carry."""
        near = {op for read in self._structure.reads(place) for op in self._matching.ops(read) or ()}
        telling = self._matching.telling(place)
        computed = [i for i in self.lost if telling and all(ops & {*self._program.ops[i].operands} for ops in telling)]
        fed = [i for i in self.lost if self._is_fed(i, near)]
        return computed or fed or list(self.lost if len(self.lost) == 1 else ())

    def _is_fed(self, op: int, near: set[int]) -> bool:
        """Return whether a signal that carries ``near`` feeds the operands of an op that take part in it."""
        operands = self._matching.operands(op)
        return bool(operands & near) if operands else not near

    def _back(self, starts: Iterable[Place]) -> list[Place]:
        """Return the places on paths to ``starts`` that carry no op's values, and ``starts``."""
        seen = dict.fromkeys(starts)
        waiting = list(seen)
        while waiting and len(seen) < _MOST:
            for read in self._structure.reads(waiting.pop()):
                if read not in seen and not self._matching.is_right(read):
                    seen[read] = None
                    waiting.append(read)
        return list(seen)

    # A wrong operand.

    def _behind(self, place: Place, op: int) -> Place | None:
        """Return the place that should carry ``op``, but carries another op's values, if ``place`` is right otherwise.

        It is, if it or what reads it holds the value that a user of the op has with the wrong operand.
        """
        users = [self._program.ops[user] for user in self._matching.op_values.users[op]]
        keys = {key_of(raw) for one in self._onward(place) for raw in self._numbers(one)}
        for one in self._backward(place):
            if one.width == self._program.ops[op].type.width and not is_constant(self._matching.bits(one)):
                bits = self._matching.wires.evaluated(partial(_read, place=one))
                if any(key_of(self._applied(user, op, bits)) in keys for user in users):
                    return self._origin(one)
        return None

    def _taken_instead(self, place: Place, op: int) -> Iterator[Candidate]:
        """Yield what only passes values on to ``place``: for each operand of ``op`` that it lacks, and for ``op``."""
        lacking = sorted(self._matching.operands(op).difference(*self._matching.telling(place)))
        for read in self._structure.reads(place):
            chain, one = list[Place](), read
            for _ in range(_STEPS):
                reads = self._structure.reads(one)  # a sign bit may be read beside the whole
                if len({read.signal for read in reads}) != 1 or self._structure.is_given(one):
                    break
                chain.append(one)
                one = max(reads, key=_width)
            yield from (Candidate(other, operand) for other in reversed(chain) for operand in lacking)
            yield from (Candidate(other, op) for other in chain if not self._matching.is_shared(other))

    def _numbers(self, place: Place) -> tuple[NDArray[Any], ...]:
        bits, signed = self._matching.numbers(place)
        return bits, signed, -bits, -signed

    @cached_property
    def _readers(self) -> dict[Place, list[Place]]:
        """The visited places that read each place."""
        found: dict[Place, list[Place]] = {}
        for one in self.visited:
            for read in self._structure.reads(one):
                found.setdefault(read, []).append(one)
        return found

    def _onward(self, place: Place, steps: int = _NEAR) -> list[Place]:
        """Return ``place`` and the wrong places that read it, some steps on."""
        require_time()
        found, reached = {place: None}, [place]
        for _ in range(steps):
            reached = list(dict.fromkeys(reader for one in reached for reader in self._readers.get(one, ())))
            found |= dict.fromkeys(reached)
        return list(dict.fromkeys([*found, *(Place.whole(one.signal) for one in found)]))

    def _backward(self, place: Place) -> list[Place]:
        """Return what ``place`` reads, some steps back, whole signals instead of parts."""
        found: dict[Place, None] = {}
        reached = [place]
        for _ in range(_NEAR):
            reads = [read for one in reached for read in self._structure.reads(one) if read.signal.drivers]
            reached = list(dict.fromkeys(Place.whole(read.signal) for read in reads))
            found |= dict.fromkeys(reached)
        return list(found)

    def _origin(self, place: Place) -> Place:
        """Return where the wrong values of ``place`` come from.

        If they are computed in two places, one of them is wrong, else the reader that takes them from elsewhere.
        """
        twice = any(len(self._matching.computed(op)) > 1 for op in self._matching.ops(place) or ())
        for _ in range(_STEPS):
            reads = self._structure.reads(place)
            if len(reads) != 1 or not reads[0].signal.drivers or (not twice and self._matching.is_shared(reads[0])):
                break
            (place,) = reads
        return place

    def _applied(self, op: Op, operand: int, bits: NDArray[Any]) -> NDArray[Any]:
        """Return the values of ``op`` if its ``operand`` has the given ``bits``."""
        types = [self._program.ops[i].type for i in op.operands]
        terms = [var(bits_of(kind), f"v{n}") for n, kind in enumerate(types)]
        columns = [bits if i == operand else self._found.values[i] for i in op.operands]
        meant = interpret_op(self._program, op, terms, None)
        (value,) = evaluate([meant.value], dict(zip(terms, columns, strict=True)))
        value = np.broadcast_to(value, (self._found.rows,))[self._matching.op_values.kept]
        return as_number(value, op.type.width, op.type.k)


def _width(place: Place) -> int:
    return place.width


def _read(read: Read, place: Place) -> Term:
    return read(*place)
