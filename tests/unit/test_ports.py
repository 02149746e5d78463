"""Ports: which bits of model_inp and model_out belong to which input and output."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from support.strategies import batches
from support.tier import examples

from dais_verif.golden import oracle
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import Element, ports_of

S4 = (1, 3, 0)


def inputs_of(shifts: list[int], *readers: tuple[int, tuple[int, int, int]]) -> tuple[Element, ...]:
    rows = [(-1, j, -1, 0, kind) for j, kind in readers]
    return ports_of(Program.build(rows, [], inp_shift=shifts)).inputs


#: Name: inp_shifts, readers, elements as (offset, width, lo).
INPUTS: dict[str, tuple[list[int], list[Any], list[tuple[int, int, int]]]] = {
    "signed": ([0], [(0, S4)], [(0, 4, 0)]),
    "fractional": ([0], [(0, (1, -1, 5))], [(0, 5, -5)]),
    "negative f": ([0], [(0, (0, 6, -2))], [(0, 4, 2)]),
    "positive shift: lower weights": ([3], [(0, S4)], [(0, 4, -3)]),
    "negative shift: higher weights": ([-2], [(0, S4)], [(0, 4, 2)]),
    "two readers, the union": ([0], [(0, (0, 2, 0)), (0, (1, 3, 2))], [(0, 6, -2)]),
    "two readers with a gap between them": ([0], [(0, (0, 2, 0)), (0, (0, -4, 6))], [(0, 8, -6)]),
    "a reader without bits changes nothing": ([0], [(0, S4), (0, (0, 9, -9))], [(0, 4, 0)]),
    "only a reader without bits": ([0, 0], [(0, (1, 8, -9)), (1, S4)], [(0, 0, 0), (0, 4, 0)]),
    "not read": ([0, 5, 0], [(0, S4), (2, (0, 3, 0))], [(0, 4, 0), (4, 0, 0), (4, 3, 0)]),
    "element 0 lowest whatever the order": ([0, 0], [(1, (0, 2, 0)), (0, S4)], [(0, 4, 0), (4, 2, 0)]),
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs(name: str) -> None:
    shifts, readers, expected = INPUTS[name]
    assert inputs_of(shifts, *readers) == tuple(map(Element._make, expected))


#: Type of the op, out_shift, out_neg, and the expected (width, lo).
OUTPUTS = [
    (S4, 0, 0, (4, 0)),
    (S4, 0, 1, (5, 0)),
    ((0, 4, 0), 0, 0, (4, 0)),
    ((0, 4, 0), 0, 1, (5, 0)),
    ((1, -2, 5), 0, 1, (5, -5)),
    (S4, 3, 0, (4, 3)),
    (S4, -3, 1, (5, -3)),
    ((0, 2, 6), 10, 0, (8, 4)),
    ((0, 0, 0), 7, 1, (0, 0)),
    ((1, -3, 2), 7, 1, (0, 0)),
]


@pytest.mark.parametrize(("kind", "shift", "negated", "expected"), OUTPUTS)
def test_output(kind: Any, shift: int, negated: int, expected: tuple[int, int]) -> None:
    program = Program.build([(-1, 0, -1, 0, kind)], [(0, shift, negated)], inp_shift=[0])
    (element,) = ports_of(program).outputs
    assert (element.width, element.lo) == expected


def test_outputs_are_packed_without_gaps_and_constant_0_takes_no_bits() -> None:
    outputs = [(-1, 3, 1), (0, 0, 1), (-1, 0, 0), (0, 0, 0)]
    ports = ports_of(Program.build([(-1, 0, -1, 0, S4)], outputs, inp_shift=[0]))
    assert [(e.offset, e.width) for e in ports.outputs] == [(0, 0), (0, 5), (5, 0), (5, 4)]
    assert (ports.input_bits, ports.output_bits) == (4, 9)


def test_nothing_at_all_has_no_bits() -> None:
    ports = ports_of(Program.build([], []))
    assert (ports.inputs, ports.outputs, ports.input_bits, ports.output_bits) == ((), (), 0, 0)


def test_slices_of_two_readers_of_a_shifted_input() -> None:
    """With inp_shift 2, reader u3.1 has weights 2**-3..2**-1 of the raw input, and reader s4.0 2**-2..2**1."""
    rows = [(-1, 0, -1, 0, (0, 2, 1)), (-1, 1, -1, 0, (1, 3, 0)), (-1, 1, -1, 0, (0, 2, 1))]
    program = Program.build(rows, [], inp_shift=[0, 2])
    ports = ports_of(program)
    assert ports.inputs == (Element(0, 3, -1), Element(3, 5, -3))
    assert [ports.slice_of(op, int(program.inp_shift[op.id0])) for op in program.ops] == [(0, 3), (4, 4), (3, 3)]


@given(batches())
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bit_slices_are_what_the_input_ops_read(case: tuple[Program, list[list[Any]]]) -> None:
    """The element carries floor(x * 2**-lo) modulo its width, and every reader finds its value in it."""
    program, rows = case
    ports, batch = ports_of(program), Batch.of(rows, program.n_in)
    assert ports.input_bits == sum(e.width for e in ports.inputs)
    for row in range(batch.rows):
        vector = batch.row(row)
        packed = 0
        for x, element in zip(vector, ports.inputs, strict=True):
            packed |= (int(x * Fraction(2) ** -element.lo // 1) % (1 << element.width)) << element.offset
        values = oracle.trace(program, vector, violations=[])
        for op in program.ops:
            if op.code == -1 and op.type.width:
                lsb, width = ports.slice_of(op, int(program.inp_shift[op.id0]))
                raw = int(values[op.index] * Fraction(2) ** op.type.f)
                assert packed >> lsb & ((1 << width) - 1) == raw % (1 << width)
