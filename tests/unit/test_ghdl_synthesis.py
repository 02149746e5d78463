"""Corrections of the Verilog of GHDL's synthesis: selectors, long constants, and variants that are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from dais_verif.synthesis import vhdl
from dais_verif.synthesis.ghdl_constants import with_plain_constants
from dais_verif.synthesis.ghdl_selectors import with_settled_selectors
from dais_verif.synthesis.ghdl_variants import lost_variants, with_lost_variants


@pytest.mark.parametrize("word", ["", "error:"], ids=["GHDL 2", "GHDL 5"])
def test_the_first_error_of_an_analysis(word: str) -> None:
    said = f"f.vhd:2:9:warning: no use\nf.vhd:3:7:note: here\nf.vhd:3:37:{word} no operator\nx <= a + 1;\n    ^\n"
    assert vhdl._first_error(said, []) == "f.vhd:3: no operator"


SELECTOR = """\
module t
  (input [1:0] a,
   output [2:0] y);
  reg [2:0] n3_o;
  assign y = n3_o;
  /* t.vhd:3:1 */
  always @*
    case (n2_o)
      2'b10: n3_o <= 3'b001;
      2'b01: n3_o <= a_b;
    endcase
endmodule
"""


def test_a_selector_gets_the_default_that_was_left_out() -> None:
    text = with_settled_selectors(SELECTOR)
    assert "      2'b10: n3_o = 3'b001;\n      2'b01: n3_o = a_b;\n      default: n3_o = 3'bxxx;\n    endcase\n" in text
    assert [line for line in text.split("\n") if "= " not in line] == [
        line for line in SELECTOR.split("\n") if "<= " not in line and "= " not in line
    ]


def test_a_default_that_is_there_stays() -> None:
    text = with_settled_selectors(SELECTOR.replace("    endcase", "      default: n3_o <= 3'b111;\n    endcase"))
    assert "      default: n3_o = 3'b111;\n    endcase" in text and "xxx" not in text


@pytest.mark.parametrize(
    "text",
    [
        SELECTOR.replace("always @*", "always @(posedge a)"),
        SELECTOR.replace("2'b01: n3_o", "2'b01: n4_o"),  # two registers in one block
        SELECTOR.replace("  reg [2:0] n3_o;\n", ""),  # of unknown width
        SELECTOR.replace("reg [2:0]", "reg [2:0] n3_o;\nendmodule\nmodule u;\n  reg [2:0] other_"),
        "module t;\nendmodule\n",
    ],
)
def test_all_else_stays_as_it_is(text: str) -> None:
    assert with_settled_selectors(text) == text


def test_long_constants_are_numbers_and_signals_that_nothing_assigns_have_them_at_once() -> None:
    bits = "01" * 300
    block = f'  always @*\n    w = "{bits}"; // (isignal)\n  initial\n    w <= "{bits}";\n'
    text = with_plain_constants(f"module t;\n{block}endmodule\n")
    assert text == f"module t;\n  always_comb\n    w = 600'b{bits}; // (isignal)\nendmodule\n"


def test_signals_that_registers_drive_keep_their_blocks() -> None:
    text = "  always @*\n    c = n4_q; // (isignal)\n  initial\n    c <= 3'b000;\n"
    assert with_plain_constants(text) == text


ENTITY = """\
entity Adder is
    generic (
        BW, SIGNED0 : integer := 3; -- two
        DROP : natural := 0
    );
    port (x: in bit);
end entity;
entity other is
    generic (NAME : string := "x");
    port (x: in bit);
end entity;
"""
USED = """\
module top;
  adder_4_1_0 u (
    .x(y));
  adder_5_0_0 v (
    .x(y));
endmodule
module adder_4_1_0
endmodule
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "adder.vhd").write_text(ENTITY)
    return tmp_path / "adder.vhd"


def test_a_variant_that_is_used_and_not_there_is_lost(source: Path) -> None:
    assert list(lost_variants(USED, [source])) == [("adder_5_0_0", "adder", {"bw": 5, "signed0": 0, "drop": 0})]


@pytest.mark.parametrize("name", ["other_5_0_0", "adder_5_0", "adder_5_0_0_1", "adder_5_0_x", "black_box"])
def test_what_is_no_variant_is_left_to_the_reader(name: str, source: Path) -> None:
    assert list(lost_variants(USED.replace("adder_5_0_0", name), [source])) == []


def test_what_the_sources_name_is_a_component_without_an_entity(source: Path) -> None:
    source.write_text(f"{ENTITY}-- component Adder_5_0_0\n")
    assert list(lost_variants(USED, [source])) == []


def test_a_lost_variant_is_added_under_its_name(source: Path) -> None:
    asked = []

    def synthesize(entity: str, values: dict[str, int]) -> str:
        asked.append((entity, values))
        return "module Adder\n  (input x);\nendmodule\n"

    text = with_lost_variants(USED, [source], synthesize)
    assert text == f"{USED}\nmodule adder_5_0_0\n  (input x);\nendmodule\n"
    assert asked == [("adder", {"bw": 5, "signed0": 0, "drop": 0})]


@pytest.mark.parametrize("found", ["module other\nendmodule\n", "module adder\n  inner i (\n  );\nendmodule\n", ""])
def test_another_text_than_one_module_is_not_taken(found: str, source: Path) -> None:
    assert with_lost_variants(USED, [source], lambda entity, values: found) == USED
