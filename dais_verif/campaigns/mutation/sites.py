"""Find all mutants of RTL in the syntax tree that pyslang reads.

Expressions are changed where they are values: right sides, conditions, arguments of instances. Text from macros or
included files is not changed, since it is not in the mutated file.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyslang

from dais_verif.campaigns.mutation.mutant import Files, Form, Mutant, Statement
from dais_verif.campaigns.mutation.operators import KINDS, Change, Declared, changes_of

__all__ = ["all_mutants", "drawn"]

#: Nodes that are not values: ranges and types in declarations.
_NO_VALUES = ("VariableDimensionSyntax", "ImplicitTypeSyntax", "IntegerTypeSyntax")

#: Nodes that contain module items, so that items can be added; a generate ``if`` without ``begin`` is not one.
_ROOM = ("ModuleDeclarationSyntax", "GenerateBlockSyntax", "GenerateRegionSyntax")
_LITERAL = re.compile(r"(\d+)'([hbHB])([0-9a-fA-F]+)")
_RANGE = re.compile(r"\[\s*(\d+)\s*:\s*(\d+)\s*\]")
_ENABLE, _RESET, _VALID = (re.compile(text, re.IGNORECASE) for text in (r"\ben|enable|\bce\b", r"rst|reset", r"valid"))


def all_mutants(files: Files) -> list[Mutant]:
    """Return all mutants of the Verilog in ``files``, in the order of the text; no two mutants give the same text."""
    found: dict[tuple[str, int, str, str], Mutant] = {}
    for name, text in files.items():
        if name.endswith((".v", ".sv", ".vh", ".svh")):
            for mutant in _Walk(name, text).mutants():
                found.setdefault(_shortest(mutant), mutant)
    return list(found.values())


def drawn(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return ``count`` random ``mutants``, or all if there are fewer, evenly over kinds, in the order of the text."""
    rng = random.Random(seed)
    left: dict[str, list[Mutant]] = {kind: [] for kind in KINDS}
    for mutant in mutants:
        left[mutant.kind].append(mutant)
    left = {kind: rng.sample(of, len(of)) for kind, of in left.items() if of}
    chosen: list[Mutant] = []
    while len(chosen) < count and any(left.values()):
        chosen += [of.pop() for of in left.values() if of]
    return sorted(chosen[:count], key=lambda m: (m.file, m.offset, m.new))


def _shortest(mutant: Mutant) -> tuple[str, int, str, str]:
    """Return the change without the common beginning and end of both texts."""
    offset, old, new = mutant.offset, mutant.old, mutant.new
    while old and new and old[0] == new[0]:
        offset, old, new = offset + 1, old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return mutant.file, offset, old, new


class _Walk:
    """The mutants of one file."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text
        # Non-ASCII characters, which only occur in comments and strings, are replaced, so that each has one byte.
        self._tree = pyslang.syntax.SyntaxTree.fromText(text.encode("ascii", "replace").decode("ascii"), name)
        self._module = ""
        self._declared: dict[str, Declared] = {}
        #: Inputs of registers by name, from ``<=`` assignments of one name to another.
        self._loads: dict[str, str] = {}
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def mutants(self) -> Iterator[Mutant]:
        root: Any = self._tree.root
        members = [root] if type(root).__name__ == "ModuleDeclarationSyntax" else list(getattr(root, "members", ()))
        self._buffer = root.sourceRange.start.buffer
        for member in members:
            if type(member).__name__ == "ModuleDeclarationSyntax":
                self._module = member.header.name.rawText
                self._declared, self._loads = {}, {}
                self._declare(member)
                yield from self._within(member, None)

    # reading

    def _of(self, node: Any) -> str:
        return self._text[node.sourceRange.start.offset : node.sourceRange.end.offset]

    def _ours(self, node: Any) -> bool:
        """Return True if the text of ``node`` is literally in this file."""
        span = node.sourceRange
        return bool(span.start.buffer == self._buffer == span.end.buffer)

    def _declare(self, module: Any) -> None:
        for node in _nodes(module):
            kind = type(node).__name__
            if kind in ("DataDeclarationSyntax", "NetDeclarationSyntax"):
                for declarator in node.declarators:
                    if hasattr(declarator, "name") and not list(declarator.dimensions):
                        self._put(declarator.name.rawText, self._of(node.type))
            elif kind == "ImplicitAnsiPortSyntax":
                self._put(node.declarator.name.rawText, self._of(node.header))
            elif kind == "BinaryExpressionSyntax" and node.operatorToken.rawText == "<=" and _assigns(node):
                left, right = self._of(node.left), self._of(node.right)
                if re.fullmatch(r"\w+", left) and re.fullmatch(r"\w+", right):
                    self._loads[left] = right

    def _width(self, target: str) -> int:
        """Return the width in bits of the assigned ``target``; 0 if it is not known."""
        vector = self._declared.get(target)
        if vector is not None:
            return vector.high - vector.low + 1
        found = re.fullmatch(r"\w+\s*\[\s*(\d+)\s*(?::\s*(\d+)\s*)?\]", target)
        return 0 if found is None else abs(int(found[1]) - int(found[2] or found[1])) + 1

    def _put(self, name: str, kind: str) -> None:
        bounds = _RANGE.search(kind)
        if "[" not in kind and not re.search(r"\b(?:integer|int|byte|shortint|longint|real|time)\b", kind):
            self._declared[name] = Declared(0, 0, signed="signed" in kind)
        if bounds is not None and kind.count("[") == 1:
            self._declared[name] = Declared(int(bounds[1]), int(bounds[2]), signed="signed" in kind)

    # walking

    def _within(self, node: Any, events: int | None, initial: bool = False) -> Iterator[Mutant]:
        """Yield all mutants in ``node``. ``events``: the end of the event list of its block."""
        kind = type(node).__name__
        if kind == "ProceduralBlockSyntax":
            initial = node.keyword.rawText == "initial"
            statement = node.statement
            events = None
            if type(statement).__name__ == "TimingControlStatementSyntax":
                events = self._events(statement.timingControl)
        elif kind == "ExpressionStatementSyntax" and _assigns(node.expr) and self._ours(node):
            yield from self._assignment(node, events, initial)
            return
        elif kind == "ConditionalStatementSyntax" and self._ours(node.predicate):
            yield from self._condition(node, events)
        elif kind == "ContinuousAssignSyntax":
            for assignment in node.assignments:
                if _assigns(assignment) and self._ours(assignment):
                    yield from self._right(assignment.right, self._of(assignment.left), node)
            return
        elif kind in ("DataDeclarationSyntax", "NetDeclarationSyntax"):
            yield from self._declaration(node)
            return
        elif kind == "HierarchyInstantiationSyntax" and self._ours(node):
            yield from self._instance(node)
            return
        elif kind in ("FunctionDeclarationSyntax", *_NO_VALUES):
            return
        for child in node:
            if isinstance(child, pyslang.syntax.SyntaxNode):
                yield from self._within(child, events, initial)

    def _events(self, control: Any) -> int | None:
        """Return where an event can be added, before the closing bracket; None if the block waits for an edge."""
        text = self._of(control)
        edge = re.search(r"\b(?:pos|neg|)edge\b", text)
        if type(control).__name__ != "EventControlWithExpressionSyntax" or edge or not text.endswith(")"):
            return None
        return int(control.sourceRange.end.offset) - 1

    def _mutant(self, change: Change, statement: Statement, kind: str | None = None) -> Mutant:
        line = bisect_right(self._lines, change.start)
        old = self._text[change.start : change.end]
        return Mutant(kind or change.kind, self._name, change.start, line, old, change.new, statement)

    def _statement(self, form: Form, node: Any, target: str, events: int | None = None) -> Statement:
        start, end = node.sourceRange.start.offset, node.sourceRange.end.offset
        return Statement(form, self._name, start, end, self._module, target, events)

    def _values(self, node: Any) -> Iterator[Change]:
        """Yield the changes in an expression that is a value."""
        if not self._ours(node):
            return
        if all(child.range.start.buffer == self._buffer for child in node if isinstance(child, pyslang.parsing.Token)):
            yield from changes_of(node, self._of, self._declared)
        for child in node:
            if isinstance(child, pyslang.syntax.SyntaxNode) and type(child).__name__ != "ElementSelectSyntax":
                yield from self._values(child)

    def _right(self, node: Any, target: str, item: Any) -> Iterator[Mutant]:
        """Yield mutants of the right side of a net. ``item``: declares or assigns the net."""
        if self._ours(node) and self._ours(item):
            width = self._width(target) if type(item.parent).__name__ in _ROOM else 0
            form = Form.CONTINUOUS if width else Form.ALONE
            statement = self._statement(form, node, target)
            statement = statement._replace(item=item.sourceRange.start.offset, width=width)
            kind = "valid" if _VALID.search(target) else None
            for change in self._values(node):
                yield self._mutant(change, statement, kind)

    def _assignment(self, node: Any, events: int | None, initial: bool) -> Iterator[Mutant]:
        expr = node.expr
        target = self._of(expr.left)
        if initial:
            statement = self._statement(Form.ALONE, node, target)
            for change in self._values(expr.right):
                yield self._mutant(change, statement, "table entry" if "[" in target else None)
            return
        statement = self._statement(Form.PROCEDURAL, node, target, events)
        registered = expr.operatorToken.rawText == "<="
        kind = "valid" if _VALID.search(target) else None
        for change in self._values(expr.right):
            yield self._mutant(change, statement, kind)
        start, end = node.sourceRange.start.offset, node.sourceRange.end.offset
        right = expr.right.sourceRange
        if registered:
            source = self._of(expr.right)
            if source in self._loads and self._loads[source] not in (source, target):  # this mutant has one stage fewer
                new = self._loads[source]
                yield self._mutant(Change("stage", right.start.offset, right.end.offset, new), statement)
            if re.fullmatch(r"(?:\d+'[bdhBDH])?0+", source):
                yield self._mutant(Change("reset", start, end, ";"), statement)
            return
        vector = self._declared.get(target)
        if vector is not None and vector.high - vector.low >= 1:  # as if the vector were declared one bit narrower
            top = f"{target}[{vector.high - 1}]" if vector.signed else "1'b0"
            cut = f"begin {self._text[start:end]} {target} = {{{top}, {target}[{vector.high - 1}:{vector.low}]}}; end"
            yield self._mutant(Change("width", start, end, cut), statement)

    def _condition(self, node: Any, events: int | None) -> Iterator[Mutant]:
        condition = node.predicate
        statement = self._statement(Form.CONDITION, condition, "", events)
        text = self._of(condition)
        kind = next(
            (name for name, rule in (("reset", _RESET), ("enable", _ENABLE), ("valid", _VALID)) if rule.search(text)),
            "condition",
        )
        start, end = statement.start, statement.end
        for new in (f"!({text})", "1'b1", "1'b0"):
            yield self._mutant(Change(kind, start, end, new), statement)
        for change in self._values(condition):
            yield self._mutant(change, statement, kind)

    def _declaration(self, node: Any) -> Iterator[Mutant]:
        for declarator in node.declarators:
            value = getattr(declarator, "initializer", None)
            if value is not None and type(node).__name__ == "NetDeclarationSyntax":
                yield from self._right(value.expr, declarator.name.rawText, node)

    def _instance(self, node: Any) -> Iterator[Mutant]:
        """Yield mutants of an instance: of its parameters, such as bits of a look-up table, and of its connections."""
        statement = self._statement(Form.ALONE, node, "")
        if node.parameters is not None:
            for child in _nodes(node.parameters):
                text = self._of(child) if self._ours(child) else ""
                span = (child.sourceRange.start.offset, child.sourceRange.end.offset)
                if type(child).__name__ == "IntegerVectorExpressionSyntax":
                    for new in _bits_flipped(text):
                        yield self._mutant(Change("instance", *span, new), statement)
                elif type(child).__name__ == "LiteralExpressionSyntax" and text.isdigit():
                    for step in (1, -1):
                        if int(text) + step >= 0:
                            yield self._mutant(Change("instance", *span, str(int(text) + step)), statement)
        for instance in node.instances:
            yield from self._connections(instance, statement)

    def _connections(self, instance: Any, statement: Statement) -> Iterator[Mutant]:
        found = []
        for connection in instance.connections:
            expr = getattr(connection, "expr", None)
            if expr is not None and self._ours(expr):
                found.append((expr.sourceRange.start.offset, expr.sourceRange.end.offset))
        for (a, b), (c, d) in pairwise(found):
            if self._text[a:b] != self._text[c:d]:
                new = self._text[c:d] + self._text[b:c] + self._text[a:b]
                yield self._mutant(Change("connection", a, d, new), statement)
        for a, b in found[:-1]:
            for value in ("1'b0", "1'b1"):
                yield self._mutant(Change("stuck", a, b, value), statement)


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in node:
        if isinstance(child, pyslang.syntax.SyntaxNode):
            yield from _nodes(child)


def _assigns(node: Any) -> bool:
    return type(node).__name__ == "BinaryExpressionSyntax" and "Assignment" in node.kind.name


def _bits_flipped(text: str) -> Iterator[str]:
    """Yield a hexadecimal or binary literal, such as the table of a cell, with one bit flipped."""
    match = _LITERAL.fullmatch(text)
    if match is None:
        return
    size, base = int(match[1]), 16 if match[2] in "hH" else 2
    value = int(match[3], base)
    for bit in range(min(size, 64)):
        yield f"{size}'{match[2]}{value ^ 1 << bit:{'x' if base == 16 else 'b'}}"
