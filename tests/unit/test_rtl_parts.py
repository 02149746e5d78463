"""RTL is taken apart as text: an op cut out of a module, parts left out, a module put around it. No simulator runs."""

from __future__ import annotations

from dais_verif.campaigns.fuzzing.rtl.case import Edit, edited, module_around
from dais_verif.campaigns.fuzzing.rtl.cutting import LEVELS, Cut, arms, cut_out, declared_in
from dais_verif.hardware.ports.interface import packed
from dais_verif.spec.program import Program

ASSIGNED = """\
module model (input [7:0] model_inp, output [4:0] model_out);
  wire [3:0] v0 = model_inp[3:0], v1 = model_inp[7:4];
  wire [4:0] v2, v3;
  assign v2 = v0 + v1;  // the sum
  assign v3 = v2 - 1;
  assign model_out = v3;
endmodule
"""
#: Ports in the style of Verilog-1995, nets driven by instances, and a clocked block that no output needs.
OLD = """\
module model (model_inp, model_out, clk);
  input [7:0] model_inp; output [4:0] model_out; input clk;
  wire [3:0] v0, v1; wire [4:0] v2, v3; reg seen;
  slice #(.N(0)) s0 (model_inp, v0);
  slice #(.N(4)) s1 (model_inp, v1);
  adder op_2 (v0, v1, v2);
  adder op_3 (v2, v1, v3);
  always @(posedge clk) seen <= v3[0];
  assign model_out = v3;
endmodule
"""


def without_spaces(text: str) -> str:
    return " ".join(text.split())


def test_assignments_that_the_net_does_not_need_are_gone() -> None:
    made = cut_out({"a.v": ASSIGNED}, "model", Cut("v3", {"v2": "model_inp[4:0]"}, (5, 5)))
    assert made is not None
    assert without_spaces(made["a.v"]) == without_spaces("""
        module model (input wire [4:0] model_inp, output wire [4:0] model_out);
          wire [3:0] v0 , v1 ;
          wire [4:0] v2, v3;
          assign v2 = model_inp[4:0];  // the sum
          assign v3 = v2 - 1;
          assign model_out = v3;
        endmodule""")


def test_what_drives_an_input_is_an_instance() -> None:
    made = cut_out({"a.v": OLD}, "model", Cut("v3", {"v2": "model_inp[4:0]", "v1": "model_inp[8:5]"}, (9, 5)))
    assert made is not None
    assert without_spaces(made["a.v"]) == without_spaces("""
        module model (input wire [8:0] model_inp, output wire [4:0] model_out);
          wire [3:0] v0, v1; wire [4:0] v2, v3; reg seen;
          adder op_3 (v2, v1, v3);
          assign v1 = model_inp[8:5];
          assign v2 = model_inp[4:0];
          assign model_out = v3;
        endmodule""")


def test_no_such_net_and_no_such_module() -> None:
    assert cut_out({"a.v": ASSIGNED}, "model", Cut("v9", {}, (1, 1))) is None
    assert cut_out({"a.v": ASSIGNED}, "other", Cut("v3", {}, (1, 1))) is None
    assert declared_in({"a.v": ASSIGNED}, "model") == {"v0", "v1", "v2", "v3"}


def test_every_statement_item_and_module_can_be_left_out() -> None:
    text = (
        "module a; wire x; always @* begin y = 1; if (q) begin z = 2; end else w = 3; end endmodule module b; endmodule"
    )
    statements, items, modules = ({text[edit.start : edit.end] for edit in level({"a.v": text})} for level in LEVELS)
    assert statements == {"y = 1;", "if (q) begin z = 2; end else w = 3;", "z = 2;", "else w = 3;"}
    assert items == {"wire x;", "always @* begin y = 1; if (q) begin z = 2; end else w = 3; end"}
    assert modules == {text[: text.index(" module b")], "module b; endmodule"}


def test_a_choice_becomes_one_of_its_arms() -> None:
    text = "module a; always @(q or r) if (q) y = r ? 1 : 2; else y = 3; always @(posedge c) d <= y; endmodule"
    made = [edited({"a.v": text}, [edit])["a.v"] for edit in arms({"a.v": text})]
    assert [one.partition("always ")[2].partition(" always")[0] for one in made] == [
        "@* if (q) y = r ? 1 : 2; else y = 3;",
        "@(q or r) y = r ? 1 : 2;",
        "@(q or r) y = 3;",
        "@(q or r) if (q) y = (1); else y = 3;",
        "@(q or r) if (q) y = (2); else y = 3;",
    ]


def test_what_a_macro_brings_stays() -> None:
    text = "`define BOTH wire x; wire y;\nmodule a; `BOTH wire z; endmodule"
    assert [text[edit.start : edit.end] for edit in LEVELS[1]({"a.v": text})] == ["wire z;"]


def test_an_edit_within_another_is_part_of_it() -> None:
    files = {"a": "0123456789", "b": "same"}
    assert edited(files, [Edit("a", 4, 5, ""), Edit("a", 2, 7, "x"), Edit("a", 9, 10, "")]) == {
        "a": "01x78",
        "b": "same",
    }


def test_a_module_around_gives_the_other_inputs_what_they_had() -> None:
    row = (-1, -1, 0, (0, 4, 0))
    program = Program.build(
        [(-1, 0, *row[1:]), (-1, 1, *row[1:]), (-1, 2, *row[1:])], [(0, 0, 0), (2, 0, 0)], inp_shift=[0, 0, 0]
    )
    smaller = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])
    text = module_around(packed(program), "model", {"N": "3"}, smaller, [2], 1, "101000110101")
    assert "input wire [3:0] model_inp, output wire [3:0] model_out" in text
    assert "model #(.N(3)) dut (.model_inp({model_inp[3:0], 1'b0, 1'b0, 1'b1, 1'b1, 1'b0, 1'b1, 1'b0, 1'b1})" in text
    assert "assign model_out = got_0[7:4];" in text
