"""Binding of a program to the ports of a design: ports are found, or the error names what was expected and found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from support.said import as_recorded, raises
from support.strategies import programs

from dais_verif.base.errors import InputError, ViolationError
from dais_verif.hardware.ports.bind import bind, in_words, sizings_of_inputs, sizings_of_outputs
from dais_verif.hardware.ports.discover import Port, only_module, ports_in
from dais_verif.hardware.ports.encode import encode_outputs
from dais_verif.hardware.ports.interface import Clocking, DesignInterface, Dut, Wire, packed
from dais_verif.hardware.ports.ports_file import PortsFile, Side
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.verbs import design_rtl
from dais_verif.verbs.designs import DesignRequest

#: Inputs s4.0 and s6.1; outputs are their sum in s8.1, the negated sum, and a constant 0.
SUM = Program.build(
    [(-1, 0, -1, 0, (1, 3, 0)), (-1, 1, -1, 0, (1, 4, 1)), (0, 0, 1, 0, (1, 6, 1))],
    [(2, 0, 0), (2, 0, 1), (-1, 0, 0)],
    inp_shift=[0, 0],
)
CLK = Port("clk", "in", 1)


def ports(*given: tuple[str, str, int]) -> list[Port]:
    return [Port(*port) for port in given]


def refusal(said: PortsFile, found: list[Port], program: Program = SUM) -> str:
    with pytest.raises(InputError) as caught:
        bind(program, said, found)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(programs())
def test_our_own_module_is_bound_as_it_is_packed(drawn: Any) -> None:
    program: Program = drawn[0]
    own = ports_of(program)
    inp, out = max(own.input_bits, 1), max(own.output_bits, 1)
    found = ports(("model_inp", "in", inp), ("model_out", "out", out))
    bound = bind(replace(program, intervals=None), PortsFile(), found)
    assert bound.ports == own
    assert bound.interface == packed(program).interface
    assert bound == replace(packed(program), how=bound.how)


def test_a_port_an_element() -> None:
    found = ports(
        ("y1", "out", 9), ("y0", "out", 8), ("x_1", "in", 6), ("x_0", "in", 4), ("y2", "out", 3), ("other", "out", 99)
    )
    bound = bind(SUM, PortsFile(Side("x_{}"), Side("y{}")), found)
    assert bound.interface.inputs == (Wire("x_0", 0, 4), Wire("x_1", 4, 6))
    # An output of zero bits is compared if the design has a port for it: the port must be 0.
    assert bound.interface.outputs == (Wire("y0", 0, 8), Wire("y1", 8, 9), Wire("y2", 17, 3))
    assert bound.output_types[2] == FixedType(0, 3, 0)
    assert bound.input_at(1) == ("x_1", bound.ports.inputs[1]._replace(offset=0))


def test_an_element_without_bits_needs_no_port() -> None:
    found = ports(("x_0", "in", 4), ("x_1", "in", 6), ("y0", "out", 8), ("y1", "out", 9))
    assert len(bind(SUM, PortsFile(Side("x_{}"), Side("y{}")), found).interface.outputs) == 2


def test_elements_of_an_array() -> None:
    array = Port("x", "in", 6, range(2))
    program = Program.build(
        [(-1, 0, -1, 0, (1, 4, 1)), (-1, 1, -1, 0, (1, 4, 1))], [(0, 0, 0), (1, 0, 0)], inp_shift=[0, 0]
    )
    bound = bind(program, PortsFile(Side("x[{}]")), [array, Port("model_out", "out", 12)])
    assert [wire.name for wire in bound.interface.inputs] == ["x[0]", "x[1]"]
    assert bound.interface.ports == ("x", "model_out")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (ports(("x", "in", 10)), "input port model_inp"),
        (ports(("model_inp", "out", 10)), "no input port model_inp"),
        (
            ports(("model_inp", "in", 9), ("model_out", "out", 17)),
            "model_inp",
        ),
        (ports(("model_inp", "in", 9), ("model_out", "out", 17)), "inputs 0: 4 bits, 1: 6 bits"),
        (ports(("model_inp", "in", 10), ("model_out", "out", 19)), "(outputs 0: 8 bits, 1: 9 bits, 2: 0 bits)"),
        ([], "10 bits (inputs 0: 4 bits, 1: 6 bits)"),
        ([CLK, *ports(("model_inp", "in", 10), ("model_out", "out", 17))], "port clk (in, 1 bit)"),
    ],
)
def test_packed_ports_that_do_not_fit(found: list[Port], words: str) -> None:
    said = refusal(PortsFile(), found)
    assert words in said
    as_recorded(said)


def test_ports_of_elements_that_do_not_fit_are_all_named() -> None:
    text = refusal(PortsFile(Side("x_{}")), ports(("x_0", "in", 5), ("y", "in", 6), ("model_out", "out", 17)))
    assert "port x_0 has 5 bits, must have 4; port x_1 is missing, must have 6 bits" in text
    assert all(part in text for part in ("design", "x_0 (in, 5 bits), y (in, 6 bits)"))
    few = PortsFile(Side("", ports=("a",)), where="ports file 'p.toml'")
    expected = "ports file 'p.toml': [inputs] ports names 1 port (a)"
    said = refusal(few, ports(("a", "in", 4)))
    assert expected in said
    as_recorded(said)


def test_of_a_wider_port_it_is_said_how_to_state_its_type() -> None:
    found = ports(("x_0", "in", 4), ("x_1", "in", 6), ("y0", "out", 8), ("y1", "out", 16))
    apart = PortsFile(Side("x_{}"), Side("y{}"))
    hint = '= ["s8.1", "s16.1", "u0.0"]'
    assert all(part in refusal(apart, found) for part in (f"{hint}: s16.1", "16 bits, 1"))
    types = FixedType(1, 6, 1), FixedType(1, 14, 1), FixedType(0, 0, 0)
    assert bind(SUM, replace(apart, outputs=Side("y{}", types=types)), found).output_types == types
    one = Program.build([(-1, 0, -1, 0, (1, 4, 1))], [(0, 0, 0)], inp_shift=[0])
    packed = refusal(PortsFile(), ports(("model_inp", "in", 6), ("model_out", "out", 32)), one)
    assert '= "s32.1": s32.1' in packed
    as_recorded(packed)
    narrow = refusal(apart, [*found[:3], Port("y1", "out", 7)])
    assert "types" not in narrow


@pytest.mark.parametrize(
    ("clocking", "ties", "words"),
    [
        (Clocking("clock"), (), "clk (in, 1 bit), model_inp"),
        (Clocking("model_out"), (), "model_out"),
        (Clocking("clk", valid_in="clk", valid_out="clk"), (), "clk (in, 1 bit), model_inp"),
        (Clocking("model_inp"), (), "port model_inp"),
        (Clocking("clk"), (("mode", 1),), "model_out"),
        (Clocking("clk"), (("wide", 8),), "wide = 8"),
    ],
)
def test_pins_that_do_not_fit(clocking: Clocking, ties: tuple[tuple[str, int], ...], words: str) -> None:
    found = [CLK, *ports(("model_inp", "in", 10), ("model_out", "out", 17), ("wide", "in", 3))]
    said = refusal(PortsFile(clocking=clocking, ties=ties), found)
    assert words in said
    as_recorded(said)


def test_pins_and_ties_drive_the_other_ports() -> None:
    found = [CLK, *ports(("model_inp", "in", 10), ("model_out", "out", 17), ("mode", "in", 3), ("probe", "out", 2))]
    interface = bind(SUM, PortsFile(clocking=Clocking("clk"), ties=(("mode", 5),)), found).interface
    assert interface.ports == ("model_inp", "model_out", "clk", "mode")
    assert DesignInterface.from_tree(interface.to_tree()) == interface
    assert interface.with_latency(7).clocking == Clocking("clk", 7)


class TestTypesOfTheFile:
    def test_finer_and_wider_elements(self) -> None:
        wide, out = (FixedType(1, 7, 4),), (FixedType(1, 9, 2),)
        found = ports(("model_inp", "in", 24), ("model_out", "out", 36))
        bound = bind(SUM, PortsFile(Side("model_inp", types=wide), Side("model_out", types=out)), found)
        assert [element[1:] for element in bound.ports.inputs] == [(12, -4), (12, -4)]
        assert bound.output_types == out * 3
        as_recorded(bound.how)

    @pytest.mark.parametrize("kind", [FixedType(1, 9, 0), FixedType(1, 3, 1), FixedType(0, 0, 0)])
    def test_an_input_must_carry_every_bit_that_is_read(self, kind: FixedType) -> None:
        text = refusal(PortsFile(Side("model_inp", types=(kind,))), ports(("model_inp", "in", 2 * kind.width)))
        assert str(kind) in text
        as_recorded(text)

    def test_an_output_must_carry_every_fractional_bit(self) -> None:
        said = PortsFile(outputs=Side("model_out", types=(FixedType(1, 9, 0),)))
        text = refusal(said, ports(("model_inp", "in", 10), ("model_out", "out", 30)))
        assert "[outputs] types: output 0" in text
        as_recorded(text)

    def test_one_type_for_all_or_one_each(self) -> None:
        said = PortsFile(Side("model_inp", types=(FixedType(1, 9, 4),) * 3))
        said = refusal(said, ports(("model_inp", "in", 42)))
        assert "(s14.4, s14.4, s14.4)" in said
        as_recorded(said)


class TestIntervals:
    """da4ml sizes its ports by the declared intervals; the ports of our own RTL are sized by types."""

    #: s4.0 declared as -7..7; the output is the negated input, for which four bits suffice.
    NEGATED = replace(
        Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 1), (-1, 0, 0)], inp_shift=[0]), intervals=((-7, 7),)
    )

    def test_are_tried_first(self) -> None:
        first, second = sizings_of_outputs(self.NEGATED)
        # With da4ml's intervals, an output of constant 0 is as wide as the last op.
        assert ([e.width for e in first.elements], first.how) == ([4, 4], "da4ml's intervals")
        assert ([e.width for e in second.elements], second.how) == ([5, 0], "the program's types")

    def test_what_fits_is_taken(self) -> None:
        inp = ("model_inp", "in", 4)
        by_intervals = bind(self.NEGATED, PortsFile(), ports(inp, ("model_out", "out", 8)))
        by_types = bind(self.NEGATED, PortsFile(), ports(inp, ("model_out", "out", 5)))
        assert (by_intervals.how, by_types.how) == (
            "the program's types and da4ml's intervals",
            "the program's types",
        )

    def test_an_input_is_as_wide_as_the_last_op_that_reads_it(self) -> None:
        twice = Program.build([(-1, 0, -1, 0, (0, 4, 0)), (-1, 0, -1, 0, (0, 2, 0))], [], inp_shift=[1])
        own, theirs = sizings_of_inputs(twice)
        assert (own.elements[0][1:], theirs.elements[0][1:]) == ((4, -1), (2, -1))


def test_widths_in_words() -> None:
    elements = packed(SUM).ports.outputs
    assert in_words(elements) == "0: 8 bits, 1: 9 bits, 2: 0 bits"
    assert in_words(elements[:1] * 5) == "0-4: 8 bits each"
    assert in_words(elements * 9).endswith("and 15 runs more")


def test_golden_outputs_as_a_port_carries_them() -> None:
    own, wider, tight = FixedType(1, 3, 0), FixedType(1, 4, 2), FixedType(1, 2, 0)
    values = [np.array([-8, 7, 3])]
    assert encode_outputs(values, [own], [own], 0)[0].tolist() == [-8, 7, 3]
    assert encode_outputs(values, [own], [wider], 0)[0].tolist() == [-32, 28, 12]
    assert encode_outputs([values[0][2:]], [own], [tight], 0)[0].tolist() == [3]
    with raises(ViolationError):
        encode_outputs([values[0][1:]], [own], [tight], 5)


class TestDiscovery:
    def find(self, folder: Path, text: str, top: str = "m") -> tuple[Port, ...] | None:
        (folder / "m.v").write_text(text)
        return ports_in([folder / "m.v"], top)

    def test_parameters_and_arrays_are_evaluated(self, tmp_path: Path) -> None:
        text = """
        module m #(parameter W = 4) (input clk, input signed [W-1:0] a, b, input [7:0] c [0:2], output reg [2*W:0] y,
                                     inout z);
        endmodule
        """
        found = self.find(tmp_path, text)
        assert found is not None
        assert list(map(str, found)) == [
            "clk (in, 1 bit)",
            "a (in, 4 bits)",
            "b (in, 4 bits)",
            "c (in, 8 bits [0:2])",
            "y (out, 9 bits)",
            "z (inout, 1 bit)",
        ]
        assert found[3].wires == {"c[0]": 8, "c[1]": 8, "c[2]": 8}

    def test_ports_of_the_old_style(self, tmp_path: Path) -> None:
        found = self.find(tmp_path, "module m(a, y); input [2:0] a; output y; assign y = ^a; endmodule")
        assert found is not None and [port.width for port in found] == [3, 1]

    def test_another_top(self, tmp_path: Path) -> None:
        with raises(InputError):
            self.find(tmp_path, "module other; endmodule")

    @pytest.mark.parametrize("text", ["", "module m(", "\x7fELF", "module m(input real x); endmodule"])
    def test_what_is_not_understood_is_left_to_the_simulators(self, text: str, tmp_path: Path) -> None:
        assert self.find(tmp_path, text) is None

    def test_ports_that_are_unknown_are_taken_as_they_are_said_to_be(self) -> None:
        bound: Dut = bind(SUM, PortsFile(clocking=Clocking("clk")), None)
        assert bound.interface.inputs == (Wire("model_inp", 0, 10),)


def test_the_only_module_is_the_top(tmp_path: Path) -> None:
    one, two = tmp_path / "one.v", tmp_path / "two.v"
    one.write_text("module mac(input a, output y); assign y = a; endmodule\n")
    two.write_text("module other; endmodule\n")
    assert only_module([one]) == "mac"
    assert only_module([one, two]) is None
    two.write_text("module mac(\n")
    assert only_module([two]) is None
    design, _ = design_rtl.given(DesignRequest(rtl=(one,)), tmp_path)
    assert design.top == "mac"
    design, _ = design_rtl.given(DesignRequest(rtl=(one,), top="model"), tmp_path)
    assert design.top == "model"
