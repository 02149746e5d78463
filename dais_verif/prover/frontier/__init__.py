"""Find the lines of RTL that are wrong: the first signals, from the inputs on, that carry the values of no op.

Signals and ops are matched by their values on many vectors, up to sign, shift and width. A finding is tried: with the
op's values at the signal, the outputs must be right. This is a finding about values, not a proof.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError
from dais_verif.base.text import counted
from dais_verif.hardware.ports.interface import Clocking, Dut
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.registers.latency import OutOfStep, ages_of, infer_timing, untimely_registers
from dais_verif.prover.frontier.findings import Carried, Frontier, Moved, Untimely, WrongSignal
from dais_verif.prover.frontier.interface import exchanged_outputs, wrong_inputs
from dais_verif.prover.frontier.lines import Lines
from dais_verif.prover.frontier.matching import Matching
from dais_verif.prover.frontier.mended import Mended, boundary_of
from dais_verif.prover.frontier.search import Candidate, Search
from dais_verif.prover.frontier.structure import Structure
from dais_verif.prover.frontier.trials import State, Trials
from dais_verif.prover.frontier.values import OpValues, Place, as_number, key_of, where
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.netlist import Netlist, Read, Signal
from dais_verif.prover.random_simulation import WORD, Columns, Trace, Wires, differs, random_vectors, trace
from dais_verif.prover.terms import Term
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import Code

__all__ = ["Carried", "Frontier", "Moved", "Untimely", "WrongSignal", "find_frontier"]

_ROWS = 256
#: If fewer rows are wrong, more vectors like these are drawn.
_FEW = 16
#: The largest number of places that are tried for one finding, and of findings.
_TRIALS, _FINDINGS = 80, 8
#: After so many seconds of trials, what is left is a guess.
_SECONDS = 8.0
#: How far back, and how many, signals are named beside a wrong one.
_STEPS, _NEAR = 2, 8
#: The largest number of wires and registers in a row.
_LONGEST = 32


def find_frontier(
    program: Program, netlist: Netlist, dut: Dut, vector: Mapping[int, int] | None = None, seed: int = 0
) -> Frontier:
    """Return the frontier of ``netlist``, which is combinational or a pipeline; empty if no output is wrong.

    ``vector``: the bits of inputs at the ports, by number, in a vector that fails; it is tried beside random ones.
    Raises ``InputError`` for RTL that the prover cannot read, and ``OutOfTime`` after a time limit.
    """
    boundary = boundary_of(program, netlist, dut)
    vectors = random_vectors(boundary.inputs, _ROWS, seed)
    for number, bits in (vector or {}).items():
        vectors[number][0] = bits << (dut.ports.inputs[number].lo - boundary.inputs[number].lo)
    design = _Design(program, netlist, boundary, dut)
    found, wires, wrong = design.compared(Assumptions(program, boundary.inputs).moved_inside(vectors))
    failing = np.flatnonzero(np.logical_or.reduce([*wrong.values(), np.zeros(found.rows, dtype=bool)]))
    if 0 < len(failing) < _FEW:
        more = _like(found.inputs, failing, [one.width for one in boundary.inputs], seed)
        found, wires, wrong = design.compared(Assumptions(program, boundary.inputs).moved_inside(more))
    if not wrong:
        return _untimely(netlist, boundary, dut.interface.clocking, found.rows)
    return _Findings(design, found, wires, wrong).frontier()


def _untimely(netlist: Netlist, boundary: Boundary, said: Clocking | None, vectors: int) -> Frontier:
    """Return what is wrong with the registers of RTL whose values are right if registers are wires."""
    registers = any(driver.clock for signal in netlist.signals.values() for driver in signal.drivers)
    if not registers:
        return Frontier(vectors=vectors)
    timing = None
    try:
        found = infer_timing(netlist, boundary, [], said)
        if found is not None and said is not None and said.latency not in (None, found.latency):
            timing = f"the design has a latency of {counted(found.latency, 'edge')}, not of {said.latency}"
    except OutOfStep as error:
        timing = str(error)
    if timing is None:
        return Frontier(vectors=vectors)
    late = untimely_registers(netlist, boundary, said)[:_FINDINGS]
    untimely = tuple(Untimely(one.name, where(Place.whole(one)), edges) for one, edges in late)
    return Frontier(vectors=vectors, timing=timing, untimely=untimely)


def _like(vectors: Columns, rows: NDArray[Any], widths: list[int], seed: int) -> Columns:
    """Return the vectors, and variants of those in ``rows``: each with other bits in one or two inputs."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(rows, _ROWS)
    columns = [np.concatenate([column, column[chosen]]) for column in vectors]
    given = [number for number, width in enumerate(widths) if width]
    for row in range(len(vectors[0]) if vectors else 0, len(columns[0]) if columns else 0):
        for _ in range(int(rng.integers(0, 3))):
            number = int(rng.choice(given))
            columns[number][row] ^= 1 << int(rng.integers(widths[number]))
    return columns


class _Design:
    """A netlist and the program that it should compute."""

    def __init__(self, program: Program, netlist: Netlist, boundary: Boundary, dut: Dut) -> None:
        self.program, self.netlist, self.boundary, self.dut = program, netlist, boundary, dut
        self.structure = Structure(boundary)

    def compared(self, vectors: Columns) -> tuple[Trace, Wires, dict[int, NDArray[np.bool_]]]:
        """Return the values of ops and signals on ``vectors``, and the rows in which wrong outputs are wrong."""
        rows = len(vectors[0]) if vectors else _ROWS
        found = trace(self.program, self.boundary.inputs, vectors, rows)
        driven = {signal for signal in self.netlist.signals.values() if signal.drivers}
        both = [Wires(self.boundary, driven, found, ones) for ones in (False, True)]
        wrong = {j: differs(self.program, self.boundary, j, both, found) & ~found.broken for j in self.boundary.claimed}
        for signal in driven:  # what nothing reads may be what should be read
            if signal not in both[0].values and signal.width <= WORD:
                with suppress(InputError):
                    both[0].evaluated(partial(_whole, signal=signal))
        return found, both[0], {j: rows for j, rows in wrong.items() if rows.any()}


def _whole(read: Read, signal: Signal) -> Term:
    return read(signal, 0, signal.width)


class _Findings:
    """The findings for the ``wrong`` outputs: one after the other, each tried, until all outputs are right."""

    def __init__(self, design: _Design, found: Trace, wires: Wires, wrong: Mapping[int, NDArray[np.bool_]]) -> None:
        self._program, self._structure, self._found = design.program, design.structure, found
        self._values = OpValues(design.program, found)
        self._trials = Trials(design.program, design.structure, found)
        self._matching = Matching(design.program, self._values, design.structure, wires)
        self._where = Lines(design.structure, wires)
        self._end = time.monotonic() + _SECONDS
        self._dut, self._netlist = design.dut, design.netlist
        self._claimed, self._wrong = design.boundary.claimed, wrong

    def frontier(self) -> Frontier:
        moved = self._moved()
        elsewhere = {one.output for one in moved}
        outputs = [j for j in self._claimed if j not in elsewhere]
        ports, moved = exchanged_outputs(moved)
        if any(j in self._wrong for j in outputs):
            taken = wrong_inputs(self._program, self._structure.boundary, self._matching, self._found, self._claimed)
            if taken is not None:
                return Frontier(vectors=self._found.rows, ports=(taken,))
        none = np.zeros(self._found.rows, dtype=bool)
        begun = State(self._matching.wires, {j: self._wrong.get(j, none) for j in outputs})
        chosen, after = self._chosen(begun) if begun.errors else ([], begun)
        mended = self._again(after.wires) if chosen else self._matching
        found: dict[str, WrongSignal] = {}
        places: list[Place] = []
        wrong = {group[0].place for group in chosen}
        inner = Counter(where(place) for place in wrong)
        sure = not after.errors and all(one.sure for group in chosen for one in group)
        for candidates in chosen:
            place = candidates[0].place
            right = [one for one in self._where.twins(place) if one not in wrong]
            if after.errors:  # without this, the other instances are right, since all outputs are
                right = [one for one in right if mended.is_right(one)]
            if inner[where(place)] > 1:  # several instances are wrong: their module is
                right = []
            lines = self._lines(place, right)
            entry = self._entry(candidates[0], mended)
            one = self._described(candidates, sure, lines if entry is None else {entry: None, **lines})
            if one.lines[0] not in found:
                found[one.lines[0]] = one
                places.append(place)
        frontier = Frontier(self._timed(found.values(), places), tuple(moved), self._found.rows, tuple(ports))
        if after.errors or not places:
            return frontier
        boundary, kept = self._structure.boundary, self._values.kept
        vectors = self._found.inputs
        judge = Mended(self._program, self._dut, boundary, vectors, kept, after.wires, tuple(places))
        return replace(frontier, mended=judge)

    def _timed(self, found: Iterable[WrongSignal], places: Sequence[Place]) -> tuple[WrongSignal, ...]:
        """Return the findings with the edges, in a pipeline, after which they have their values."""
        said = self._dut.interface.clocking
        if said is None:
            return tuple(found)
        ages = ages_of(self._netlist, self._structure.boundary, said, [place.signal for place in places])
        return tuple(replace(one, edges=edges) for one, edges in zip(found, ages, strict=True))

    def _moved(self) -> list[Moved]:
        """Return the wrong outputs that carry the values of ops, which are right where they should be."""
        moved = []
        for output in self._wrong:
            places, (index, _, _) = self._structure.output(output), self._program.outputs[output]
            alike = self._ops_at(output)
            if alike and (index < 0 or index in self._matching.carriers()):
                others = (j for j, (op, _, _) in enumerate(self._program.outputs) if op in alike and j != output)
                moved.append(
                    Moved(output, tuple(others), tuple(alike), where(self._taken_at(places[0])) if places else "")
                )
        return moved

    def _taken_at(self, place: Place) -> Place:
        """Return the place that takes the values which only ``place`` reads in the end."""
        for _ in range(_LONGEST):
            reads = self._structure.reads(place)
            if len(reads) != 1 or self._structure.is_given(reads[0]) or self._matching.is_shared(reads[0]):
                break
            if not self._structure.is_wiring(place):
                break
            (place,) = reads
        return place

    def _ops_at(self, output: int) -> list[int]:
        boundary, kept = self._structure.boundary, self._values.kept
        bits = self._matching.wires.evaluated(lambda given: boundary.result(output, given))[kept]
        if (bits == bits[0]).all():
            return []
        width = max(boundary.outputs[output].width, 1)
        both = (as_number(bits, width, 0), as_number(bits, width, 1))
        return list(dict.fromkeys(op for raw in both for op in self._values.ops.get(key_of(raw), ())))

    def _chosen(self, state: State) -> tuple[list[list[Candidate]], State]:
        """Return the places of each finding, and the state in which they carry the values of their ops."""
        chosen: list[Candidate] = []
        begun, guesses = state, list[Candidate]()
        while state.errors and len(chosen) < _FINDINGS:
            matching = self._matching if not chosen else self._again(state.wires)
            search = Search(matching, self._found, self._roots(state))
            guesses = guesses or search.guesses()
            best, after = self._best(state, search)
            if best is None or after is None:
                break
            chosen.append(best)
            state = after
        if not state.errors:
            return [[one] for one in self._needed(begun, chosen)], state
        if chosen and state.errors <= begun.errors // 2:  # some of several faults
            return [[one] for one in chosen], state
        groups: dict[Place, list[Candidate]] = {}
        for one in guesses:
            groups.setdefault(one.place, []).append(one)
        return list(groups.values()), begun

    def _again(self, wires: Wires) -> Matching:
        return Matching(self._program, self._values, self._structure, wires)

    def _roots(self, state: State) -> dict[int, tuple[Place, ...]]:
        return {j: self._structure.output(j) for j, rows in state.wrong.items() if rows.any()}

    def _best(self, state: State, search: Search) -> tuple[Candidate | None, State | None]:
        """Return the place that makes most outputs right, or the first that must be wrong by what it reads."""
        best: tuple[Candidate | None, State | None] = None, None
        forced: tuple[Candidate | None, State | None] = None, None
        tried = set[tuple[Place, int | None]]()
        for one in search.candidates():
            if one[:2] in tried:
                continue
            if len(tried) >= _TRIALS or time.monotonic() > self._end:
                break
            tried.add(one[:2])
            after = self._trials.with_op(state, one)
            if after is None:
                continue
            if not after.errors:
                return one, after
            if after.errors < (state if best[1] is None else best[1]).errors:
                best = one, after
            if forced[0] is None and after.errors <= state.errors and search.computes(one):
                forced = one, after
        return best if best[0] is not None else forced

    def _needed(self, begun: State, chosen: list[Candidate]) -> list[Candidate]:
        """Return the places without which not all outputs are right."""
        for one in list(chosen) if len(chosen) > 1 else ():
            state: State | None = begun
            for other in chosen:
                if other is not one and state is not None:
                    state = self._trials.with_op(state, other)
            if state is not None and not state.errors:
                chosen = [other for other in chosen if other is not one]
        return chosen

    def _lines(self, place: Place, right: Sequence[Place]) -> dict[str, str | None]:
        """Return the lines of a place: its assignment, and those of the instances around it, with these.

        ``right``: places that the same line drives rightly in other instances. What these share is less likely wrong.
        """
        around = self._where.around(place) or {where(place): None}
        shared = {line for one in right for line in self._where.around(one)}
        return {line: around[line] for line in sorted(around, key=lambda line: line in shared)}

    def _entry(self, candidate: Candidate, mended: Matching) -> str | None:
        """Return the line of the one entry of a table that is wrong, if the op is a table."""
        place, op = candidate.place, candidate.op
        if op is None or self._program.ops[op].code != Code.LOOKUP:
            return None
        (operand,) = self._program.ops[op].operands
        wrong = self._matching.bits(place) != mended.bits(place)
        indices = set(self._found.values[operand][self._values.kept][wrong].tolist())
        return self._where.entry(place, int(indices.pop())) if len(indices) == 1 else None

    def _carriers(self, place: Place, ops: Sequence[int]) -> tuple[str, ...]:
        """Return the signals that carry operands of ``ops``, or these."""
        wanted = dict.fromkeys(operand for op in ops for operand in (*self._program.ops[op].operands, op))
        signals = (signal for op in wanted for signal in self._matching.carriers().get(op, ()))
        return tuple(dict.fromkeys(signal.name for signal in signals if signal is not place.signal))

    def _near(self, place: Place) -> tuple[tuple[str, str], ...]:
        """Return the lines of signals in the scope of ``place`` that it reads, some steps back."""
        scope = place.signal.name.rpartition(".")[0]
        found: dict[str, str] = {}
        reached = [place]
        for _ in range(_STEPS):
            reads = [read for one in reached for read in self._structure.reads(one)]
            reached = [read for read in reads if read.signal.name.rpartition(".")[0] == scope and read.signal.drivers]
            for read in reached:
                for line in self._where.of(read)[:1]:
                    found.setdefault(line, read.signal.name)
        return tuple(found.items())[:_NEAR]

    def _described(self, candidates: list[Candidate], explained: bool, lines: dict[str, str | None]) -> WrongSignal:
        place, missing = candidates[0].place, tuple(one.op for one in candidates if one.op is not None)
        matching = self._matching
        reads = tuple(Carried(str(read), matching.ops(read) or ()) for read in self._structure.reads(place))
        expected = found = None
        if len(missing) == 1:
            wanted = self._values.raw[missing[0]]
            own = matching.numbers(place)[self._program.ops[missing[0]].type.k]
            row = int(np.argmax(wanted != own))
            expected, found = int(wanted[row]), int(own[row])
        return WrongSignal(
            str(place), place.width, where(place), tuple(lines), reads, missing, expected, found, explained,
            tuple(lines.values()), self._carriers(place, missing), self._near(place),
            any(driver.clock for driver in place.signal.driving(place.low, place.width)),
        )  # fmt: skip
