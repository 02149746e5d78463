"""The wrapper that gives parameters to a third-party module: its text, and what is refused before any tool runs."""

from pathlib import Path

import pytest
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.hardware.ports.discover import ports_in
from dais_verif.hardware.ports.parameters import parse_parameter, with_parameters

SUM = """
package kinds; typedef enum logic {ADD, SUBTRACT} kind_e; endpackage
module sum #(parameter int W = 54, parameter kinds::kind_e KIND = kinds::ADD, parameter NAME = "x",
             localparam M = W + 1) (
  input logic [W-1:0] a, input logic signed [W-1:0] b [2], output logic [M-1:0] y);
  assign y = KIND == kinds::ADD ? a + b[0] : a - b[1];
endmodule
module pad (inout wire p); parameter W = 1; endmodule
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "sum.sv"
    path.write_text(SUM)
    return path


@pytest.mark.parametrize("text", ["W=8", "W=-8", "M=4'b0101", "M=8'shff", 'S="GALOIS"', "K=kinds::ADD"])
def test_numbers_strings_and_names_of_packages_are_values(text):
    assert parse_parameter(text) == tuple(text.split("=", 1))


@pytest.mark.parametrize("text", ["W", "W=", "=8", "W=8+1", "W=8) x(", 'S="a"b"', "W=x", "a.b=1", "W=8;"])
def test_whatever_else_is_refused(text):
    with raises(ValueError):
        parse_parameter(text)


def test_ports_have_the_widths_that_follow_from_the_parameters(source, tmp_path):
    sources, top = with_parameters([source], "sum", {"W": "8", "KIND": "kinds::SUBTRACT"}, tmp_path)
    assert (sources[0], top) == (source, "sum_with_parameters")
    found = {port.name: (port.width, port.elements, port.signed) for port in ports_in(sources, top) or ()}
    assert found == {"a": (8, None, False), "b": (8, range(2), True), "y": (9, None, False)}
    assert "sum #(.W(8), .KIND(kinds::SUBTRACT)) dut" in Path(sources[1]).read_text()


@pytest.mark.parametrize(
    ("top", "given", "message"),
    [
        ("sum", {"V": "8"}, r"sum.*V.*W, KIND, NAME"),
        ("sum", {"M": "8"}, r"sum.*M"),
        ("sum", {"KIND": "kinds::NONE"}, r"KIND of sum.*kinds::NONE"),
        ("none", {"W": "8"}, r"RTL.*pad, sum"),
        ("pad", {"W": "8"}, "port p of pad"),
    ],
    ids=["unknown", "local", "no_value", "module", "inout"],
)
def test_what_cannot_be_given_is_one_clear_line(source, tmp_path, top, given, message):
    with raises(InputError, match=message):
        with_parameters([source], top, given, tmp_path)


TYPED = "module typed #(parameter signed [3:0] K = 1, parameter [7:0] M = 2, parameter N = 3) (output y);\nendmodule\n"


@pytest.mark.parametrize(
    ("name", "value", "held"),
    [
        ("K", "7", None),
        ("K", "-8", None),
        ("K", "4'sb1000", None),
        ("K", "21", 5),
        ("K", "8", -8),
        ("M", "255", None),
        ("M", "8'hff", None),
        ("M", "256", 0),
        ("M", "-1", 255),
        ("N", "70000", None),
        ("N", "-3", None),
    ],
)
def test_a_value_that_its_type_would_cut_off_is_refused(name, value, held, tmp_path):
    (tmp_path / "typed.sv").write_text(TYPED)
    if held is None:
        assert with_parameters([tmp_path / "typed.sv"], "typed", {name: value}, tmp_path)
    else:
        with raises(InputError):
            with_parameters([tmp_path / "typed.sv"], "typed", {name: value}, tmp_path)
