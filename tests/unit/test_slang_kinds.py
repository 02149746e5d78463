"""Every kind of thing that pyslang finds in a scope is read, left out, or refused, by a decision."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.reading import elaborated

from dais_verif.errors import InputError
from dais_verif.prove.slang.design import ast
from dais_verif.prove.slang.kinds import LEFT_OUT, READ, REFUSED


def test_every_kind_has_one_decision() -> None:
    kinds = set(ast.SymbolKind.__members__.values())
    assert kinds == READ | LEFT_OUT | REFUSED
    assert len(READ) + len(LEFT_OUT) + len(REFUSED) == len(kinds)
    changing = ("ClockingBlock", "NetAlias", "CheckerInstance", "Primitive", "UninstantiatedDef", "Unknown")
    assert {ast.SymbolKind.__members__[name] for name in changing} <= REFUSED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wire b; alias b = a; assign y = b;", "NetAlias"),
        ("clocking cb @(posedge a); output y; endclocking", "ClockingBlock"),
        ("cmos (y, a, a, a);", "primitive 'cmos'"),
    ],
)
def test_what_is_not_read_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        elaborated(f"module dut(input a, output logic y); {text} endmodule", tmp_path, "slang")


def test_declarations_and_checks_are_left_out(tmp_path: Path) -> None:
    text = """module dut(input a, output y); typedef logic t; parameter P = 1; localparam Q = 2; genvar g;
  enum logic {ONE, TWO} e; function f(input x); f = x; endfunction task tt; endtask
  property p; a; endproperty let l(x) = x; specify specparam s = 3; (a => y) = 3; endspecify
  generate for (g = 0; g < 1; g = g + 1) begin : one assign y = a; end endgenerate
endmodule"""
    assert elaborated(text, tmp_path, "slang").outputs == ("y",)
