"""An incremental SAT solver over a graph: it loads only cones of questions, and keeps learnt clauses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from pysat.solvers import Glucose4

from dais_verif.prover.gates.aig import Aig

__all__ = ["SatAnswer", "SatSolver"]

#: Conflicts between two checks of the time limit.
_STEP = 2000
#: Limits of the number of nodes that a solver may know before a new solver replaces it, since each answer assigns all
#: known nodes: a least limit, and a multiple of the nodes of the first question. The larger one applies.
_LEAST, _TIMES = 5000, 4


class SatAnswer(NamedTuple):
    """``found``: whether there is a solution; None: unknown. ``ones``: the input nodes that are 1 in it."""

    found: bool | None
    ones: frozenset[int] = frozenset()


class SatSolver:
    """A solver for ``aig``, which may grow. It starts again once it knows many more nodes than it needs."""

    def __init__(self, aig: Aig) -> None:
        self._aig = aig
        self._begin()

    def _begin(self) -> None:
        self._solver = Glucose4()
        self._solver.add_clause([-1])
        #: The variable of each node that occurred in a question, and of all nodes behind it.
        self._variables = {0: 1}
        self._inputs: list[int] = []
        self._count = 1
        #: The largest number of nodes that may be known; 0 until the first question is loaded.
        self._limit = 0

    @property
    def known(self) -> int:
        """The number of nodes that the solver knows."""
        return len(self._variables)

    def differ(self, a: int, b: int, conflicts: int) -> SatAnswer:
        """Search for inputs for which literals ``a`` and ``b`` differ; give up after ``conflicts``."""
        question = self._question(a, b)
        self._solver.conf_budget(conflicts)
        return self._answer(a, b, question, self._solver.solve_limited(assumptions=[question]), ())

    def differ_within(self, a: int, b: int, given: Sequence[int], seconds: float) -> SatAnswer:
        """Search for inputs for which ``a`` and ``b`` differ and all of ``given`` are 1; give up after ``seconds``."""
        question = self._question(a, b)
        assumed = [question, *(self._literal(literal) for literal in given)]
        end = time.monotonic() + seconds
        found = None
        while found is None and time.monotonic() < end:
            self._solver.conf_budget(_STEP)
            found = self._solver.solve_limited(assumptions=assumed)
        return self._answer(a, b, question, found, given)

    def _question(self, a: int, b: int) -> int:
        """Return a new variable that can be 1 only if the two literals differ."""
        if 0 < self._limit < self.known:
            self._solver.delete()
            self._begin()
        p, q = self._literal(a), self._literal(b)
        self._limit = self._limit or max(_LEAST, _TIMES * self.known)
        self._count += 1
        self._solver.add_clause([-self._count, p, q])
        self._solver.add_clause([-self._count, -p, -q])
        return self._count

    def _answer(self, a: int, b: int, question: int, found: bool | None, given: Sequence[int]) -> SatAnswer:
        ones: frozenset[int] = frozenset()
        if found:
            model = self._solver.get_model()
            ones = frozenset(node for node in self._inputs if model[self._variables[node] - 1] > 0)
        self._solver.add_clause([-question])
        if found is False and not given:  # the equality helps with later questions
            p, q = self._literal(a), self._literal(b)
            self._solver.add_clause([-p, q])
            self._solver.add_clause([p, -q])
        return SatAnswer(found, ones)

    def _literal(self, literal: int) -> int:
        variable = self._variables.get(literal >> 1)
        if variable is None:
            self._load(literal >> 1)
            variable = self._variables[literal >> 1]
        return -variable if literal & 1 else variable

    def _load(self, root: int) -> None:
        low, high, known = self._aig.low, self._aig.high, self._variables
        waiting, gates = [root], []
        while waiting:
            node = waiting.pop()
            if node in known:
                continue
            self._count += 1
            known[node] = self._count
            if low[node] < 0:
                self._inputs.append(node)
            else:
                gates.append(node)
                waiting += [low[node] >> 1, high[node] >> 1]
        for node in gates:
            x, y, z = self._literal(low[node]), self._literal(high[node]), known[node]
            for clause in ([-z, x], [-z, y], [z, -x, -y]):
                self._solver.add_clause(clause)
