"""Which bits of ports are which bits of inputs and outputs, and when values of two types are the same number."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.said import raises
from support.wiring import Wiring

from dais_verif.base.errors import InputError, ProofError
from dais_verif.hardware.ports.interface import Clocking, DesignInterface, Wire, packed
from dais_verif.prover.bit_spans import Spans
from dais_verif.prover.boundary import Boundary, Piece
from dais_verif.prover.netlist import Netlist, Signal
from dais_verif.prover.solve.discharge import decide
from dais_verif.prover.terms import Term, concat, const, extract, var
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.ports import Element, Ports

A, B = var(6, "A"), var(5, "B")


def element(number: int) -> Term:
    return (A, B)[number]


def boundary_of(signal: Signal, *pieces: tuple[int, int, Piece]) -> Boundary:
    return Boundary((), (), (), (), (), {signal: Spans(pieces)}, {})


def nothing(bit: int) -> Term:
    return var(1, f"port P {bit}")


# pieces of ports


def test_pieces_and_what_lies_between_them() -> None:
    port = Signal("P", 12, "model.v:1")
    boundary = boundary_of(port, (1, 4, Piece(0, 2)), (7, 3, Piece(1, 0)))
    whole = concat(nothing(11), nothing(10), extract(B, 0, 3), nothing(6), nothing(5), extract(A, 2, 4), nothing(0))
    for low in range(12):
        for width in range(1, 13 - low):
            assert boundary.given(port, low, width, element) is extract(whole, low, width), (low, width)


def test_constants_have_their_bits() -> None:
    port, other = Signal("P", 4, "model.v:1"), Signal("Q", 4, "model.v:1")
    boundary = Boundary((), (), (), (), (), {}, {port: 0b1010})
    assert boundary.given(port, 1, 3, element) is const(3, 0b101)
    assert boundary.given(port, 0, 4, element) is const(4, 0b1010)
    assert boundary.given(other, 0, 4, element) is None
    assert boundary.is_input(port)
    assert not boundary.is_input(other)


def test_an_input_of_which_nothing_is_known_is_refused_unless_it_is_held() -> None:
    port = Signal("P", 1, "model.v:1")
    boundary = Boundary((), (), (), (), (), {}, {}, frozenset({port}))
    with raises(InputError):
        boundary.given(port, 0, 1, element)
    assert not boundary.is_input(port)
    held = boundary.holding({port: 1})
    assert held.given(port, 0, 1, element) is const(1, 1)
    assert (held.others, held.is_input(port)) == (frozenset(), True)


def test_what_is_held_is_added_to_what_is_constant() -> None:
    ports = [Signal(name, 1, "model.v:1") for name in "PQR"]
    boundary = Boundary((), (), (), (), (), {}, {ports[0]: 1}, frozenset(ports[1:]))
    held = boundary.holding({ports[1]: 0})
    assert held.constants == {ports[0]: 1, ports[1]: 0}
    assert held.others == {ports[2]}


def test_results_are_gathered_from_their_ports() -> None:
    low, high = Signal("L", 6, "model.v:1"), Signal("H", 6, "model.v:1")
    wires = ((high, Wire("H", 6, 6)), (low, Wire("L", 0, 6)))
    outputs = (Element(0, 4, 0), Element(4, 5, 0), Element(9, 0, 0), Element(9, 3, 0))
    kinds = tuple(FixedType(0, e.width, 0) for e in outputs)
    boundary = Boundary((), outputs, kinds, kinds, wires, {}, {})
    terms = {low: var(6, "L"), high: var(6, "H")}
    row = concat(terms[high], terms[low])
    for number, (offset, width, _) in enumerate(outputs):
        found = boundary.result(number, lambda signal, at, count: extract(terms[signal], at, count))
        assert found is (extract(row, offset, width) if width else const(1, 0))
    assert boundary.result_ports == (high, low)
    assert boundary.claimed == [0, 1, 3]


def test_an_output_that_only_one_side_has_is_claimed() -> None:
    some, none = FixedType(0, 3, 0), FixedType(0, 0, 0)
    boundary = Boundary((), (), (some, none, none, some), (none, some, none, some), (), {}, {})
    assert boundary.claimed == [0, 1, 3]


# the same number in two types

TYPES = [FixedType(k, i, f) for k in (0, 1) for i in (-1, 0, 1, 2) for f in (-1, 0, 1, 2) if k + i + f >= 0]


def number(value: int, kind: FixedType) -> int:
    """Return four times the real number, which is an integer."""
    if not kind.width:
        return 0
    if kind.k and value >> (kind.width - 1):
        value -= 1 << kind.width
    return value << (2 - kind.f)


@pytest.mark.parametrize("port", TYPES, ids=str)
def test_two_types_hold_one_number(port: FixedType) -> None:
    for own in TYPES:
        boundary = Boundary((), (), (port,), (own,), (), {}, {})
        for x in range(1 << port.width):
            for y in range(1 << own.width):
                a, b = boundary.as_numbers(0, const(max(port.width, 1), x), const(max(own.width, 1), y))
                assert a.width == b.width
                assert (a is b) == (number(x, port) == number(y, own)), (port, own, x, y)


# programs and their designs

ROWS = [(-1, 0, -1, 0, (0, 3, 0)), (-1, 1, -1, 0, (1, 2, 1)), (0, 0, 1, 0, (1, 5, 1))]
PROGRAM = Program.build(ROWS, [(2, 0, 0)], inp_shift=[0, 0])


def design(**inputs: int) -> Netlist:
    wiring = Wiring(**inputs).wire("model_out", 7, lambda s: const(7, 0))
    return wiring.netlist("model_out")


def test_packed_ports_of_a_program() -> None:
    netlist = design(model_inp=7)
    boundary = Boundary.of(PROGRAM, netlist, packed(PROGRAM))
    port = netlist.signals["model_inp"]
    assert [e.width for e in boundary.inputs] == [3, 4]
    x, y = var(3, "x"), var(4, "y")
    assert boundary.given(port, 0, 7, lambda n: (x, y)[n]) is concat(y, x)
    assert boundary.kinds == boundary.own == PROGRAM.output_types
    assert boundary.result_ports == (netlist.signals["model_out"],)
    assert boundary.others == frozenset()


def test_the_boundary_of_a_program_without_a_design() -> None:
    boundary = Boundary.of_program(PROGRAM)
    assert [e.width for e in boundary.inputs] == [3, 4]
    assert (boundary.wires, boundary.pieces, boundary.constants) == ((), {}, {})
    assert boundary.kinds == boundary.own == PROGRAM.output_types


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"other": 7}, r"'model'.*'model_inp' \(ports.*model_out\)"),
        ({"model_inp": 6}, r"'model_inp'.*'model'.*6 bits.*7"),
        ({"model_inp": 8}, r"'model_inp'.*'model'.*8 bits.*7"),
    ],
)
def test_ports_that_do_not_fit(inputs: dict[str, int], message: str) -> None:
    with pytest.raises(ProofError, match=message):
        Boundary.of(PROGRAM, design(**inputs), packed(PROGRAM))


def test_an_output_where_an_input_is_wanted() -> None:
    netlist = design(model_inp=7)._replace(inputs=("model_inp",), outputs=())
    with raises(InputError):
        Boundary.of(PROGRAM, netlist, packed(PROGRAM))


def of_pins(clocking: Clocking | None, ties: tuple[tuple[str, int], ...] = ()) -> Boundary:
    dut = packed(PROGRAM)
    interface = DesignInterface(dut.interface.inputs, dut.interface.outputs, clocking, ties)
    netlist = design(model_inp=7, clk=1, rst=1, v=1, t=1)
    return Boundary.of(PROGRAM, netlist, replace(dut, interface=interface))


def names(boundary: Boundary) -> tuple[dict[str, int], set[str]]:
    return {signal.name: value for signal, value in boundary.constants.items()}, {s.name for s in boundary.others}


def test_pins_are_what_they_are_for_a_valid_vector() -> None:
    assert names(of_pins(None)) == ({}, {"clk", "rst", "v", "t"})
    assert names(of_pins(None, (("t", 1), ("gone", 0)))) == ({"t": 1}, {"clk", "rst", "v"})
    assert names(of_pins(Clocking("clk"))) == ({}, {"clk", "rst", "v", "t"})
    assert names(of_pins(Clocking("clk", reset="rst"))) == ({"rst": 0}, {"clk", "v", "t"})
    assert names(of_pins(Clocking("clk", reset="rst", reset_low=True, valid_in="v"), (("t", 0),))) == (
        {"rst": 1, "v": 1, "t": 0},
        {"clk"},
    )


def test_an_input_that_the_port_and_the_program_size_otherwise() -> None:
    """The input's variable has all bits that the port or the program has; the port carries its own part of them."""
    dut = packed(PROGRAM)
    ports = Ports((Element(0, 4, -1), Element(4, 3, 0)), dut.ports.outputs)
    netlist = design(model_inp=7)
    boundary = Boundary.of(PROGRAM, netlist, replace(dut, ports=ports))
    assert [(e.width, e.lo) for e in boundary.inputs] == [(4, -1), (4, -1)]
    x, y = var(4, "x"), var(4, "y")
    given = boundary.given(netlist.signals["model_inp"], 0, 7, lambda n: (x, y)[n])
    assert given is concat(extract(y, 1, 3), x)


def test_an_input_that_only_one_of_them_has() -> None:
    dut = packed(PROGRAM)
    ports = Ports((Element(0, 0, 0), Element(0, 7, -3)), dut.ports.outputs)
    boundary = Boundary.of(PROGRAM, design(model_inp=7), replace(dut, ports=ports))
    assert [(e.width, e.lo) for e in boundary.inputs] == [(3, 0), (7, -3)]


def test_equal_types_are_compared_as_they_are() -> None:
    kind = FixedType(1, 2, 1)
    boundary = Boundary((), (), (kind,), (kind,), (), {}, {})
    a, b = var(4, "a"), var(4, "b")
    assert boundary.as_numbers(0, a, b) == (a, b)
    assert decide(*boundary.as_numbers(0, a, a), (), 1.0).equal is True


def test_an_input_that_begins_in_one_port_and_ends_in_another() -> None:
    dut = packed(PROGRAM)
    ports = Ports((Element(0, 4, 1), Element(4, 3, 0)), dut.ports.outputs)
    interface = DesignInterface((Wire("p", 0, 3), Wire("q", 3, 4)), dut.interface.outputs)
    netlist = design(p=3, q=4)
    boundary = Boundary.of(PROGRAM, netlist, replace(dut, ports=ports, interface=interface))
    assert [(e.width, e.lo) for e in boundary.inputs] == [(5, 0), (4, -1)]
    x, y = var(5, "x"), var(4, "y")
    given = [boundary.given(netlist.signals[n], 0, w, lambda n: (x, y)[n]) for n, w in (("p", 3), ("q", 4))]
    assert given == [extract(x, 1, 3), concat(extract(y, 1, 3), extract(x, 4, 1))]
