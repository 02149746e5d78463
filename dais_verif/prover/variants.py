"""Prove designs that differ little from a proved design: only obligations that the difference changes are decided.

The obligation of an op covers the logic between its signal and the signals that it reads, independent of the rest of
the design. An obligation that equals one of the proved design needs no second proof; the others are decided as in any
proof, and if all hold, the design is proved. If one of them does not hold, random and stretched vectors are tried to
find a wrong output. Claims that remain open are refined as in a whole proof, so every answer given here is one that a
whole proof could give.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dais_verif.counts import counted
from dais_verif.dut.placement import Dut
from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.prover.assumptions import Assumptions
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.costs import Costs
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.proof import all_obligations, claim_of, named_signals, settled
from dais_verif.prover.random_simulation import Bools, Trace, differing_outputs, differing_rows, random_vectors, trace
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.signal_correspondence import match_signals
from dais_verif.prover.solving.pool import Pool
from dais_verif.prover.stretching import stretched_vectors
from dais_verif.record.proof import Claim, Status
from dais_verif.verdict import Verdict

__all__ = ["Answer", "Proved", "has_registers", "proved_design"]

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
