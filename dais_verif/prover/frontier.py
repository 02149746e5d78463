"""Find the lines of RTL that are wrong: the first signals, from the inputs on, that carry the values of no op.

Signals and ops are matched by their values on many vectors, up to sign, shift and width. From a wrong output, the
search goes back through signals that carry no op's values, and ends at those whose operands all carry the right ones:
there, and not before, a value goes wrong. This is a finding about values, not a proof.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.registers.control_inference import infer_controls
from dais_verif.prover.clocked.registers.delay_lines import straighten
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.limits import require_time
from dais_verif.prover.netlist import Cone, Netlist, Read, Signal
from dais_verif.prover.op_semantics import bits_of, interpret_op
from dais_verif.prover.random_simulation import Trace, Wires, differing_outputs, random_vectors, trace
from dais_verif.prover.terms import Term, leaves, nodes, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Carried", "Frontier", "Moved", "WrongSignal", "find_frontier"]

_ROWS = 256
#: The largest number of signals that the search visits.
_MOST = 20_000
#: The largest number of signals between a wrong reader and the signal that should carry an op.
_STEPS = 20
#: How far the search for a wrong operand goes.
_NEAR = 5
_WIRING = ("const", "concat", "extract", "var")
#: The largest number of first signals and of ops that are looked at: with more, the RTL is of another program.
_FINDINGS = 8

#: The values of some bits on all vectors, without common trailing zeros: a key under which equal values meet.
_Key = bytes


class _Place(NamedTuple):
    """Bits ``low .. low + width - 1`` of a signal."""

    signal: Signal
    low: int
    width: int

    def __str__(self) -> str:
        if self.width == self.signal.width:
            return self.signal.name
        high = self.low + self.width - 1
        return f"{self.signal.name}[{high}:{self.low}]" if self.width > 1 else f"{self.signal.name}[{self.low}]"


@dataclass(frozen=True)
class Carried:
    """A signal that a wrong one reads, and the ops whose values it carries; none for an input port or a bit of one."""

    name: str
    ops: tuple[int, ...]


@dataclass(frozen=True)
class WrongSignal:
    """The first signal of a path whose values are not those that it should carry, assigned at ``where``.

    ``instance``: the line of the instance that contains it; ``of_module``: the assignment is right in no other instance
    of the module. ``missing``: the ops that no signal carries, and this one should. ``expected``: the raw integer of
    that op, if there is one, in a vector in which they differ, and ``found``: that of the signal.
    """

    name: str
    width: int
    where: str
    instance: str | None
    reads: tuple[Carried, ...]
    missing: tuple[int, ...]
    expected: int | None = None
    found: int | None = None
    of_module: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that may be wrong, the likelier one first."""
        if self.instance is None:
            return (self.where,)
        return (self.where, self.instance) if self.of_module else (self.instance, self.where)


@dataclass(frozen=True)
class Moved:
    """A wrong ``output`` that carries the right values of another output or op: ``outputs``, ``ops``."""

    output: int
    outputs: tuple[int, ...]
    ops: tuple[int, ...]
    where: str


@dataclass(frozen=True)
class Frontier:
    """What is wrong in a design: ``signals``, and outputs that are right values at the wrong place, ``moved``."""

    signals: tuple[WrongSignal, ...] = ()
    moved: tuple[Moved, ...] = ()


def find_frontier(
    program: Program, netlist: Netlist, dut: Dut, vector: Mapping[int, int] | None = None, seed: int = 0
) -> Frontier:
    """Return the frontier of ``netlist``, which is combinational or a pipeline; empty if no output is wrong.

    ``vector``: the bits of inputs at the ports, by number, in a vector that fails; it is tried beside random ones.
    Raises ``InputError`` for RTL that the prover cannot read, and ``OutOfTime`` after a time limit.
    """
    boundary = Boundary.of(program, netlist, dut)
    straighten(netlist, boundary)
    held = infer_controls(netlist, boundary, list(boundary.result_ports), dut.interface.clocking)
    boundary = boundary.holding({netlist.signals[name]: value for name, value in held.items()})
    vectors = random_vectors(boundary.inputs, _ROWS, seed)
    for number, bits in (vector or {}).items():
        vectors[number][0] = bits << (dut.ports.inputs[number].lo - boundary.inputs[number].lo)
    vectors = Assumptions(program, boundary.inputs).moved_inside(vectors)
    found = trace(program, boundary.inputs, vectors, _ROWS)
    kept = ~found.broken
    wrong = {j: rows & kept for j, rows in differing_outputs(program, boundary, netlist, {}, found)}
    wrong = {j: rows for j, rows in wrong.items() if rows.any()}
    if not wrong:
        return Frontier()
    return _Search(program, netlist, boundary, found, kept).frontier(wrong)


class _Search:
    """Values of ops and signals on vectors that keep the program's promises, and what signals read."""

    def __init__(
        self, program: Program, netlist: Netlist, boundary: Boundary, found: Trace, kept: NDArray[np.bool_]
    ) -> None:
        self._program, self._boundary, self._found, self._kept = program, boundary, found, kept
        self._wires = Wires(boundary, {s for s in netlist.signals.values() if s.drivers}, found, ones=False)
        self._raw: dict[int, NDArray[Any]] = {}
        self._ops: dict[_Key, list[int]] = defaultdict(list)
        self._bits: set[_Key] = set()
        for op in program.ops:
            if op.type.width:
                raw = self._raw[op.index] = _signed(
                    found.values[op.index][kept].astype(object), op.type.width, op.type.k
                )
                for key in {_key(raw), _key(-raw)}:
                    self._ops[key].append(op.index)
                self._bits |= _bit_keys(raw, op.type.width)
        self._wires_only: set[_Place] = set()
        self._readers: dict[Signal | int, list[Signal]] = defaultdict(list)
        self._computing: dict[int, list[Signal]] = defaultdict(list)
        #: The ops of inputs that are taken from ports.
        self._taken: set[int] = set()
        self._known: dict[_Place, tuple[int, ...] | None] = {}
        self._reads: dict[_Place, tuple[_Place, ...]] = {}

    def frontier(self, wrong: Mapping[int, NDArray[np.bool_]]) -> Frontier:
        ports = {output: self._port(output) for output in wrong}
        visited = self._back([place for places, _ in ports.values() for place in places])
        carried = self._all_carried()
        moved = []
        for output, (places, alike) in ports.items():
            index = self._program.outputs[output][0]
            if alike and (index < 0 or index in carried):
                others = (j for j, (op, _, _) in enumerate(self._program.outputs) if op in alike and j != output)
                moved.append(Moved(output, tuple(others), tuple(alike), _where(places[0]) if places else ""))
        elsewhere = {place for one in moved for place in ports[one.output][0]}
        first = self._earliest([place for place in visited if place not in elsewhere and self._is_first(place)])
        lost = self._lost({self._program.outputs[j][0] for j in wrong}, carried)[:_FINDINGS]
        found: dict[str, WrongSignal] = {}
        for place in first[:_FINDINGS]:
            ops = self._of(place, lost)
            behind = [one for op in ops if (one := self._behind(place, op, visited)) is not None]
            for one in behind or [place]:
                wrong_signal = self._described(one, ops, visited, lost)
                found.setdefault(wrong_signal.lines[0], wrong_signal)
        named = {op for one in found.values() for op in one.missing}
        for op in lost:
            starts = [place for places, _ in ports.values() for place in places]
            carrier = None if op in named else self._carrier(op, starts)
            if carrier is not None:
                wrong_signal = self._described(carrier, [op], visited, lost)
                found.setdefault(wrong_signal.lines[0], wrong_signal)
        inner = Counter(one.where for one in found.values())
        lines = [replace(one, of_module=one.of_module or inner[one.where] > 1) for one in found.values()]
        return Frontier(tuple(lines), tuple(moved))

    def _carrier(self, op: int, starts: list[_Place]) -> _Place | None:
        """Return the nearest place before ``starts`` that reads all operands of an op, but carries another's values."""
        operands = {i for i in self._program.ops[op].operands if i in self._raw and not _constant(self._raw[i])}
        seen = dict.fromkeys(starts)
        for place in (waiting := list(starts)):  # the list grows while it is read
            telling = [set(ops) & operands for read in self.reads(place) if (ops := self.ops(read))]
            if operands and all(telling) and set().union(*telling) == operands and not self._wiring(place):
                return place
            for read in self.reads(place):
                if read not in seen and len(seen) < _MOST and not self._boundary.is_input(read.signal):
                    seen[read] = None
                    waiting.append(read)
        return None

    def _earliest(self, places: list[_Place]) -> list[_Place]:
        """Return those of ``places`` that read no other of them, even through others that are wrong."""
        chosen = set(places)
        return [place for place in places if not chosen.intersection(self._back(self._wrong_reads(place)))]

    def _wrong_reads(self, place: _Place) -> list[_Place]:
        return [read for read in self.reads(place) if not self._right(read)]

    def _is_first(self, place: _Place) -> bool:
        """Return whether a place is wrong, but what it reads is right; taking the wrong bits is a reader's fault."""
        if self._right(place) or (self._unaligned(place) and self._wiring(place)):
            return False
        return all(map(self._leaves_right, self.reads(place)))

    def _of(self, place: _Place, lost: Sequence[int]) -> list[int]:
        """Return the ops of ``lost`` whose values a wrong place, or one that it reads, should carry."""
        near = {op for read in self.reads(place) for op in self.ops(read) or ()}
        computed = [i for i in lost if self._computes(place, i)]
        fed = [i for i in lost if self._fed(i, near)]
        return computed or fed or list(lost if len(lost) == 1 else ())

    def _computes(self, place: _Place, op: int) -> bool:
        """Return whether all that a place reads are operands of ``op``."""
        operands = self._program.ops[op].operands
        telling = [set(ops) for read in self.reads(place) if (ops := self.ops(read))]
        return bool(telling) and all(ops & {*operands} for ops in telling)

    def _behind(self, place: _Place, op: int, visited: Sequence[_Place]) -> _Place | None:
        """Return the place that should carry ``op``, but carries another op's values, if ``place`` is right otherwise.

        It is, if it or what reads it holds the value that a user of the op has with the wrong operand.
        """
        users = [other for other in self._program.ops if op in other.operands]
        keys = {_key(raw) for one in self._onward(place, visited) for raw in self._numbers(one)}
        for one in self._backward(place):
            if one.width == self._program.ops[op].type.width and not self._constant_at(one):
                bits = self._wires.evaluated(partial(_read, place=one))
                if any(_key(raw) in keys for user in users for raw in (self._applied(user, op, bits),)):
                    return self._origin(one)
        return None

    def _onward(self, place: _Place, visited: Sequence[_Place]) -> list[_Place]:
        """Return ``place`` and the wrong places that read it, some steps on."""
        require_time()
        found = {place: None}
        for _ in range(_NEAR):
            found |= {one: None for one in visited if any(read in found for read in self.reads(one))}
        return list(dict.fromkeys([*found, *(_Place(one.signal, 0, one.signal.width) for one in found)]))

    def _backward(self, place: _Place) -> list[_Place]:
        """Return what ``place`` reads, some steps back, whole signals instead of parts."""
        found: dict[_Place, None] = {}
        reached = [place]
        for _ in range(_NEAR):
            reads = [read for one in reached for read in self.reads(one) if read.signal.drivers]
            reached = [_Place(read.signal, 0, read.signal.width) for read in reads]
            found |= dict.fromkeys(reached)
        return list(found)

    def _origin(self, place: _Place) -> _Place:
        """Return where the wrong values of ``place`` come from.

        If they are computed in two places, one of them is wrong, else the reader that takes them from elsewhere.
        """
        twice = any(len(self._computed(op)) > 1 for op in self.ops(place) or ())
        for _ in range(_STEPS):
            reads = self.reads(place)
            if len(reads) != 1 or not reads[0].signal.drivers or (not twice and self._shared(reads[0])):
                break
            (place,) = reads
        return place

    def _computed(self, op: int) -> list[Signal]:
        """Return the signals that carry an op's values and read no signal that does."""
        if not self._computing:
            for signal in list(self._wires.values):
                whole = _Place(signal, 0, signal.width)
                before = {one for read in self.reads(whole) for one in self.ops(read) or ()}
                for one in set(self.ops(whole) or ()) - before:
                    self._computing[one].append(signal)
        return self._computing[op]

    def _applied(self, op: Op, operand: int, bits: NDArray[Any]) -> NDArray[Any]:
        """Return the values of ``op`` if its ``operand`` has the given ``bits``."""
        types = [self._program.ops[i].type for i in op.operands]
        terms = [var(bits_of(kind), f"v{n}") for n, kind in enumerate(types)]
        columns = [bits if i == operand else self._found.values[i] for i in op.operands]
        meant = interpret_op(self._program, op, terms, None)
        (value,) = evaluate([meant.value], dict(zip(terms, columns, strict=True)))
        value = np.broadcast_to(value, (self._found.rows,))[self._kept]
        return _signed(value.astype(object), op.type.width, op.type.k)

    def _numbers(self, place: _Place) -> tuple[NDArray[Any], ...]:
        bits = self._values(place)
        signed = _signed(bits, place.width, 1)
        return bits, signed, -bits, -signed

    def _constant_at(self, place: _Place) -> bool:
        return _constant(self._values(place))

    def _shared(self, place: _Place) -> bool:
        """Return whether several signals read some of these bits."""
        if not self._readers:
            for signal, sources in self._wires.sources.items():
                for source in dict.fromkeys(sources):
                    self._readers[source].append(signal)
        count = 0
        for reader in self._readers[place.signal]:
            reads = self.reads(_Place(reader, 0, reader.width))
            count += any(
                read.signal is place.signal and read.low < place.low + place.width and place.low < read.low + read.width
                for read in reads
            )
        return count > 1

    def _lost(self, roots: set[int], carried: set[int]) -> list[int]:
        """Return the first ops of the cones of ``roots`` that no signal carries: all their operands are carried."""
        cones = cone(self._program, [root for root in roots if root >= 0])
        return [
            i
            for i in cones
            if i in self._raw
            and i not in carried
            and i not in self._taken
            and not _constant(self._raw[i])
            and all(o in carried or o not in self._raw or self._given(o) for o in self._program.ops[i].operands)
        ]

    def _given(self, op: int) -> bool:
        return self._program.ops[op].code == INPUT or _constant(self._raw[op])

    def _leaves_right(self, read: _Place) -> bool:
        """Return whether a read is right, or takes the wrong bits of signals that are right."""
        return self._right(read) or (self._unaligned(read) and all(map(self._fits, self._aligned(read))))

    def _fits(self, place: _Place) -> bool:
        return self._right(place) or (self._wiring(place) and all(map(self._fits, self.reads(place))))

    def _aligned(self, place: _Place) -> list[_Place]:
        drivers = place.signal.driving(place.low, place.width)
        return [_Place(place.signal, driver.low, driver.width) for driver in drivers]

    def _unaligned(self, place: _Place) -> bool:
        return place.width < place.signal.width and place not in self._aligned(place)

    def _wiring(self, place: _Place) -> bool:
        """Return whether a place only passes on bits of what it reads."""
        self.reads(place)
        return place in self._wires_only

    def _port(self, output: int) -> tuple[list[_Place], list[int]]:
        """Return the places of an output at the ports, and the ops whose values it carries."""
        places: list[_Place] = []

        def read(signal: Signal, low: int, width: int) -> Term:
            places.append(_Place(signal, low, width))
            return var(width, f"place {len(places)}")

        self._boundary.result(output, read)
        bits = self._wires.evaluated(lambda given: self._boundary.result(output, given))[self._kept].astype(object)
        if _constant(bits):
            return places, []
        both = (bits, _signed(bits, self._boundary.outputs[output].width, 1))
        return places, [op for raw in both for op in self._ops.get(_key(raw), ())]

    def _back(self, starts: Sequence[_Place]) -> list[_Place]:
        """Return the places on paths to ``starts`` that carry no op's values, and ``starts``."""
        seen = dict.fromkeys(starts)
        waiting = list(starts)
        while waiting and len(seen) < _MOST:
            for read in self.reads(waiting.pop()):
                if read not in seen and not self._right(read):
                    seen[read] = None
                    waiting.append(read)
        return list(seen)

    def reads(self, place: _Place) -> tuple[_Place, ...]:
        """Return the bits of signals that drive a place."""
        require_time()
        if place not in self._reads:
            self._reads[place] = tuple(self._read_by(place))
        return self._reads[place]

    def _read_by(self, place: _Place) -> Iterator[_Place]:
        read: dict[Term, _Place] = {}
        first = True

        def cut(signal: Signal, low: int, width: int) -> Term | None:
            nonlocal first
            if first:
                first = False
                return None
            term = var(width, f"{signal.name} {low} {width}")
            read[term] = _Place(signal, low, width)
            return term

        term = Cone(cut).read(*place)
        if all(t.op in _WIRING or t in read for t in nodes(term)):
            self._wires_only.add(place)
        live = set(leaves(term))  # their own order depends on earlier proofs
        yield from dict.fromkeys(place for t, place in read.items() if t in live)

    def _right(self, place: _Place) -> bool:
        """Return whether a place carries an input, a constant, or the values, or a bit, of an op."""
        return self.ops(place) is not None

    def ops(self, place: _Place) -> tuple[int, ...] | None:
        """Return the ops whose values a place carries; empty if it carries a bit of one; None if none."""
        if place not in self._known:
            self._known[place] = self._ops_of(place)
        return self._known[place]

    def _ops_of(self, place: _Place) -> tuple[int, ...] | None:
        if place.signal in self._boundary.others or not (place.signal.drivers or self._boundary.is_input(place.signal)):
            return ()
        if self._boundary.is_input(place.signal):
            taken = self._matched(place) or ()
            self._taken.update(taken)
            return taken
        found = self._matched(place)
        whole = _Place(place.signal, 0, place.signal.width)
        if found is None and place != whole and place.signal in self._wires.values:
            found = self._matched(whole)
        return found

    def _matched(self, place: _Place) -> tuple[int, ...] | None:
        bits = self._values(place)
        if _constant(bits):  # what is made of constants alone may be wrong: then its readers are
            return (
                ()
                if all(self.ops(read) == () and _constant(self._values(read)) for read in self.reads(place))
                else None
            )
        for raw in (bits, _signed(bits, place.width, 1)):
            if ops := self._ops.get(_key(raw)):
                return tuple(ops)
        return () if place.width == 1 and _key(bits) in self._bits else None

    def _values(self, place: _Place) -> NDArray[Any]:
        values = self._wires.evaluated(partial(_read, place=place))
        found: NDArray[Any] = values[self._kept].astype(object)
        return found

    def _all_carried(self) -> set[int]:
        """Return the ops whose values some signal carries."""
        carried: set[int] = set()
        for signal in list(self._wires.values):
            carried.update(self.ops(_Place(signal, 0, signal.width)) or ())
        return carried

    def _described(
        self, place: _Place, missing: Sequence[int], visited: Sequence[_Place], lost: Sequence[int]
    ) -> WrongSignal:
        reads = tuple(Carried(str(read), self.ops(read) or ()) for read in self.reads(place))
        expected = found = None
        if len(missing) == 1:
            wanted, own = self._raw[missing[0]], self._values(place)
            if self._program.ops[missing[0]].type.k:
                own = _signed(own, place.width, 1)
            row = int(np.argmax(wanted != own))
            expected, found = int(wanted[row]), int(own[row])
        instance = self._instance(place)
        of_module = instance is not None and not self._right_elsewhere(place, visited, lost)
        return WrongSignal(
            str(place), place.width, _where(place), instance, reads, tuple(missing), expected, found, of_module
        )

    def _fed(self, op: int, near: set[int]) -> bool:
        """Return whether a signal that carries ``near`` feeds the operands of an op that take part in it."""
        operands = {o for o in self._program.ops[op].operands if o in self._raw and not _constant(self._raw[o])}
        return bool(operands & near) if operands else not near

    def _instance(self, place: _Place) -> str | None:
        """Return the line of the innermost instance that holds a place; None in the top module."""
        scope = place.signal.name.rpartition(".")[0]
        while scope:
            inside = (_Place(s, 0, s.width) for s in self._wires.values if s.name.startswith(f"{scope}."))
            for one in inside:
                if any(not read.signal.name.startswith(f"{scope}.") for read in self.reads(one)):
                    return _where(one)
            scope = scope.rpartition(".")[0]
        return None

    def _right_elsewhere(self, place: _Place, visited: Sequence[_Place], lost: Sequence[int]) -> bool:
        """Return whether the assignment of a place is right in another instance, or for what it reads there."""
        where, scope = _where(place), place.signal.name.rpartition(".")[0]
        others = (_Place(s, 0, s.width) for s in self._wires.values if s.name.rpartition(".")[0] != scope)
        return any(
            _where(one) == where
            and (self._right(one) or any(self._behind(one, op, visited) is not None for op in lost))
            for one in others
        )


def _read(read: Read, place: _Place) -> Term:
    return read(*place)


def _where(place: _Place) -> str:
    driver = next(place.signal.driving(place.low, place.width), None)
    return place.signal.where if driver is None else driver.where


def _signed(bits: NDArray[Any], width: int, signed: int) -> NDArray[Any]:
    if not signed or not width:
        return bits
    half = 1 << (width - 1)
    found: NDArray[Any] = (bits ^ half) - half
    return found


def _constant(values: NDArray[Any]) -> bool:
    return bool((values == values[0]).all()) if len(values) else True


def _key(values: NDArray[Any]) -> _Key:
    """Return a key of the values, without the zeros at the end that all have."""
    union = 0
    for value in values.tolist():
        union |= value
    shift = (union & -union).bit_length() - 1 if union else 0
    moved = [value >> shift for value in values.tolist()]
    return repr(moved).encode()


def _bit_keys(raw: NDArray[Any], width: int) -> set[_Key]:
    found = set()
    for bit in range(width):
        column = (raw >> bit) & 1
        if not _constant(column):
            found |= {_key(column), _key(1 - column)}
    return found
