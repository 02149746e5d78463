"""Decide many obligations: each different one once, cached ones not at all, and many hard ones in several processes."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.solve.discharge import Discharge, decide
from dais_verif.prover.solve.obligation_cache import ObligationCache, key_of
from dais_verif.prover.terms import Term, leaves
from dais_verif.record.proof import Method

__all__ = ["Decided", "Pool", "Question"]

#: ``(a, b, given)``: are ``a`` and ``b`` equal wherever all of ``given`` are 1?
Question = tuple[Term, Term, tuple[Term, ...]]

#: Seconds of work in this process before other processes are started for the remaining questions.
_ALONE_SECONDS = 1.0

#: The questions for forked processes, which inherit them, so that terms need not be copied.
_questions: list[Question] = []
_timeout = 0.0


class Decided(NamedTuple):
    """A decision, and whether it is from an earlier run."""

    decision: Discharge
    cached: bool


class Pool:
    """Decides questions and remembers the decisions. Its ``len`` is the number of different questions."""

    def __init__(self, options: ProofOptions, watcher: ProofWatcher) -> None:
        self._options, self._watcher = options, watcher
        self._store = ObligationCache(options.store)
        self._known: dict[Question, Decided] = {}

    def within(self, seconds: float) -> Pool:
        """Return a pool that shares the decisions of this one, with a limit of ``seconds`` per question."""
        other = Pool(replace(self._options, timeout=seconds), self._watcher)
        other._known = self._known
        return other

    def __len__(self) -> int:
        return len(self._known)

    def decide(self, a: Term, b: Term, given: Sequence[Term] = ()) -> Decided:
        """Return the answer to one question."""
        question = a, b, tuple(t for t in given if t.op != "const" or not t.value)
        self.decide_all([question])
        return self._known[question]

    def equal(self, a: Term, b: Term, given: tuple[Term, ...]) -> Discharge:
        """Return the decision of one question."""
        return self.decide(a, b, given).decision

    def decide_all(self, questions: Iterable[Question]) -> None:
        """Answer all ``questions``, so that ``decide`` has the answers."""
        new = list(dict.fromkeys(q for q in questions if q not in self._known))
        rest = []
        for question in new:
            if question[0] is question[1]:
                self._known[question] = Decided(Discharge(True, Method.IDENTICAL, 0.0), False)
            else:
                rest.append(question)
        if not rest:
            return
        keys = {question: key_of(*question) for question in rest} if self._options.store else {}
        found = self._store.find(keys.values()) if keys else {}
        for question, key in keys.items():
            if key in found:
                self._known[question] = Decided(Discharge(True, found[key], 0.0), True)
        rest = [question for question in rest if question not in self._known]
        self._work(rest)
        proved = {keys[q]: self._known[q].decision for q in rest if q in keys}
        self._store.keep({key: decision.method for key, decision in proved.items() if decision.equal})

    def _work(self, questions: list[Question]) -> None:
        start = time.monotonic()
        for number, question in enumerate(questions):
            if time.monotonic() - start > _ALONE_SECONDS and self._options.jobs > 1 and len(questions) - number > 1:
                self._together(questions, number)
                return
            self._known[question] = Decided(decide(*question, timeout=self._options.timeout), False)
            self._watcher.progress("obligations", number + 1, len(questions))

    def _together(self, questions: list[Question], done: int) -> None:
        global _questions, _timeout
        _questions, _timeout = questions[done:], self._options.timeout
        jobs = min(self._options.jobs, len(_questions))
        try:
            with multiprocessing.get_context("fork").Pool(jobs, _alone) as workers:
                for number, equal, method, seconds, values in workers.imap_unordered(_decided, range(len(_questions))):
                    question = _questions[number]
                    free = leaves(question[0], question[1], *question[2])
                    model = dict(zip(free, values, strict=True)) if values else {}
                    self._known[question] = Decided(Discharge(equal, Method(method), seconds, model), False)
                    done += 1
                    self._watcher.progress("obligations", done, len(questions))
        finally:
            _questions = []


def _alone() -> None:
    """Set the signal handlers of a worker: SIGTERM ends it silently; Ctrl-C is left to the parent process."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _decided(number: int) -> tuple[int, bool | None, str, float, list[int]]:
    """Answer one question in a worker. The model is returned as values of the leaves, in order."""
    a, b, given = _questions[number]
    decision = decide(a, b, given, _timeout)
    values = [decision.model.get(t, 0) for t in leaves(a, b, *given)] if decision.model else []
    return number, decision.equal, decision.method.value, decision.seconds, values
