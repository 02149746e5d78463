"""For every kind of syntax that pyslang finds in a scope, a table decides: it is read, left out or refused."""

from __future__ import annotations

from pathlib import Path

import pyslang
import pytest
from prove.reading import elaborated
from support.said import as_recorded, raises

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.slang.design import ast
from dais_verif.prover.slang.kinds import CALLS, GATES, SYMBOLS, TABLES, TYPES, How, Table
from dais_verif.prover.slang.kinds.decision import KindDecision, known_calls, left_out, read, refused
from dais_verif.prover.slang.kinds.page import page

#: Tables that are not of a whole enum of pyslang.
_NAMED = (CALLS, GATES, TYPES)
_ENUMS = [table for table in TABLES if table not in _NAMED]


def test_every_enum_that_decides_a_meaning_has_a_table() -> None:
    enums = {type(next(iter(table.decisions))).__name__ for table in _ENUMS}
    assert enums == {
        "ArgumentDirection", "AssertionKind", "BinaryOperator", "CaseStatementCondition", "ConversionKind",
        "DefinitionKind", "EdgeKind", "ExpressionKind", "NetKind", "PatternKind", "ProceduralBlockKind",
        "RangeSelectionKind", "StatementBlockKind", "StatementKind", "SymbolKind", "TimingControlKind",
        "UnaryOperator", "UnconnectedDrive", "UniquePriorityCheck", "ValueRangeKind", "VariableLifetime",
    }  # fmt: skip


@pytest.mark.parametrize("table", _ENUMS, ids=lambda table: table.title)
def test_every_kind_has_a_decision(table: Table[object]) -> None:
    """A kind that a later pyslang adds is missing here, and is refused until its table decides on it."""
    kinds = set(type(next(iter(table.decisions))).__members__.values())  # type: ignore[attr-defined]
    assert kinds == set(table.decisions)
    assert all(decision.text for decision in table.decisions.values())


def test_every_call_type_and_gate_has_a_decision() -> None:
    assert set(known_calls()) == set(CALLS.decisions)
    assert len(known_calls()) == len(set(known_calls())) > 280
    types = {kind for name, kind in ast.SymbolKind.__members__.items() if name.endswith("Type")}
    assert set(TYPES.decisions) == (types - {ast.SymbolKind.NetType}) | {ast.SymbolKind.TypeAlias}
    compilation = ast.Compilation()
    words = (name.removesuffix("Keyword").lower() for name in pyslang.parsing.TokenKind.__members__)
    assert set(GATES.decisions) == {word for word in words if compilation.getGateType(word) is not None}


def test_the_page_is_made_of_the_tables() -> None:
    text = page()
    for table in TABLES:
        assert all(f"`{getattr(kind, 'name', kind)}`" in text for kind in table.decisions)


def test_what_may_change_something_is_refused() -> None:
    changing = ("ClockVar", "NetAlias", "CheckerInstance", "Primitive", "UninstantiatedDef", "Unknown")
    assert {ast.SymbolKind.__members__[name] for name in changing} <= SYMBOLS.of(How.REFUSED)


def test_a_table_and_its_reader_cannot_differ() -> None:
    table = Table("T", "", {"a": read("rule"), "b": read("rule"), "c": refused("no"), "d": left_out("nothing")})
    assert table.rules({"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert table.rules({"a": 1}, ["b"]) == {"a": 1}
    for rules, others in (({"a": 1}, []), ({"a": 1, "b": 2, "c": 3}, []), ({"a": 1, "b": 2}, ["b"])):
        with pytest.raises(ValueError, match="differ"):
            table.rules(rules, others)
    assert (table.refusal("a"), table.refusal("c"), table.refusal("d")) == (None, "no", None)
    as_recorded(str(table.refusal("e")))
    assert table.decisions["a"] == KindDecision(How.READ, "rule")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wire b; alias b = a; assign y = b;", "NetAlias"),
        ("clocking cb @(posedge a); output y; endclocking", "times"),
        ("cmos (y, a, a, a);", ""),
    ],
)
def test_what_is_not_read_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with raises(UnsupportedVerilog, match=message):
        elaborated(f"module dut(input a, output logic y); {text} endmodule", tmp_path, "slang")


def test_declarations_and_checks_are_left_out(tmp_path: Path) -> None:
    text = """module dut(input a, output y); typedef logic t; parameter P = 1; localparam Q = 2; genvar g;
  enum logic {ONE, TWO} e; function f(input x); f = x; endfunction task tt; endtask
  property p; a; endproperty let l(x) = x; specify specparam s = 3; (a => y) = 3; endspecify
  generate for (g = 0; g < 1; g = g + 1) begin : one assign y = a; end endgenerate
endmodule"""
    assert elaborated(text, tmp_path, "slang").outputs == ("y",)
