"""Opcodes are written by name, never as numbers."""

from __future__ import annotations

import ast

import pytest
from support.sources import PACKAGE, files, nodes, tree


def opcode_literals(source: ast.Module) -> list[str]:
    """List comparisons of an opcode with a number, and numbers used as opcodes in ``match`` and in tables."""

    def number(node: ast.AST) -> bool:
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return any(map(number, node.elts))
        inner = node.operand if isinstance(node, ast.UnaryOp) else node
        return isinstance(inner, ast.Constant) and type(inner.value) is int

    def opcode(node: ast.AST) -> bool:
        """Return whether ``node`` is a ``code`` or ``opcode`` attribute, a call with one, or a subscript of one."""
        if isinstance(node, ast.Call):
            return any(map(opcode, node.args))
        inner = node.value if isinstance(node, ast.Subscript) else node
        return isinstance(inner, ast.Attribute) and inner.attr in ("code", "opcode")

    def wrong(node: ast.AST) -> bool:
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            return any(map(opcode, sides)) and any(map(number, sides))
        if isinstance(node, ast.Match):
            return opcode(node.subject) and any(
                isinstance(n, ast.Constant) for c in node.cases for n in ast.walk(c.pattern)
            )
        return (
            isinstance(node, ast.Dict)
            and len(node.keys) > 5
            and all(key is not None and number(key) for key in node.keys)
        )

    return [ast.unparse(node) for node in nodes(source) if wrong(node)]


#: Files in which ``code`` is the exit code of a process.
EXIT_CODES = {"campaigns/regression/job.py", "doors/troubleshooting_page.py"}


def test_an_opcode_is_a_member_of_the_table_never_a_number() -> None:
    found = {
        name: literals
        for path in files()
        if (name := path.relative_to(PACKAGE).as_posix()) not in EXIT_CODES
        and (literals := opcode_literals(tree(path)))
    }
    assert not found


@pytest.mark.parametrize(
    "source",
    [
        "op.code == 6",
        "-1 != self.op.code",
        "abs(op.code) in (2, 3)",
        "np.abs(program.columns.code[ops]) != 2",
        "c.op.code < 0",
        "match op.code:\n    case 0 | 1:\n        pass",
        "RULES = {-1: a, 0: b, 1: c, 2: d, 3: e, 4: f}",
    ],
)
def test_an_opcode_that_is_a_number_is_seen(source: str) -> None:
    assert opcode_literals(ast.parse(source))


@pytest.mark.parametrize("source", ["op.code == Code.MUX", "op.code in MUXES", "op.index == 0", "values[op.code] == 1"])
def test_other_numbers_are_no_opcodes(source: str) -> None:
    assert not opcode_literals(ast.parse(source))
