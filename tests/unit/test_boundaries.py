"""Vectors at the boundaries of a program's choices: what they reach, and that they stay few and are always the same."""

from __future__ import annotations

import numpy as np
import pytest
from support.odd_programs import ODD_PROGRAMS
from support.programs import every_opcode

from dais_verif.coverage.boundaries import boundary_vectors, with_boundaries
from dais_verif.golden.batch import compile_program
from dais_verif.spec.program import Program
from dais_verif.spec.program.assembler import assemble

#: ``a <= 1234.296875`` on 34 bits.
COMPARED = assemble("""layout v1
input x
a = s34.6 input x
d = s35.6 a - 1234.296875
lo = s5.0 3
hi = s5.0 -7
z = s35.6 -0.015625
e = s36.6 d + z
y = s5.0 msb(e) ? lo : hi
output y = y
""")
SATURATED = assemble("""layout v1
input x
a = s40.0 input x
q = s20.0 quant(a)
r = u19.0 relu(q)
output y = r
""")


def _reached(program: Program, op: int) -> set[int]:
    trace = compile_program(program).trace(boundary_vectors(program, 100, 0))[op]
    assert trace is not None
    return {int(value) for value in trace}


def test_both_sides_of_a_comparison_are_reached() -> None:
    assert {-1, 0} <= _reached(COMPARED, 5)


def test_the_edges_of_a_type_and_the_kink_are_reached() -> None:
    last = (1 << 19) - 1
    assert {last, last + 1, -last - 1, -last - 2} <= _reached(SATURATED, 0)
    assert {-1, 0, 1} <= _reached(SATURATED, 1)


@pytest.mark.parametrize("seed", [0, 7])
def test_they_are_the_last_vectors_and_depend_on_the_seed_alone(seed: int) -> None:
    first, count = with_boundaries(COMPARED, 100, seed)
    again, _ = with_boundaries(COMPARED, 100, seed)
    assert first.rows == 100 and 0 < count <= 25
    for one, other in zip(first.slice(0, 100).columns, again.slice(0, 100).columns, strict=True):
        assert np.array_equal(one.mantissa, other.mantissa) and one.exponent == other.exponent


@pytest.mark.parametrize("name", ODD_PROGRAMS)
def test_no_shape_of_a_program_is_too_odd(name: str) -> None:
    assert boundary_vectors(ODD_PROGRAMS[name], 20, 0).rows <= 20


def test_promises_are_kept_and_the_number_is_limited() -> None:
    program = every_opcode()
    found = boundary_vectors(program, 3, 0)
    assert found.rows == 3 and compile_program(program).run(found)[1] is None
    assert boundary_vectors(program, 0, 0).rows == 0
