"""Bound the difference between outputs of an approximated and the exact network: proved bounds, reached differences.

The bound holds for every input. The largest difference found for an input is at most the bound; the gap between the two
shows how loose the bound may be. Inputs with large differences are found by a search that changes a few inputs at a
time, and by the solver, which also lowers the bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.networks import Network
from dais_verif.compile.networks.approximate import Approximated
from dais_verif.compile.networks.differences import output_differences
from dais_verif.compile.networks.tensors import TensorModel
from dais_verif.golden import Golden
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.types import FixedType

__all__ = ["Bounds", "exact_outputs", "network_outputs", "plain_bounds", "sharpened"]

#: The numbers of vectors kept from round to round, of new vectors made from each of them, and of rounds.
_KEPT, _CHILDREN, _ROUNDS = 24, 8, 24
#: The largest number of inputs that are changed at once.
_CHANGED = 6
#: Inputs with more bits are not exact in float64.
_MOST_BITS = 53


@dataclass(frozen=True)
class Bounds:
    """For each output: ``bound``, a limit of the difference for all inputs, and ``reached``, the largest one found.

    ``unfinished``: outputs for which the time ended before the two values were equal. Raises ``AssertionError`` if a
    difference beyond its bound is reached: the bound is then wrong.
    """

    bound: tuple[Fraction, ...]
    reached: tuple[Fraction, ...]
    unfinished: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for output, (reached, bound) in enumerate(zip(self.reached, self.bound, strict=True)):
            if reached > bound:
                raise AssertionError(
                    f"output {output} differs by {reached}, beyond the bound {bound}: a defect of dais-verif"
                )


def plain_bounds(exact: Network, made: Approximated) -> tuple[Fraction, ...]:
    """Return an upper bound of the difference of each output, propagated from tensor to tensor.

    For networks that are too large to unroll it follows from the ranges of the outputs alone.
    """
    if not (exact.unrolls and made.network.unrolls):
        both = ([one for name in exact.outputs for one in network.bounds(name)] for network in (exact, made.network))
        return tuple(max(b[1] - a[0], a[1] - b[0]) for a, b in zip(*both, strict=True))
    if made.network.program().hash == exact.program().hash:
        return (Fraction(0),) * exact.program().n_out
    pairs = output_differences(exact, made.network, made.applied)
    return tuple(max(abs(pair.difference[0]), abs(pair.difference[1])) for pair in pairs)


def exact_outputs(program: Program, vectors: NDArray[np.float64], jobs: int | None) -> NDArray[np.object_]:
    """Return the exact outputs of each vector as ``Fraction``, shape (vectors, outputs)."""
    columns = Golden(program).run_raw(Batch.of(vectors, program.n_in), check=True, jobs=jobs)
    found = np.empty((len(vectors), len(columns)), dtype=object)
    for number, (column, kind) in enumerate(zip(columns, program.output_types, strict=True)):
        unit = Fraction(2) ** -kind.f
        found[:, number] = [unit * int(raw) for raw in column.tolist()]
    return found


def network_outputs(network: Network, vectors: NDArray[np.float64], jobs: int | None) -> NDArray[np.object_]:
    """Return the exact outputs of each vector; a network that is too large to unroll is computed on tensors."""
    if network.unrolls:
        return exact_outputs(network.program(), vectors, jobs)
    raw, f = TensorModel(network).run(Batch.of(vectors, vectors.shape[1]))
    unit = Fraction(2) ** -f
    found = np.empty(raw.shape, dtype=object)
    found.ravel()[:] = [unit * one for one in raw.ravel().tolist()]
    return found


def sharpened(
    exact: Network,
    made: Approximated,
    plain: Bounds,
    start: NDArray[np.float64],
    seconds: float,
    show: Callable[[str], None],
) -> Bounds:
    """Search for inputs with larger differences, and let the solver lower the bounds, ``seconds`` for each output.

    ``start``: vectors that the search begins with. The search is repeatable for the same ``start``. The number of
    solver queries decided in time may differ from computer to computer; all answers are sound.
    """
    from dais_verif.prover.distance_limit import Apart

    programs = exact.program(), made.network.program()
    kinds = [kind for name in exact.inputs for _ in exact.bounds(name) if (kind := exact.tensors[name].type)]
    if max(kind.width for kind in kinds) > _MOST_BITS:
        return Bounds(plain.bound, plain.reached, tuple(n for n in range(len(plain.bound)) if plain.bound[n]))
    search = _Search(programs, kinds, start)
    apart = Apart(*programs)
    bound, reached, unfinished = list(plain.bound), list(plain.reached), []
    for output in range(len(bound)):
        show(f"output {output}")
        if bound[output] > reached[output]:
            reached[output] = max(reached[output], search.reached(output))
            Bounds(tuple(bound), tuple(reached))
        end = time.monotonic() + seconds
        # If the solver does not decide a limit, try a larger one, which is easier to prove.
        opened = reached[output]
        while opened < bound[output]:
            left = end - time.monotonic()
            if left <= 0:
                break
            limit = search.on_grid(output, (opened + bound[output]) / 2)
            limit = limit if limit >= opened else opened
            answer = apart.within(output, limit, max(left / 2, 0.1))
            if answer.within:
                bound[output] = limit
            elif answer.witness is not None:
                row = np.array([[float(value) for value in answer.witness]])
                found = search.differences(row)[0, output]
                if found <= limit:
                    raise AssertionError(f"the golden model differs by {found} where the solver has more than {limit}")
                opened = reached[output] = max(reached[output], found)
            else:
                opened = limit + search.unit(output)
        if reached[output] < bound[output]:
            unfinished.append(output)
    return Bounds(tuple(bound), tuple(reached), tuple(unfinished))


class _Search:
    """A search that changes a few inputs at a time and keeps vectors with the largest differences; seeds are fixed."""

    def __init__(
        self, programs: tuple[Program, Program], kinds: Sequence[FixedType], start: NDArray[np.float64]
    ) -> None:
        self._programs, self._kinds = programs, kinds
        self._golden = Golden(programs[0]), Golden(programs[1])
        ends = np.array([[kind.raw_min, kind.raw_max] for kind in kinds], dtype=np.float64)
        self._low, self._high = ends.T
        self._unit = np.ldexp(1.0, [-kind.f for kind in kinds])
        rng = np.random.default_rng(0)
        corners = np.where(rng.random((len(start), len(kinds))) < 0.5, self._low, self._high) * self._unit
        self._start = np.concatenate([start, corners])
        self._found = self._apart(self._start)

    def unit(self, output: int) -> Fraction:
        """Return the smallest difference that two values of an output can have."""
        return Fraction(2) ** -max(program.output_types[output].f for program in self._programs)

    def on_grid(self, output: int, limit: Fraction) -> Fraction:
        """Return ``limit``, rounded down to the next possible difference."""
        unit = self.unit(output)
        return (limit / unit).__floor__() * unit

    def differences(self, rows: NDArray[np.float64]) -> NDArray[np.object_]:
        """Return the exact absolute differences of all outputs, one row per vector."""
        a, b = (exact_outputs(program, rows, 1) for program in self._programs)
        apart: NDArray[np.object_] = np.abs(b - a)
        return apart

    def _apart(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        sides = []
        for program, golden in zip(self._programs, self._golden, strict=True):
            columns = golden.run_raw(Batch.of(rows, program.n_in), check=True, jobs=1)
            kinds = program.output_types
            sides.append(
                np.stack([np.ldexp(np.asarray(c, dtype=np.float64), -k.f) for c, k in zip(columns, kinds, strict=True)])
            )
        apart: NDArray[np.float64] = np.abs(sides[1] - sides[0]).T
        return apart

    def reached(self, output: int) -> Fraction:
        """Search for vectors with large differences of an output, and return the largest difference found."""
        rng = np.random.default_rng(output)
        order = np.argsort(-self._found[:, output], kind="stable")[:_KEPT]
        rows, values = self._start[order], self._found[order, output]
        for _ in range(_ROUNDS):
            children = np.repeat(rows, _CHILDREN, axis=0)
            for child in children:
                at = rng.choice(len(self._kinds), min(int(rng.integers(1, _CHANGED)), len(self._kinds)), replace=False)
                low, high = self._low[at], self._high[at]
                anywhere = np.floor(low + rng.random(len(at)) * (high - low + 1))
                ends = np.where(rng.random(len(at)) < 0.5, low, high)
                child[at] = np.where(rng.random() < 0.5, ends, anywhere) * self._unit[at]
            rows = np.concatenate([rows, children])
            values = np.concatenate([values, self._apart(children)[:, output]])
            order = np.argsort(-values, kind="stable")[:_KEPT]
            rows, values = rows[order], values[order]
        return Fraction(self.differences(rows[:1])[0, output])
