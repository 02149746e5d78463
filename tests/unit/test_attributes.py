"""Attributes with computed values are removed from RTL for Icarus, and nothing else is changed."""

from __future__ import annotations

import pytest

from dais_verif.simulation.simulators.driven_inputs import without_computed_attributes

TABLE = b"""module t #(parameter W = 8) (input [W-1:0] a);
  (* rom_style = (W <= 9) ? "distributed" : "block" *)
  reg x [0:3];
endmodule
"""


def test_the_attribute_goes_and_all_else_keeps_its_place() -> None:
    found = without_computed_attributes(TABLE)
    assert found.lines == (2,)
    assert [len(line) for line in found.text.split(b"\n")] == [len(line) for line in TABLE.split(b"\n")]
    first, _, *others = TABLE.split(b"\n")
    assert found.text.split(b"\n") == [first, found.text.split(b"\n")[1], *others]
    assert found.text.split(b"\n")[1].strip() == b""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"(* keep = W *) wire a;", (1,)),
        (b"(* keep, depth = W + 1 *) wire a;", (1,)),
        (b"(*\n keep =\n W\n*)\nwire a; (* b = Y *) wire c;", (1, 5)),
        (b'(* s = "a *) b", d = $clog2(4) *) wire a;', (1,)),
        (b"(* d = \\odd+name *) wire a;", (1,)),
        (b"always @(* ) (* full = F *) case (a) endcase", (1,)),
    ],
)
def test_values_that_name_something_are_computed(text: bytes, lines: tuple[int, ...]) -> None:
    found = without_computed_attributes(text)
    assert found.lines == lines
    assert len(found.text) == len(text) and found.text.count(b"\n") == text.count(b"\n")
    assert b"wire" in found.text or b"case (a)" in found.text


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"(* full_case, parallel_case *) case (a) endcase",
        b'(* keep = "true", depth = 4\'hF, width = 3 + 4 *) wire a;',
        b"always @(*) if (x) y = z; always @( * ) y = W * (a)*(b); /* *)",
        b"always @(*)\n begin a = b; end // *)\n wire c;",
        b"// (* keep = W *)\n/* (* keep = W *) */",
        b'initial $display("(* keep = W *)"); // "\ninitial $display("\\" (* keep = W *)");',
        b"wire \\a(*b = c; wire d; // *)",
        b"(* keep = W",
        b"(*) *)",
        # text that readers interpret differently: to some, the attribute begins or ends elsewhere
        b"(* keep = X /* *) r = a; // */ *) r = ~a;",
        b"(* keep = X // *) r = a;\n *) r = ~a;",
        b"always @(*/**/) r = ~a; /* *) (a) r = a; /* */",
        b"always @(* /* *) r = ~a; */ ) r = a;",
        b"always @(* keep = W *) (a) r = a;",
        b"always @/**/(* keep = W *) (a) r = a;",
        b"(* keep = `X *) r = a; (* keep = W *) r = b;",
        b"`define X (* keep = W\n`X r = a; *)",
        b'`define X /*\n" */ (* keep = W *) // "',
        b'localparam S = "a\\\n(* keep = W *)";',
        b'wire \\a" ; (* keep = W *) wire \\b" ;',
        b"(* keep = W; r = a *) r = b;",
        b"(* keep = (* W *) r = b;",
    ],
)
def test_all_else_stays(text: bytes) -> None:
    assert without_computed_attributes(text) == (text, ())


def test_it_takes_no_longer_where_much_is_left_open() -> None:
    """The run time stays linear for text that opens attributes, comments and strings and never closes them."""
    for text in (
        b"(* a = b " * 20_000,
        b'(* a = "b ' * 20_000,
        b"/* (* " * 20_000,
        b'"\\' * 20_000,
        b"(* a = " + b"/* " * 20_000 + b"*)",
    ):
        assert len(without_computed_attributes(text).text) == len(text)
