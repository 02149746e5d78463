"""Mutants of RTL: which there are, that each changes only what it says, and how many share one text."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import MutationError
from dais_verif.campaigns.mutation.mutant import SELECT, Form, Mutant, can_be_chosen, with_choice
from dais_verif.campaigns.mutation.operators import KINDS
from dais_verif.campaigns.mutation.sites import _shortest, all_mutants, drawn
from dais_verif.record.campaigns import Fate, MutantRow
from dais_verif.verbs.mutation.mutate import read_expected, unexpected

TEXT = """\
`define PLUS +
module low #(parameter P = 3) (input [3:0] p, output [3:0] q);
  assign q = p `PLUS 4'd1;
endmodule
module top (input clk, input rst, input en, input [7:0] a, output reg [7:0] y, output z);
  wire signed [3:0] w = a[3:0] - 4'd3;  // é
  assign z = a[0] ? ^w : (a[2:1] == 2'd1);
  reg signed [7:0] op_3, v_s2;
  reg [3:0] t [0:1];
  initial begin t[0] = 4'h3; end
  always @(a or w) op_3 = -a + (w <<< 2);
  always @(posedge clk) begin
    if (en) v_s2 <= op_3;
    if (en) y <= v_s2;
    if (rst) y <= 8'd0;
  end
  low #(.P(4)) one (.p(a[3:0]), .q());
endmodule
"""


@pytest.fixture(scope="module")
def mutants() -> list[Mutant]:
    return all_mutants({"top.v": TEXT})


def changes(mutants: list[Mutant], kind: str) -> set[tuple[int, str, str]]:
    return {(m.line, m.old, m.new) for m in mutants if m.kind == kind}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("operator", (6, "-", "+")),
        ("operator", (7, "^", "|")),
        ("operator", (7, "==", "!=")),
        ("operator", (11, "-", "~")),
        ("constant", (6, "4'd3", "4'd4")),
        ("sign", (11, "w", "$unsigned(w)")),
        ("slice", (6, "3:0", "4:1")),
        ("shift", (11, "<<<", ">>>")),
        ("shift", (11, "2", "3")),
        ("width", (11, "op_3 = -a + (w <<< 2);", "begin op_3 = -a + (w <<< 2); op_3 = {op_3[6], op_3[6:0]}; end")),
        ("condition", (7, "a[0]", "!(a[0])")),
        ("table entry", (10, "4'h3", "4'h4")),
        ("enable", (13, "en", "1'b1")),
        ("reset", (15, "rst", "1'b0")),
        ("reset", (15, "y <= 8'd0;", ";")),
        ("stage", (14, "v_s2", "op_3")),
        ("instance", (17, "4", "5")),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value[0]}-{value[2][:12]}",
)
def test_each_kind_of_change_is_made(mutants: list[Mutant], kind: str, change: tuple[int, str, str]) -> None:
    assert change in changes(mutants, kind)


def test_every_mutant_changes_the_text_in_one_place_of_one_statement(mutants: list[Mutant]) -> None:
    texts = set()
    for m in mutants:
        assert m.kind in KINDS
        assert TEXT[m.offset :].startswith(m.old)
        assert m.statement.start <= m.offset
        assert m.offset + len(m.old) <= m.statement.end
        text = m.applied({"top.v": TEXT})["top.v"]
        assert text == TEXT[: m.statement.start] + m.statement_in({"top.v": TEXT}) + TEXT[m.statement.end :]
        texts.add(text)
    assert len(texts) == len(mutants)
    assert TEXT not in texts


def test_changes_that_give_the_same_text_are_one(mutants: list[Mutant]) -> None:
    one = mutants[0]._replace(offset=5)
    for old, new, change in (("abcde", "abXde", (7, "c", "X")), ("aaa", "aa", (7, "a", "")), ("a", "b", (5, "a", "b"))):
        assert _shortest(one._replace(old=old, new=new)) == (one.file, *change)


def test_what_a_macro_brings_is_left_alone(mutants: list[Mutant]) -> None:
    assert not any(m.line in (1, 3) and m.kind == "operator" for m in mutants)


def test_the_op_of_a_mutant_is_that_of_its_signal(mutants: list[Mutant]) -> None:
    assert {m.op for m in mutants if m.line == 11} == {3}
    assert {m.op for m in mutants if m.line == 7} == {None}


def test_slices_stay_within_their_vector(mutants: list[Mutant]) -> None:
    assert {new for line, _, new in changes(mutants, "slice") if line == 6} == {"4:1", "2:0", "3:1"}


def test_a_draw_is_even_over_the_kinds_and_the_same_again(mutants: list[Mutant]) -> None:
    chosen = drawn(mutants, 11, 5)
    assert chosen == drawn(mutants, 11, 5)
    assert len({m.kind for m in chosen}) == 11
    assert drawn(mutants, 11, 6) != chosen
    assert drawn(mutants, 10_000, 0) == sorted(mutants, key=lambda m: (m.file, m.offset, m.new))


def test_one_text_holds_all_that_can_be_chosen(mutants: list[Mutant]) -> None:
    some = [m for m in mutants if can_be_chosen(m)]
    assert {m.statement.form for m in mutants if m not in some} == {Form.ALONE}
    text = with_choice({"top.v": TEXT}, some)["top.v"]
    for number in range(1, len(some) + 1):
        assert text.count(f"{SELECT} == {number} ") + text.count(f"{SELECT} == {number})") == 1
    assert f"always @(a or w or {SELECT})" in text
    assert "always @(posedge clk) begin" in text
    assert with_choice({"top.v": TEXT}, []) == {"top.v": TEXT}


# the manifest of the checks expected to kill each mutant


def row(number: int, kind: str, fate: str) -> MutantRow:
    return MutantRow(number, kind, "top.v", number, None, "+", "-", fate)


ROWS = [row(1, "operator", Fate.SIMULATION), row(2, "sign", Fate.EQUIVALENT), row(3, "slice", Fate.PROOF)]


@pytest.mark.parametrize(
    ("manifest", "missed"),
    [
        ('[[expect]]\nkind = "operator"\nby = "simulation"', []),
        ('[[expect]]\nkind = "sign"\nby = "equivalent"', []),
        ('[[expect]]\nline = 3\nby = "any"', []),
        (
            '[[expect]]\nkind = "operator"\nby = "proof"',
            ["kind = 'operator': by proof: mutant 1 (top.v:1, '+' -> '-')"],
        ),
        ('[[expect]]\nkind = "reset"\nby = "proof"', ["kind = 'reset': by proof: "]),
    ],
    ids=["met", "equivalent", "any", "another judge", "no mutant"],
)
def test_what_is_expected_is_held_against_what_was_found(tmp_path: Path, manifest: str, missed: list[str]) -> None:
    path = tmp_path / "expected.toml"
    path.write_text(manifest)
    found = unexpected(read_expected(path), ROWS)
    assert len(found) == len(missed) and all(map(str.startswith, found, missed)), found
    as_recorded("; ".join(found))


@pytest.mark.parametrize(
    ("manifest", "rule"),
    [
        ("expect = 3", ""),
        ('[[expect]]\nby = "luck"', ""),
        ('[[expect]]\nby = "any"\nline = "3"', r"key.*type"),
        ("[[", "read"),
    ],
    ids=["no table", "judge", "type", "not valid TOML"],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, manifest: str, rule: str) -> None:
    path = tmp_path / "expected.toml"
    path.write_text(manifest)
    with raises(MutationError, match=rule):
        read_expected(path)
