"""The cost of verbs that walk programs grows linearly with the program, not quadratically, in executed lines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from support.counting import growth, lines

from dais_verif.coverage import Effort, measured
from dais_verif.coverage.inputs import READ, Readers
from dais_verif.golden.sensitivity import sensitivity
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import cone, readers
from dais_verif.stimulus import Generated, generate

NO_SOLVER = Effort(seconds=0)


def wide(n: int) -> Program:
    """Return a program of ``n`` inputs of eight bits and ``n`` outputs, each the sum of two inputs far apart."""
    rows = [(-1, j, -1, 0, (1, 7, 0)) for j in range(n)]
    rows += [(0, j, (7 * j + 3) % n, 0, (1, 8, 0)) for j in range(n)]
    return Program.build(rows, [(n + j, 0, 0) for j in range(n)], inp_shift=[0] * n)


def chain(n: int) -> Program:
    """Return a chain of ``n`` quantisations of one input that never truncate: nothing hits their truncation bins."""
    rows = [(-1, 0, -1, 0, (1, 7, 0)), *((3, j, -1, 0, (1, 8, 4)) for j in range(n))]
    return Program.build(rows, [(n, 0, 0)], inp_shift=[0])


def test_sensitivity_of_a_wide_program_is_linear() -> None:
    def measuring(n: int) -> Callable[[], object]:
        program = wide(n)
        batch = generate(program, 64, 0)
        return lambda: sensitivity(program, batch)

    assert growth(measuring, 100, 400) < 1.3


def test_a_small_cone_costs_little_in_a_large_program() -> None:
    program = wide(2000)
    assert cone(program, [3000]) == [1000, 1003, 3000]
    assert lines(lambda: cone(program, [3000])) < 50
    assert readers(wide(4)) == [[4, 7], [5, 6], [5, 6], [4, 7], [], [], [], []]


def test_inputs_are_given_what_they_lack_all_at_once() -> None:
    program = wide(300)
    found = Readers.of(program, declared=True)
    nothing = np.zeros(found.size, dtype=np.uint8)
    batch = found.together(nothing, program.n_in)
    assert 0 < batch.rows < 20
    seen = nothing.copy()
    found.see(batch, seen)
    assert seen.all(), f"{len(READ)} places of each reader and its corners"
    alone, left = found.alone(nothing, program.n_in, 3000)
    assert (alone.rows, left) == (10, 300 * batch.rows - 10)


def test_pulling_back_asks_so_many_ops_and_says_so() -> None:
    program = chain(60)
    vectors = Generated([program], 10, 0)
    free = measured(program, vectors, unreachable=False, effort=NO_SOLVER)
    assert not any("stopped after 100 ops" in limit for limit in free.limits)
    bounded = measured(program, vectors, unreachable=False, effort=Effort(seconds=0, asked=100, evaluations=0))
    assert [limit for limit in bounded.limits if "stopped after 100 ops" in limit]


def test_coverage_without_a_solver_is_linear() -> None:
    def measuring(n: int) -> Callable[[], object]:
        program = wide(n)
        vectors = Generated([program], 100, 0)
        return lambda: measured(program, vectors, effort=NO_SOLVER)

    assert growth(measuring, 100, 400) < 1.5
