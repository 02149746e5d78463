"""No check of the package rests on ``assert``, because PYTHONOPTIMIZE removes asserts."""

from __future__ import annotations

import ast

import pytest
from support.said import as_recorded
from support.sources import PACKAGE, files, nodes, tree

from dais_verif.prover.terms import const, eq, extract, ite, ult, var
from dais_verif.simulation.testbench.job import Answer
from dais_verif.simulation.testbench.vectors import problem_of


def narrows(test: ast.expr) -> bool:
    """Return whether ``test`` only narrows a type for the type checker; without it, the following lines would fail."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return all(map(narrows, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return narrows(test.operand)
    if isinstance(test, ast.Call):
        return isinstance(test.func, ast.Name) and test.func.id == "isinstance"
    not_none = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and len(test.ops) == 1
    return not_none and isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None


def checks(source: ast.Module) -> list[int]:
    """Return the line numbers of the asserts that check something."""
    found = [node for node in nodes(source) if isinstance(node, ast.Assert)]
    return [node.lineno for node in found if node.msg is not None or not narrows(node.test)]


def test_no_module_checks_anything_by_assert() -> None:
    found = {str(path.relative_to(PACKAGE)): lines for path in files() if (lines := checks(tree(path)))}
    assert not found


@pytest.mark.parametrize(
    "line",
    ["assert rows > 0", "assert not answer.error, answer.error", "assert x", "assert x is not None and x > 0"],
)
def test_a_check_would_be_found(line: str) -> None:
    assert checks(ast.parse(line)) == [1]


@pytest.mark.parametrize("line", ["assert x is not None", "assert isinstance(x, int) and y is not None"])
def test_what_only_narrows_a_type_may_stay(line: str) -> None:
    assert checks(ast.parse(line)) == []


@pytest.mark.parametrize(
    "answer",
    [
        Answer(port_error="no such port"),
        Answer(rows=5, protocol_error="came out of order"),
        Answer(rows=4),
        Answer(rows=5, unknown_rows=1),
        Answer(rows=5, mismatching_rows=1),
    ],
)
def test_the_bench_says_why_it_does_not_pass(answer: Answer) -> None:
    assert problem_of(answer, 5)


def test_the_bench_passes_only_what_was_compared() -> None:
    assert problem_of(Answer(rows=5), 5) is None
    as_recorded(problem_of(Answer(rows=0), 0))


def test_terms_of_other_widths_are_no_comparison() -> None:
    a, b = var(3, "a"), var(4, "b")
    for build in (eq, ult, lambda x, y: ite(x, y, y), lambda x, y: extract(x, 0, 9), lambda x, y: const(0, 1)):
        with pytest.raises(AssertionError):
            build(a, b)
