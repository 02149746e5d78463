"""Integers are packed into port bits and unpacked again."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs, unpack_element
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import Element, Ports, ports_of


def ports_with(widths: list[int], los: list[int]) -> tuple[Element, ...]:
    elements, offset = [], 0
    for width, lo in zip(widths, los, strict=True):
        elements.append(Element(offset, width, lo))
        offset += width
    return tuple(elements)


@st.composite
def raw_rows(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    """Draw widths, among them 0 and some far beyond 64, and rows of integers of any size."""
    widths = draw(st.lists(st.integers(0, 9) | st.sampled_from([31, 32, 33, 63, 64, 65, 200]), max_size=6))
    limit = 1 << draw(st.sampled_from([4, 31, 62, 63, 64, 300]))
    row = st.tuples(*(st.integers(-limit, limit) for _ in widths)).map(list)
    return widths, draw(st.lists(row, max_size=5))


@given(raw_rows())
def test_every_output_comes_back_modulo_its_width(case: tuple[list[int], list[list[int]]]) -> None:
    widths, rows = case
    ports = Ports((), ports_with(widths, [0] * len(widths)))
    columns = [np.array([row[j] for row in rows], dtype=object) for j in range(len(widths))]
    packed = pack_outputs(columns, ports, len(rows))
    assert packed.shape == (len(rows), max(-(-sum(widths) // 64), 1))
    for number, row in enumerate(rows):
        bits = bits_of_row(packed, number, sum(widths))
        for value, element in zip(row, ports.outputs, strict=True):
            own = unpack_element(bits, element)
            assert len(own) == element.width
            assert int(own or "0", 2) == value % (1 << element.width)


@given(raw_rows())
def test_int64_and_python_integers_pack_alike(case: tuple[list[int], list[list[int]]]) -> None:
    widths, rows = case
    ports = Ports((), ports_with(widths, [0] * len(widths)))
    small = [[(v + (1 << 61)) % (1 << 62) - (1 << 61) for v in row] for row in rows]
    as_objects = [np.array([row[j] for row in small], dtype=object) for j in range(len(widths))]
    as_int64 = [column.astype(np.int64) for column in as_objects]
    assert np.array_equal(pack_outputs(as_objects, ports, len(rows)), pack_outputs(as_int64, ports, len(rows)))


@given(
    st.lists(st.tuples(st.integers(0, 70), st.integers(-70, 70)), min_size=1, max_size=4).flatmap(
        lambda elements: st.tuples(
            st.just(elements),
            st.lists(
                st.tuples(*(st.floats(allow_nan=False, allow_infinity=False) | st.integers() for _ in elements)),
                min_size=1,
                max_size=4,
            ),
        )
    )
)
def test_inputs_are_floored_and_wrapped(case: tuple[list[tuple[int, int]], list[tuple[Any, ...]]]) -> None:
    elements, rows = case
    ports = Ports(ports_with([width for width, _ in elements], [lo for _, lo in elements]), ())
    batch = Batch.of([list(row) for row in rows], len(elements))
    packed = pack_inputs(batch, ports)
    for number in range(len(rows)):
        bits = bits_of_row(packed, number, ports.input_bits)
        for value, element in zip(batch.row(number), ports.inputs, strict=True):
            expected = (value / 2**element.lo if element.lo >= 0 else value * 2**-element.lo).__floor__()
            assert int(unpack_element(bits, element) or "0", 2) == expected % (1 << element.width)


def test_element_0_is_least_significant() -> None:
    # Input 0: s4.2; input 1: not read; input 2: u2.0.
    rows = [(-1, 0, -1, 0, (1, 1, 2)), (-1, 2, -1, 0, (0, 2, 0)), (0, 0, 1, 0, (1, 4, 2))]
    program = Program.build(rows, [(2, 0, 1), (-1, 0, 0), (1, 0, 0)], inp_shift=[0, 0, 0])
    ports = ports_of(program)
    assert (ports.input_bits, ports.output_bits) == (6, 10)
    packed = pack_inputs(Batch.of([[-0.5, 99.0, 2.0], [1.8, 0.0, 7.0]], 3), ports)
    assert [bits_of_row(packed, row, 6) for row in (0, 1)] == ["10" + "1110", "11" + "0111"]
    packed = pack_outputs([np.array([-1]), np.array([0]), np.array([2])], ports, 1)
    assert bits_of_row(packed, 0, 10) == "10" + "11111111"


def test_the_last_word_is_filled_with_zeros() -> None:
    ports = Ports((), ports_with([3, 64], [0, 0]))
    assert pack_outputs([np.array([-1]), np.array([-1])], ports, 1).tolist() == [[(1 << 64) - 1, 0b111]]


def test_ports_without_bits() -> None:
    """Ports without bits are one bit wide and 0."""
    empty = Ports(ports_with([0], [0]), ports_with([0], [0]))
    assert pack_inputs(Batch.of([[1.0], [2.0]], 1), empty).tolist() == [[0], [0]]
    assert pack_outputs([np.array([5, 6])], empty, 2).tolist() == [[0], [0]]
    assert unpack_element("0", empty.outputs[0]) == ""
