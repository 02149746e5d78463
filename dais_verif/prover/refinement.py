"""Refine claims that do not hold for all values of the signals that their cones read.

Either some of these values cannot occur together, and a sharper statement can be proved; or an input vector refutes the
claim. First both sides are evaluated on many vectors. Claims that no vector refutes are stated again with the ranges of
the values, then with one, two and four levels of ops expanded, and finally over the inputs themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np
from msgspec.structs import replace

from dais_verif.prover.lemmas import Assumptions, Lemmas
from dais_verif.prover.limits import Costs
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.random_simulation import (
    Bools,
    Columns,
    Trace,
    differing_outputs,
    differing_rows,
    random_vectors,
    trace,
    variations,
)
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.solve.pool import Decided, Pool, Question
from dais_verif.prover.terms import Term
from dais_verif.record.proof import Basis, Claim, Counterexample, Status, as_inputs
from dais_verif.spec.program import Program

__all__ = ["Refiner"]

Key = tuple[str, int]
#: A statement: what it uses beyond the plain obligation, its obligation, and the terms that are assumed to be 1.
Statement = tuple[Basis, Obligation, tuple[Term, ...]]

_ROWS, _VARIED = 2048, 256
_LEVELS = {1: Basis.ONE_LEVEL, 2: Basis.TWO_LEVELS, 4: Basis.FOUR_LEVELS}
#: The largest number of ops in a cone, down to the inputs, for which the solver is called.
_LARGEST = 20_000


class Refiner:
    """Decides open claims. ``claims``: all claims, updated in place."""

    def __init__(
        self,
        program: Program,
        netlist: Netlist,
        builder: Builder,
        pool: Pool,
        options: ProofOptions,
        watcher: ProofWatcher,
        assumptions: Assumptions,
        obligations: dict[Key, Obligation],
        claims: dict[Key, Claim],
        costs: Costs,
    ) -> None:
        self.program, self.netlist, self.builder, self.pool = program, netlist, builder, pool
        self.options, self.watcher, self.obligations, self.claims = options, watcher, obligations, claims
        self._assumptions, self._costs = assumptions, costs
        #: Sources of lemmas, each with the basis of claims that are proved with its lemmas.
        self._lemmas = [(Basis.RANGES, Lemmas(program, builder, pool.equal))]
        if assumptions:
            self._lemmas.append((Basis.DECLARED, Lemmas(program, builder, pool.equal, declared=True)))
        self._found: Counterexample | None = None

    def run(self) -> Counterexample | None:
        """Refine all open claims; return a counterexample at the outputs if one is found."""
        vectors = random_vectors(self.builder.boundary.inputs, _ROWS, self.options.seed)
        self._on_vectors(self._assumptions.moved_inside(vectors), _ROWS)
        open_ops = [key for key in self._open() if key[0] == "op"]
        for done, key in enumerate(open_ops):
            self.watcher.progress("ops refined", done, len(open_ops))
            first = min((c.number for c in self.claims.values() if self._refuted(c)), default=self.program.n_ops)
            # Once a wrong output and a wrong op are known, later ops add nothing.
            if not self._sharper(key) and (self._found is None or key[1] < first):
                self._at_inputs(key)
        self._replaced_cuts()
        return self._found

    def _open(self) -> list[Key]:
        return [key for key, claim in self.claims.items() if claim.status is Status.UNKNOWN]

    @staticmethod
    def _refuted(claim: Claim) -> bool:
        return claim.kind == "op" and claim.status is Status.REFUTED

    # vectors

    def _on_vectors(self, columns: Columns, rows: int) -> None:
        """Refute claims by these vectors, and look for a wrong output."""
        found = trace(self.program, self.builder.boundary.inputs, columns, rows)
        valid = self._assumptions.allowed(found)
        if self.options.check:
            valid &= ~found.broken
        wrong: dict[int, Bools] = {}
        failed = False
        for key, claim in list(self.claims.items()):
            if claim.status is Status.PROVED:
                continue
            rows_of = differing_rows(self.obligations[key], found) & valid
            failed |= bool(rows_of.any())
            if claim.kind == "op" and rows_of.any():
                wrong[claim.number] = rows_of
                if claim.status is Status.UNKNOWN:
                    self._refute(key, found.vector(int(np.argmax(rows_of))))
        # If no claim fails on these vectors, all signals are right by induction, and the RTL need not be evaluated.
        if failed and self._found is None:
            self._at_outputs(found, valid, wrong)

    def _at_outputs(self, found: Trace, valid: Bools, wrong: dict[int, Bools]) -> None:
        """Look for a row in which an output is wrong, preferably one in which the first wrong op is wrong too."""
        differing = differing_outputs(self.program, self.builder.boundary, self.netlist, self.builder.cut, found)
        first = min(wrong, default=None)
        for row_filter in ([valid & wrong[first]] if first is not None else []) + [valid]:
            for output, rows in differing:
                if (rows & row_filter).any():
                    row = int(np.argmax(rows & row_filter))
                    guilty = min((index for index, rows_of in wrong.items() if rows_of[row]), default=None)
                    self._found = Counterexample(as_inputs(found.vector(row)), output, guilty)
                    for other, rows_of in differing:
                        if rows_of[row] and self.claims["output", other].status is Status.UNKNOWN:
                            self._refute(("output", other), self._found.vector)
                    self._refute(("output", output), self._found.vector)
                    return

    def _refute(self, key: Key, vector: tuple[int, ...]) -> None:
        self.claims[key] = replace(self.claims[key], status=Status.REFUTED, inputs=as_inputs(vector))

    # sharper statements

    def _sharper(self, key: Key) -> bool:
        """Try sharper statements of the claim; return whether one was proved."""
        for basis, obligation, given in self._statements(key):
            decided = self.pool.decide(obligation.rtl, obligation.wanted, given)
            if decided.decision.equal:
                self._prove(key, decided, basis)
                return True
        return False

    def stated(self, key: Key, basis: Basis) -> Question | None:
        """Return the statement of a claim on this basis: the two terms, and the terms that are assumed to be 1."""
        if basis in (Basis.PLAIN, Basis.WITHOUT_WRONG_OPS):
            obligation = self.obligations[key]
            return obligation.rtl, obligation.wanted, ()
        for other, obligation, given in chain(self._statements(key), self._over_inputs(key)):
            if other == basis:
                return obligation.rtl, obligation.wanted, given
        return None

    @property
    def ranges(self) -> dict[int, Question]:
        """The proved lemmas about values of ops, by op; only lemmas that were needed."""
        return {index: question for _, lemmas in self._lemmas for index, question in lemmas.proved.items()}

    def _prove(self, key: Key, decided: Decided, basis: Basis) -> None:
        decision = decided.decision
        self._costs.note(key, decision.seconds, decided.cached)
        self.claims[key] = replace(self.claims[key], status=Status.PROVED, method=decision.method, how=basis.words)

    def _statements(self, key: Key) -> Iterator[Statement]:
        for levels, expanded in {0: Basis.PLAIN, **_LEVELS}.items():
            obligation = self._expanded(key, levels) if levels else self.obligations[key]
            known: tuple[Term, ...] = ()
            for reason, lemmas in self._lemmas:
                before, known = known, self._known(obligation, lemmas, reason is Basis.DECLARED)
                if reason is Basis.DECLARED and known == before:
                    continue
                basis = expanded | reason if known else expanded
                if levels or known:
                    yield basis, obligation, known
                if self.options.check and obligation.kept:
                    yield basis | Basis.PROMISES, obligation, (*known, *obligation.kept)

    def _known(self, obligation: Obligation, lemmas: Lemmas, declared: bool) -> tuple[Term, ...]:
        known: list[Term] = []
        for term, source in obligation.variables().items():
            if source.kind == "op":
                known.append(lemmas.of(source.number, term))
            elif declared:
                known += self._assumptions.of_input(source.number, term)
        return tuple(lemma for lemma in known if lemma.op != "const")

    def _expanded(self, key: Key, levels: int) -> Obligation:
        """Return the obligation of the claim with ``levels`` levels of ops before its cone expanded."""
        ops = self.program.ops
        seeds = set(self.obligations[key].reads) | set(self._operands(key))
        behind: set[int] = set()
        for _ in range(levels):
            behind |= seeds
            seeds = {i for index in seeds for i in ops[index].operands} - behind
        return self._build(key, behind.__contains__)

    def _operands(self, key: Key) -> tuple[int, ...]:
        return self.program.ops[key[1]].operands if key[0] == "op" else (self.program.outputs[key[1]][0],)

    def _build(self, key: Key, expanded: Callable[[int], bool]) -> Obligation:
        return (self.builder.op if key[0] == "op" else self.builder.output)(key[1], expanded)

    # over the inputs

    def _at_inputs(self, key: Key) -> None:
        """Decide the claim over the inputs themselves; a vector that refutes it is tried on all other claims too."""
        if self._cone_size(key) > _LARGEST:
            return
        for basis, obligation, given in self._over_inputs(key):
            decided = self.pool.decide(obligation.rtl, obligation.wanted, given)
            decision = decided.decision
            if decision.equal:
                self._prove(key, decided, basis)
            elif decision.equal is False:
                vector = {number: decision.model.get(term, 0) for term, number in _inputs(obligation).items()}
                columns = variations(self.builder.boundary.inputs, vector, _VARIED, self.options.seed)
                self._on_vectors(
                    self._assumptions.moved_inside(columns) if Basis.DECLARED in basis else columns, _VARIED
                )
            if self.claims[key].status is not Status.UNKNOWN:
                return

    def _over_inputs(self, key: Key) -> Iterator[Statement]:
        obligation = self._build(key, lambda index: True)
        kept = obligation.kept if self.options.check else ()
        basis = Basis.ALL_OPS | (Basis.PROMISES if kept else Basis.PLAIN)
        yield basis, obligation, kept
        bounds = [x for variable, n in _inputs(obligation).items() for x in self._assumptions.of_input(n, variable)]
        if bounds:
            yield basis | Basis.DECLARED, obligation, (*kept, *bounds)

    def _cone_size(self, key: Key) -> int:
        seen = set(self.obligations[key].reads) | set(self._operands(key))
        work = list(seen)
        while work:
            for i in self.program.ops[work.pop()].operands:
                if i not in seen:
                    seen.add(i)
                    work.append(i)
        return len(seen)

    # without the cut points that are not proved

    def _replaced_cuts(self) -> None:
        """Drop cut points that are not proved, and prove the claims that rest on them again without these points."""
        while self._found is None:
            failed = {c.number for c in self.claims.values() if c.kind == "op" and c.status is not Status.PROVED}
            failed &= set(self.builder.cut)
            resting = self._resting_on(failed)
            for key in resting | {key for key in self._open() if key[0] == "output"}:
                self.claims[key] = replace(self.claims[key], status=Status.UNKNOWN)
            for index in failed:
                self.builder.drop(index)
            todo = [key for key in self._open() if key[0] == "output" or key[1] in self.builder.cut]
            progress = False
            for done, key in enumerate(todo):
                self.watcher.progress("claims without wrong ops", done, len(todo))
                if key[0] == "op" and key not in resting:
                    continue
                self.obligations[key] = self._build(key, lambda index: False)
                obligation = self.obligations[key]
                decided = self.pool.decide(obligation.rtl, obligation.wanted)
                if decided.decision.equal:
                    self._prove(key, decided, Basis.WITHOUT_WRONG_OPS if resting else Basis.PLAIN)
                elif not self._sharper(key):
                    self._at_inputs(key)
                progress |= self.claims[key].status is not Status.UNKNOWN
                if self._found is not None:
                    return
            still = {c.number for c in self.claims.values() if c.kind == "op" and c.status is not Status.PROVED}
            if not still & set(self.builder.cut):
                return

    def _resting_on(self, failed: set[int]) -> set[Key]:
        """Return the claims whose obligations read the signal of a failed op."""
        readers: dict[int, list[Key]] = {}
        for key, obligation in self.obligations.items():
            for source in obligation.sources:
                if source.kind == "op":
                    readers.setdefault(source.number, []).append(key)
            for index in obligation.reads:
                readers.setdefault(index, []).append(key)
        return {key for index in failed for key in readers.get(index, []) if key[1] not in failed or key[0] != "op"}


def _inputs(obligation: Obligation) -> dict[Term, int]:
    """Return the variables that stand for inputs, each with the number of its input."""
    return {term: source.number for term, source in obligation.variables().items() if source.kind == "input"}
