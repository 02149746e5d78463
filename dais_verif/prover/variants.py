"""Prove designs that differ little from a proved design: only obligations that the difference changes are decided.

The obligation of an op covers the logic between its signal and the signals that it reads, independent of the rest of
the design. An obligation that equals one of the proved design needs no second proof; the others are decided as in any
proof, and if all hold, the design is proved. If one of them does not hold, random and stretched vectors are tried to
find a wrong output. Claims that remain open are refined as in a whole proof, so every answer given here is one that a
whole proof could give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.limits import Costs
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.proof import all_obligations, claim_of, named_signals, settled
from dais_verif.prover.random_simulation import (
    Bools,
    Columns,
    Trace,
    differing_outputs,
    differing_rows,
    random_vectors,
    trace,
)
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.signal_correspondence import match_signals
from dais_verif.prover.solve.pool import Pool
from dais_verif.record.proof import Claim, Status
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Element

__all__ = ["Answer", "Proved", "has_registers", "proved_design", "stretched_vectors"]


_ROWS = 2048
#: The design as a whole is evaluated on at most this many of the vectors on which an obligation fails.
_TRIED = 64


class Answer(NamedTuple):
    """The verdict on a variant. ``vector``: the bits of each input, for which an output is wrong."""

    verdict: Verdict
    message: str
    vector: tuple[int, ...] | None = None


class Proved:
    """A design without registers that is proved to compute its program, with its obligations and claims."""

    def __init__(
        self,
        dut: Dut,
        options: ProofOptions,
        builder: Builder,
        obligations: dict[tuple[str, int], Obligation],
        claims: Iterable[Claim],
        pool: Pool,
    ) -> None:
        self._program, self._dut, self._options, self._pool = builder.program, dut, options, pool
        self._obligations, self._boundary, self._meanings = obligations, builder.boundary, builder.meanings
        self._claims = {(claim.kind, claim.number): claim for claim in claims}
        self._names = {index: (signal.name, signal.width) for index, signal in builder.cut.items()}
        self._assumptions = Assumptions(self._program, self._boundary.inputs, options.declared)
        self._random: tuple[Trace, Bools] | None = None
        self._stretched: dict[tuple[int, ...], tuple[Trace, Bools]] = {}

    def of(self, netlist: Netlist, seconds: float, *, quick: bool = False, suspect: int | None = None) -> Answer | None:
        """Decide whether ``netlist`` also computes the program; None if that needs a whole proof.

        ``seconds``: the limit for each question to the solver. ``quick``: return UNKNOWN if an obligation does not hold
        as it stands. ``suspect``: with ``quick``, the op whose obligation is decided first; if this obligation fails,
        the others are skipped. Raises ``InputError`` for a netlist that a proof refuses.
        """
        signals = [netlist.signals.get(name) for name, _ in self._names.values()]
        widths = [width for _, width in self._names.values()]
        if has_registers(netlist) or [None if s is None else s.width for s in signals] != widths:
            return None
        cut = {index: signal for index, signal in zip(self._names, signals, strict=True) if signal is not None}
        boundary = Boundary.of(self._program, netlist, self._dut)
        builder = Builder(self._program, netlist, cut, boundary)
        builder.meanings = self._meanings
        watcher, costs, pool = ProofWatcher(), Costs(), self._pool.within(seconds)
        if quick and suspect is not None and suspect in cut:
            key, obligation = ("op", suspect), builder.op(suspect)
            same = obligation == self._obligations.get(key)
            if not same and claim_of(key, obligation, cut, pool, costs).status is not Status.PROVED:
                return _failing(1)
        obligations = all_obligations(builder, pool, watcher)
        changed = {key: o for key, o in obligations.items() if o != self._obligations.get(key)}
        claims = {key: self._claims[key] for key in obligations if key not in changed}
        claims |= {key: claim_of(key, obligation, cut, pool, costs) for key, obligation in changed.items()}
        left = {key: o for key, o in changed.items() if claims[key].status is not Status.PROVED}
        if not left:
            kept = len(obligations) - len(changed)
            return Answer(Verdict.PASS, f"{counted(len(changed), 'obligation')} proved, {kept} unchanged")
        if quick:
            return _failing(len(left))
        answer = self._refuted(builder, left)
        if answer is not None:
            return answer
        claims = {key: claims[key] for key in obligations}
        proof = settled(builder, obligations, claims, 0, None, self._assumptions, self._options, watcher, pool, costs)
        found = proof.counterexample
        return Answer(proof.verdict, proof.message, None if found is None else found.vector)

    def _refuted(self, builder: Builder, left: dict[tuple[str, int], Obligation]) -> Answer | None:
        """Look for a vector on which the design is wrong, after an obligation has failed; None if none is found."""
        if self._random is None:
            self._random = self._traced(random_vectors(self._boundary.inputs, _ROWS, self._options.seed), _ROWS)
        answer = self._wrong(builder, left, *self._random)
        ops = tuple(number for kind, number in left if kind == "op")
        if answer is None and ops:
            if ops not in self._stretched:
                vectors = stretched_vectors(
                    self._program, self._boundary.inputs, *self._random, ops, self._options.seed
                )
                self._stretched[ops] = self._traced(*vectors)
            answer = self._wrong(builder, left, *self._stretched[ops])
        return answer

    def _traced(self, columns: list[np.ndarray], rows: int) -> tuple[Trace, Bools]:
        found = trace(self._program, self._boundary.inputs, self._assumptions.moved_inside(columns), rows)
        valid = self._assumptions.allowed(found)
        return found, valid & ~found.broken if self._options.check else valid

    def _wrong(
        self,
        builder: Builder,
        left: dict[tuple[str, int], Obligation],
        found: Trace,
        valid: Bools,
    ) -> Answer | None:
        failing = {key: differing_rows(obligation, found) & valid for key, obligation in left.items()}
        rows = np.flatnonzero(np.logical_or.reduce([*failing.values()]))[:_TRIED]
        if not len(rows):
            return None
        some = Trace(
            [c[rows] for c in found.inputs], [v[rows] if len(v) else v for v in found.values], found.broken[rows], {}
        )
        for output, wrong in differing_outputs(self._program, builder.boundary, builder.netlist, builder.cut, some):
            if wrong.any():
                row = int(np.argmax(wrong))
                guilty = min((n for (kind, n), of in failing.items() if kind == "op" and of[rows[row]]), default=None)
                text = f"a counterexample was found for output {output}"
                text = text if guilty is None else f"{self._program.ops[guilty]} is wrong: {text}"
                return Answer(Verdict.RTL_MISMATCH, text, some.vector(row))
        return None


def proved_design(program: Program, netlist: Netlist, dut: Dut, options: ProofOptions) -> Proved | None:
    """Prove ``netlist`` op by op, as the base of variants.

    Returns None if the netlist is clocked or needs a bit-level proof, if signals depend on themselves, or if any claim
    is not proved. Raises ``InputError`` for a netlist that a proof refuses.
    """
    if options.bits or dut.interface.clocking is not None or has_registers(netlist):
        return None
    boundary = Boundary.of(program, netlist, dut)
    cut = named_signals(program, netlist)
    if netlist.bitwise and not cut:
        return None
    watcher, pool = ProofWatcher(), Pool(options, ProofWatcher())
    assumptions = Assumptions(program, boundary.inputs, options.declared)
    missing = [op for op in program.ops if op.index not in cut and op.type.width]
    guessed = match_signals(program, boundary, netlist, cut, missing, assumptions, options.seed)
    builder = Builder(program, netlist, dict(sorted({**cut, **guessed}.items())), boundary)
    try:
        obligations = all_obligations(builder, pool, watcher)
    except InputError:
        return None
    costs, cut = Costs(), dict(builder.cut)
    claims = {key: claim_of(key, obligation, cut, pool, costs) for key, obligation in obligations.items()}
    stated = dict(obligations)  # refinement may replace obligations, and drop cut points
    proof = settled(builder, obligations, claims, 0, None, assumptions, options, watcher, pool, costs)
    found = [*proof.ops, *proof.outputs]
    if proof.dropped or any(claim.status is not Status.PROVED for claim in found):
        return None
    return Proved(dut, options, builder, stated, found, pool)


def _failing(count: int) -> Answer:
    verb = counted(count, "obligation does", "obligations do")
    return Answer(Verdict.UNKNOWN, f"{verb} not hold as {'it stands' if count == 1 else 'they stand'}")


def has_registers(netlist: Netlist) -> bool:
    """Return whether any driver of ``netlist`` has a clock."""
    return any(driver.clock for signal in netlist.signals.values() for driver in signal.drivers)


# Find input vectors on which given ops reach their largest and smallest values; random vectors rarely do.
#
# Types of programs are usually just wide enough. A sign bit that is taken one bit too low, for example, is wrong for
# the largest values only. The search starts with the vectors on which an op is largest or smallest. Each turn tries
# every input at the ends of its range, and keeps either the best single change or all changes that help, whichever is
# better.


#: The number of turns; the largest number of inputs that one turn tries; and the number of vectors from which the
#: search starts in each direction.
_TURNS, _INPUTS, _BEGINNINGS = 5, 64, 2


class _Lane(NamedTuple):
    """One search: op ``op`` is to be large (``sign`` 1) or small (-1); ``vector``: the best vector so far."""

    op: int
    sign: int
    vector: tuple[int, ...]


def stretched_vectors(
    program: Program, elements: Sequence[Element], found: Trace, valid: Bools, ops: Iterable[int], seed: int
) -> tuple[Columns, int]:
    """Return vectors on which each of ``ops`` and its operands is large or small, and the number of vectors.

    The vectors have one column per input. ``found``: the values of all ops on many vectors, from which the search
    starts. ``valid``: the rows of ``found`` that may be used.
    """
    targets = sorted({i for op in ops for i in (op, *program.ops[op].operands) if program.ops[i].type.width > 1})
    needed = cone(program, targets)
    inputs = sorted({program.ops[i].id0 for i in needed if program.ops[i].code == INPUT and program.ops[i].type.width})
    rng = np.random.default_rng(seed)
    lanes = list(_beginnings(program, found, valid, targets))
    kept = [lane.vector for lane in lanes]
    for _ in range(_TURNS if lanes and inputs else 0):
        some = inputs if len(inputs) <= _INPUTS else sorted(rng.choice(inputs, _INPUTS, replace=False).tolist())
        lanes = _moved(program, elements, needed, lanes, some)
        kept += [lane.vector for lane in lanes]
    rows = list(dict.fromkeys(kept))
    return _columns(rows, len(elements)), len(rows)


def _beginnings(program: Program, found: Trace, valid: Bools, targets: Sequence[int]) -> Iterator[_Lane]:
    rows = np.flatnonzero(valid)
    for op in targets:
        order = rows[np.argsort(_numbers(program, op, found)[rows], kind="stable")]
        for row in order[:_BEGINNINGS]:
            yield _Lane(op, -1, found.vector(int(row)))
        for row in order[len(order) - _BEGINNINGS :]:
            yield _Lane(op, 1, found.vector(int(row)))


def _moved(
    program: Program, elements: Sequence[Element], needed: Sequence[int], lanes: Sequence[_Lane], inputs: Sequence[int]
) -> list[_Lane]:
    """Return all lanes, each with the best vector that one turn finds for it."""
    changes = [(j, end) for j in inputs for end in _ends(elements[j].width)]
    rows = [lane.vector for lane in lanes]
    rows += [_with(lane.vector, {j: end}) for lane in lanes for j, end in changes]
    scores = _scores(program, elements, needed, lanes, rows, len(changes))
    together = []
    for n, lane in enumerate(lanes):
        best: dict[int, tuple[float, int]] = {}
        for (j, end), score in zip(changes, scores[n][1:], strict=True):
            if score > best.get(j, (scores[n][0], 0))[0]:
                best[j] = score, end
        alone = max(best, key=lambda j: best[j][0], default=None)
        together += [
            lane.vector,
            _with(lane.vector, {j: end for j, (_, end) in best.items()}),
            lane.vector if alone is None else _with(lane.vector, {alone: best[alone][1]}),
        ]
    found = _traced(program, elements, needed, together)
    moved = []
    for n, lane in enumerate(lanes):
        own = _numbers(program, lane.op, found)[3 * n : 3 * n + 3] * lane.sign
        moved.append(lane._replace(vector=together[3 * n + int(np.argmax(own))]))
    return moved


def _scores(
    program: Program,
    elements: Sequence[Element],
    needed: Sequence[int],
    lanes: Sequence[_Lane],
    rows: Sequence[tuple[int, ...]],
    changes: int,
) -> list[list[float]]:
    """Return, for each lane, the score of its vector, followed by the score of each change to the vector."""
    found = _traced(program, elements, needed, rows)
    scores = []
    for n, lane in enumerate(lanes):
        own = _numbers(program, lane.op, found) * lane.sign
        first = len(lanes) + n * changes
        scores.append([own[n], *own[first : first + changes].tolist()])
    return scores


def _traced(
    program: Program, elements: Sequence[Element], needed: Sequence[int], rows: Sequence[tuple[int, ...]]
) -> Trace:
    return trace(program, elements, _columns(rows, len(elements)), len(rows), needed)


def _ends(width: int) -> list[int]:
    """Return the bits of the least and the largest number of ``width`` bits, both signed and unsigned."""
    top = (1 << width) - 1
    return list(dict.fromkeys((0, top, top >> 1, (top >> 1) + 1)))


def _with(vector: tuple[int, ...], changes: dict[int, int]) -> tuple[int, ...]:
    return tuple(changes.get(j, value) for j, value in enumerate(vector))


def _columns(rows: Sequence[tuple[int, ...]], inputs: int) -> Columns:
    return [np.array([row[j] for row in rows], dtype=object) for j in range(inputs)]


def _numbers(program: Program, op: int, found: Trace) -> NDArray[Any]:
    """Return the values of an op as floats: approximate, for comparison only."""
    kind = program.ops[op].type
    values = found.values[op].astype(float)
    return np.where(values >= 2.0 ** (kind.width - 1), values - 2.0**kind.width, values) if kind.k else values
