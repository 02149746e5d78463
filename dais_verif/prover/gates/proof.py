"""The proof of a netlist, whose signals are unnamed bits: sweep it by ops, then by gates, then prove each output."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ne

from dais_verif.base.errors import ProofError
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.bit_blasting import Word
from dais_verif.prover.gates.fraig import Fraig
from dais_verif.prover.gates.miter import Miter, ProgramBits
from dais_verif.prover.gates.op_sweep import ProvedBits, sweep_ops
from dais_verif.prover.gates.patterns import columns, mixed, row_of, simulate, value_of
from dais_verif.prover.gates.product_rows import FoundRows, rows_of_products
from dais_verif.prover.gates.products import Rows
from dais_verif.prover.gates.word_lemmas import WordLemma, word_lemmas
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.limits import Costs
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.random_simulation import random_vectors
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.record.proof import Basis, Claim, Counterexample, Method, Status, as_inputs
from dais_verif.spec.program import Program

__all__ = ["Diagnosis", "NetlistProof", "sweep_netlist"]


#: Number of vectors with corner values, as in other proofs; then ``_LEAST`` to ``_MOST`` random patterns are added, for
#: about ``_BITS`` bits of signatures in total.
_VECTORS = 512
_LEAST, _MOST, _BITS = 512, 16_384, 1 << 28
#: Further patterns by which the bits of ops are searched.
_MORE = 4096
#: Size of a graph above which gates are not swept if an output is known to be wrong.
_LARGE = 200_000


@dataclass(frozen=True)
class NetlistProof:
    """Claims for every output, and for the ops that the netlist contains.

    ``merged``: number of nodes that were merged with others. ``remark``: a message about the counterexample; empty
    without one. ``costs``: the costs of proving the outputs.
    """

    ops: list[Claim]
    outputs: list[Claim]
    counterexample: Counterexample | None
    merged: int
    remark: str
    costs: Costs


def sweep_netlist(
    program: Program,
    netlist: Netlist,
    boundary: Boundary,
    assumptions: Assumptions,
    options: ProofOptions,
    watcher: ProofWatcher,
    fixed: Mapping[tuple[int, int], int | tuple[int, int]],
) -> NetlistProof:
    """Prove or refute every output.

    ``fixed``: for (input, bit): the constant, or the other (input, bit), that this bit equals. Raises ``InputError``
    for loops.
    """
    work = _Work(program, netlist, boundary, assumptions, options, watcher, fixed)
    outputs = []
    for done, number in enumerate(boundary.claimed):
        watcher.progress("outputs", done, len(boundary.claimed))
        outputs.append(work.output(number))
        if work.counterexample is not None:
            break
    outputs += [_open(number) for number in boundary.claimed[len(outputs) :]]
    found = work.diagnosis.found
    ops = [Claim(op=op.index, status=Status.PROVED, method=Method.SWEEP) for op in program.ops if op.index in found]
    if work.counterexample is None:
        return NetlistProof(ops, outputs, None, work.merged, "", work.costs)
    wrong = work.counterexample.output
    diagnosis = work.diagnosis.behind(wrong, [claim.number for claim in outputs if claim.status is Status.PROVED])
    counterexample = replace(work.counterexample, op=next(iter(diagnosis), None))
    return NetlistProof(ops, outputs, counterexample, work.merged, _told(program, wrong, diagnosis), work.costs)


def _told(program: Program, output: int, diagnosis: Sequence[int]) -> str:
    """Return a message about a wrong output, with the ops that may cause it."""
    wrong = f"a counterexample was found for output {output}"
    if not diagnosis:
        return f"{wrong}; all ops that it depends on were found in the netlist"
    first, more = program.ops[diagnosis[0]], [f"op {index}" for index in diagnosis[1:]]
    others = f" (also not found: {', '.join(more[:8])}{', ...' if len(more) > 8 else ''})" if more else ""
    return f"{first} is the first op that was not found in the netlist{others}: {wrong}"


class _Work:
    def __init__(
        self,
        program: Program,
        netlist: Netlist,
        boundary: Boundary,
        assumptions: Assumptions,
        options: ProofOptions,
        watcher: ProofWatcher,
        fixed: Mapping[tuple[int, int], int | tuple[int, int]],
    ) -> None:
        self._options, self._boundary, self._fixed = options, boundary, fixed
        self.costs = Costs()
        self._read(program, netlist, assumptions, watcher, {})
        self.counterexample = self._on_patterns()
        rows: dict[int, FoundRows] = {}
        if self.counterexample is None:
            rows = rows_of_products(self._program_bits, self._aig, self._results, self._patterns, self._count)
        if any(found.rows != Rows() for found in rows.values()):
            self._read(program, netlist, assumptions, watcher, {op: found.rows for op, found in rows.items()})
        results = self._results
        merged = {op for op, found in rows.items() if found.merged}
        lemmas = word_lemmas(self._program_bits, self._aig, results, self._patterns, self._count, options.seed, merged)
        self._proved = self._swept_by_ops(lemmas, watcher)
        self.fraig = self._swept_by_gates(lemmas, watcher)
        self.merged = len(self._proved.merged) + self.fraig.merged
        self.diagnosis = Diagnosis(program, self._program_bits, self._aig, results, self._at)

    def _swept_by_ops(self, lemmas: Mapping[int, WordLemma], watcher: ProofWatcher) -> ProvedBits:
        """Return which bits of ops the netlist contains, each proved from the bits of the op's operands."""
        rng = random.Random(self._options.seed)
        patterns = [value | mixed(rng, _MORE) << self._count for value in self._patterns]
        return sweep_ops(
            self._program_bits,
            self._aig,
            self._results,
            simulate(self._aig, patterns, self._count + _MORE),
            self._count + _MORE,
            lemmas,
            lambda done, total: watcher.progress("ops swept", done, total),
        )

    def _swept_by_gates(self, lemmas: Mapping[int, WordLemma], watcher: ProofWatcher) -> Fraig:
        """Sweep the cones of open outputs on both sides, and the promises and bounds that may be assumed."""
        at = self._proved.at
        words = [word for a, b in self._pairs.values() if any(map(ne, map(at, a), map(at, b))) for word in (a, b)]
        roots = [bit for word in words for bit in word]
        if self.counterexample is not None and len(self._aig) > _LARGE:
            roots = []  # it would take hours, and find no further wrong op
        if roots:
            roots += [*self._program_bits.kept, *self._program_bits.assumptions]
        known = {node: WordLemma(literal, ()) for node, literal in self._proved.merged.items()}
        return Fraig(
            self._aig,
            roots,
            self._patterns,
            self._count,
            self._program_bits.words,
            self._options.seed,
            lambda done, total: watcher.progress("nodes swept", done, total),
            {**lemmas, **known},
        )

    def _at(self, literal: int) -> int:
        """Return a number shared by literals that are proved equal: a literal of the swept graph, else negative."""
        literal = self._proved.at(literal)
        return self.fraig.at(literal) if self.fraig.made(literal >> 1) else -1 - literal

    def _read(
        self,
        program: Program,
        netlist: Netlist,
        assumptions: Assumptions,
        watcher: ProofWatcher,
        rows: Mapping[int, Rows],
    ) -> None:
        """Build the graph of program and netlist, with patterns for its inputs. Raises ``InputError`` for loops."""
        boundary = self._boundary
        self._aig = Aig()
        self._program_bits = ProgramBits.of(program, boundary, assumptions, self._aig, self._fixed, rows)
        drivers = sum(len(signal.drivers) for signal in netlist.signals.values())
        miter = Miter(
            netlist,
            boundary,
            self._aig,
            self._program_bits.inputs,
            lambda done: watcher.progress("drivers read", done, drivers),
        )
        #: The bits of every output: of the netlist, and of the program.
        self._pairs = {number: miter.results(number, self._program_bits.outputs[number]) for number in boundary.claimed}
        for signal, wire in boundary.wires:
            if not wire.width and any(miter.bits(signal, 0, signal.width)):
                raise ProofError("the program has no output bits: its output port must be tied to 0, but is not")
        self._inputs = sum(low < 0 for low in self._aig.low) - 1
        self._patterns, self._count = self._first_patterns()

    @property
    def _results(self) -> list[int]:
        """The bits of the netlist's outputs."""
        return [bit for a, _ in self._pairs.values() for bit in a]

    @property
    def _given(self) -> list[tuple[Basis, list[int]]]:
        """The assumptions that a proof may use, the weakest first."""
        promises = (
            [(Basis.PROMISES, self._program_bits.kept)] if self._options.check and self._program_bits.kept else []
        )
        bounds = [(Basis.DECLARED, self._program_bits.assumptions)] if self._program_bits.assumptions else []
        both = [(Basis.DECLARED | Basis.PROMISES, [*bounds[0][1], *promises[0][1]])] if promises and bounds else []
        return [(Basis.PLAIN, []), *bounds, *promises, *both]

    def _first_patterns(self) -> tuple[list[int], int]:
        """Return values of the graph's inputs, with the program's inputs first, and the number of patterns."""
        elements, rng = self._boundary.inputs, random.Random(self._options.seed)
        vectors = random_vectors(elements, _VECTORS, self._options.seed)
        rows, place = [0] * _VECTORS, 0
        for element, column in zip(elements, vectors, strict=True):
            rows = [row | int(value) << place for row, value in zip(rows, column, strict=True)]
            place += element.width
        more = max(_LEAST, min(_MOST, _BITS // len(self._aig)))
        first = columns(rows, self._inputs)
        return [value | rng.getrandbits(more) << _VECTORS for value in first], _VECTORS + more

    def _vector(self, pattern: int) -> tuple[int, ...]:
        """Return the bits of every input in ``pattern``."""
        vector = []
        for element in self._boundary.inputs:
            vector.append(pattern & ((1 << element.width) - 1))
            pattern >>= element.width
        for (number, place), bit in self._fixed.items():
            value = vector[bit[0]] >> bit[1] & 1 if isinstance(bit, tuple) else bit
            vector[number] = vector[number] & ~(1 << place) | value << place
        return tuple(vector)

    def _on_patterns(self) -> Counterexample | None:
        """Return a counterexample among the first patterns; None if there is none."""
        count = self._count
        values = simulate(self._aig, self._patterns, count)
        valid = (1 << count) - 1
        for literal in (*self._program_bits.assumptions, *(self._program_bits.kept if self._options.check else ())):
            valid &= value_of(values, literal, count)
        for number, (a, b) in self._pairs.items():
            wrong = 0
            for x, y in zip(a, b, strict=True):
                wrong |= value_of(values, x, count) ^ value_of(values, y, count)
            if wrong & valid:
                row = (wrong & valid & -(wrong & valid)).bit_length() - 1
                return Counterexample(as_inputs(self._vector(row_of(self._patterns, row))), number, None)
        return None

    def output(self, number: int) -> Claim:
        """Decide an output; keep a counterexample."""
        key = "output", number
        if self.counterexample is not None and self.counterexample.output == number:
            return Claim.of(key, Status.REFUTED, Method.SWEEP, inputs=self.counterexample.inputs)
        a, b = self._pairs[number]
        if a == b:
            return Claim.of(key, Status.PROVED, Method.IDENTICAL)
        start = time.perf_counter()
        status, basis = self._decided(a, b, number)
        self.costs.note(key, time.perf_counter() - start)
        inputs = self.counterexample.inputs if status is Status.REFUTED and self.counterexample else None
        return Claim.of(key, status, Method.SWEEP, basis=basis, inputs=inputs)

    def _decided(self, a: Word, b: Word, number: int) -> tuple[Status, Basis]:
        pairs = [(self._at(x), self._at(y)) for x, y in zip(a, b, strict=True)]
        pairs = [(x, y) for x, y in pairs if x != y]
        if any(min(pair) < FALSE for pair in pairs):
            return Status.UNKNOWN, Basis.PLAIN
        bases: list[Basis] = []
        end = time.monotonic() + self._options.timeout
        for x, y in pairs:
            basis = self._equal(x, y, number, end)
            if basis is None:
                return (Status.UNKNOWN if self.counterexample is None else Status.REFUTED), Basis.PLAIN
            bases.append(basis)
        return Status.PROVED, max(bases, key=lambda basis: len(basis.words), default=Basis.PLAIN)

    def _equal(self, x: int, y: int, number: int, end: float) -> Basis | None:
        """Return the assumptions under which two bits are proved equal; None if they differ or this is unknown."""
        for basis, given in self._given:
            now = [self.fraig.at(literal) for literal in given]
            answer = self.fraig.solver.differ_within(x, y, now, max(end - time.monotonic(), 0.1))
            if answer.found is False:
                return basis
            if answer.found is None:
                return None
            pattern = self.fraig.pattern(answer.ones)
            if self._allowed(pattern):
                self.counterexample = Counterexample(as_inputs(self._vector(pattern)), number, None)
                return None
        return None

    def _allowed(self, pattern: int) -> bool:
        """Return whether a pattern satisfies all assumptions."""
        values = simulate(self._aig, columns([pattern], self._inputs), 1)
        given: Sequence[int] = self._given[-1][1]
        return all(value_of(values, literal, 1) for literal in given)


def _open(number: int) -> Claim:
    return Claim(output=number, status=Status.UNKNOWN, method=Method.SWEEP)


# Diagnosis of a netlist: which ops it contains, and which ops behind a wrong output it lacks.


class Diagnosis:
    """Ops and wrong outputs of a netlist.

    ``found``: the ops of which every bit that an output needs equals a node of the netlist. An op that is not found
    need not be wrong: a mapper may compute the readers of an op without the op itself.
    """

    def __init__(
        self, program: Program, bits: ProgramBits, aig: Aig, results: Iterable[int], at: Callable[[int], int]
    ) -> None:
        """``results``: the bits of the netlist's outputs. ``at``: returns the same number for literals proved equal."""
        self._program = program
        needed = aig.behind(bit for word in bits.outputs for bit in word)
        points = {at(2 * node) >> 1 for node in aig.behind(results)}
        self.found: set[int] = set()
        for op in program.ops:
            wanted = [bit for bit in bits.ops[op.index] if bit >> 1 in needed]
            if wanted and all(at(bit) >> 1 in points for bit in wanted):
                self.found.add(op.index)
        self._needed = {op.index for op in program.ops if any(bit >> 1 in needed for bit in bits.ops[op.index])}

    def behind(self, output: int, right: Iterable[int]) -> tuple[int, ...]:
        """Return the ops that may cause a wrong ``output``, in SSA order; ``right``: outputs that are proved right."""
        missing = self._missing(output)
        explained = {op for number in right for op in self._missing(number)}
        return tuple(sorted(missing - explained or missing))

    def _missing(self, output: int) -> set[int]:
        """Return the ops that are not found and reach the output only through ops that are not found."""
        work = [self._program.outputs[output][0]]
        missing: set[int] = set()
        while work:
            index = work.pop()
            if index >= 0 and index not in missing and index not in self.found and index in self._needed:
                missing.add(index)
                work += self._program.ops[index].operands
        return missing
