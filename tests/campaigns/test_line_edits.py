"""Edits of one line of RTL undo those of ``mutate`` and other slips."""

from __future__ import annotations

import pytest

from dais_verif.campaigns.mutation.line_edits import line_edits

#: What is written, and what was meant.
SLIPS = (
    ("  assign r = p - q;", "  assign r = p + q;"),
    ("  assign r = p | q;", "  assign r = p + q;"),
    ("  assign r = p << 1;", "  assign r = p << 2;"),
    ("  assign r = p <<< 1;", "  assign r = p >>> 1;"),
    ("  assign r = p + 8'sh0f;", "  assign r = p + 8'sh8f;"),
    ("  assign r = p[7:0];", "  assign r = p[8:1];"),
    ("  assign r = p + other;", "  assign r = p + q;"),
    ("  assign r = c ? q : p;", "  assign r = c ? p : q;"),
    ("  assign r = $unsigned(p) * q;", "  assign r = (p) * q;"),
    ("  assign r = ~p;", "  assign r = -p;"),
    ("  always @(posedge clk) r <= p - q;", "  always @(posedge clk) r <= p + q;"),
    ("  adder #(3, 1) u (.a(x), .b(y), .r(r));", "  adder #(3, 0) u (.a(x), .b(y), .r(r));"),
    ("  adder #(3, 1) u (.a(x), .b(y), .r(r));", "  adder #(3, 1) u (.a(y), .b(x), .r(r));"),
    ("  u : entity work.adder generic map (S=>1) port map (a=>x, r=>z);",
     "  u : entity work.adder generic map (S=>0) port map (a=>x, r=>z);"),
    ("  u : entity work.adder generic map (S=>1) port map (a=>x, r=>z);",
     "  u : entity work.adder generic map (S=>1) port map (a=>q, r=>z);"),
    ('  when "01" => r <= "0110";', '  when "01" => r <= "0111";'),
)  # fmt: skip


def test_slips_are_undone() -> None:
    before, after = "module m;\n", "\n  assign later = r;\nendmodule\n"
    missed = [
        (wrong, meant)
        for wrong, meant in SLIPS
        if f"{before}{meant}{after}"
        not in {edit.applied(f"{before}{wrong}{after}") for edit in line_edits(f"{before}{wrong}{after}", 2, ["q"])}
    ]
    assert not missed


@pytest.mark.parametrize("text", ["  assign r = p + q; // not - but +", "  r <= p + q; -- not - but +"])
def test_other_lines_assigned_names_and_comments_stay(text: str) -> None:
    whole = f"first;\n{text}\nassign last = r;\n"
    edits = line_edits(whole, 2, ["z"])
    assert edits and all(edit.line == 2 for edit in edits)
    assert all("first;\n" in one and "assign last = r;" in one for edit in edits for one in [edit.applied(whole)])
    assert all(edit.applied(whole).split("\n")[1].lstrip().startswith(("assign r =", "r <=")) for edit in edits)
    assert all(edit.applied(whole).endswith("but +\nassign last = r;\n") for edit in edits)
