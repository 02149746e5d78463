"""The run time of a sequence: by instruction, and summed over instructions of the same kind."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import EngineError
from dais_verif.golden.vm.execute import batch_of, executor_of, seed_of
from dais_verif.golden.vm.instructions import InstructionSequence, instruction_lines
from dais_verif.golden.vm.machine import CHUNK, FastExecutor, NumpyExecutor
from dais_verif.golden.vm.pullback import pullback_steps

__all__ = ["Kind", "Profile", "benchmark_accept_instructions"]


class Kind(NamedTuple):
    """All instructions of one kind: their number, and the nanoseconds that a call spends in them."""

    name: str
    size: int
    ns: int


@dataclass(frozen=True, eq=False)
class Profile:
    """Mean time of ``calls`` calls over ``rows`` rows.

    ``ns``: integer nanoseconds per instruction and call, (n,), in the order of instructions; all totals are sums of
    these integers.
    """

    iseq: InstructionSequence
    rows: int
    calls: int
    ns: NDArray[np.int64]
    #: The timed engine: ``fast`` (the C kernel) or ``numpy``.
    engine: str

    @property
    def total(self) -> int:
        """The nanoseconds of a call."""
        return int(self.ns.sum())

    @property
    def above_average(self) -> NDArray[np.bool_]:
        """The positions of instructions that take more time than the mean of all instructions."""
        return self.ns * len(self.ns) > self.total

    def kinds(self, top_k: int) -> list[Kind]:
        """Return the ``top_k`` kinds that take the most time, then all other kinds combined, if there are any."""
        count: Counter[str] = Counter()
        spent: Counter[str] = Counter()
        for position, ns in enumerate(self.ns.tolist()):
            name = self.iseq.mnemonic(position)
            count[name] += 1
            spent[name] += ns
        ranked = [Kind(name, count[name], ns) for name, ns in spent.most_common()]
        rest = ranked[top_k:]
        others = [Kind("others", sum(kind.size for kind in rest), sum(kind.ns for kind in rest))] if rest else []
        return ranked[:top_k] + others


def benchmark_accept_instructions(
    iseq: InstructionSequence,
    n_sample: int = 1,
    ignore_first_call: bool = False,
    stream: TextIO | None = None,
    top_k: int = 10,
    *,
    x: Any = None,
    engine: str = "auto",
) -> Profile:
    """Time ``n_sample`` unchecked calls of ``iseq``; the first is not counted if ``ignore_first_call``.

    Writes to ``stream`` (stdout) one line per instruction, in order, with its mean time per call, and a ``*`` if this
    is above the average; then the ``top_k`` kinds of instructions with their share. ``x``: as for
    ``accept_instructions``; the default for input vectors is zeros. ``engine``: as for ``accept_instructions``;
    pullbacks are always computed by numpy, from values of the last forward run. Raises ``InputError`` for invalid
    arguments.
    """
    _whole("n_sample", n_sample)
    _whole("top_k", top_k)
    if ignore_first_call and n_sample == 1:
        raise EngineError("n_sample is 1 and the first call is ignored, so nothing would be measured; use 2 or more")
    call, rows, name = _call(iseq, x, engine)
    if rows == 0:
        raise EngineError("there are no rows: nothing would be measured")
    calls = [call() for _ in range(n_sample)][int(ignore_first_call) :]
    profile = Profile(iseq, rows, len(calls), np.array(calls, dtype=np.int64).sum(axis=0) // len(calls), name)
    (sys.stdout if stream is None else stream).write(_text(profile, top_k))
    return profile


Call = Callable[[], list[int]]


def _call(iseq: InstructionSequence, x: Any, engine: str) -> tuple[Call, int, str]:
    """Return a function that runs ``iseq`` and returns nanoseconds per instruction; the number of rows; the engine."""
    if iseq.direction == "pullback":
        seed = seed_of(iseq, x)
        gradient = np.zeros((len(seed), iseq.program.n_in))
        return lambda: _timed(pullback_steps(iseq, seed, gradient), len(iseq)), len(seed), "numpy"
    batch = batch_of(iseq, np.zeros((CHUNK, iseq.program.n_in)) if x is None else x)
    executor = executor_of(iseq, engine)
    if isinstance(executor, FastExecutor):
        return partial(executor.times, batch), batch.rows, "fast"
    steps = executor if isinstance(executor, NumpyExecutor) else NumpyExecutor(iseq)

    def call() -> list[int]:
        chunks = (batch.slice(start, start + CHUNK) for start in range(0, batch.rows, CHUNK))
        times = [_timed(steps.steps(chunk, steps.memory(), check=False), len(iseq)) for chunk in chunks]
        return [sum(ns) for ns in zip(*times, strict=True)]

    return call, batch.rows, "numpy"


def _timed(steps: Iterator[Any], n: int) -> list[int]:
    """Return the nanoseconds of each of ``n`` steps."""
    times, before = [0] * n, perf_counter_ns()
    for position, _ in enumerate(steps):
        times[position] = perf_counter_ns() - before
        before = perf_counter_ns()
    return times


def _text(profile: Profile, top_k: int) -> str:
    iseq, total = profile.iseq, profile.total
    lines = [
        f"[{iseq.direction.capitalize()}] {profile.rows} rows, mean of {profile.calls} calls, {profile.engine} engine",
        f"{'us':>12}",
    ]
    texts = instruction_lines(iseq, range(len(iseq)))
    for ns, above, text in zip(profile.ns.tolist(), profile.above_average.tolist(), texts, strict=True):
        lines.append(f"{'*' if above else ' '} {ns / 1000:>10.3f} {text}")
    lines += ["", f"  {'kind':<13}  {'count':>6}  {'us':>12}  share"]
    for kind in (*profile.kinds(top_k), Kind("total", len(iseq), total)):
        share = f"{100 * kind.ns / total:.1f} %" if total else "-"
        lines.append(f"  {kind.name:<13}  {kind.size:>6}  {kind.ns / 1000:>12.3f}  {share:>7}")
    return "\n".join(lines) + "\n"


def _whole(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise EngineError(f"{name} must be a whole number of at least 1, not {value!r}")
