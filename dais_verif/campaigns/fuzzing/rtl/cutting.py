"""Cut RTL out of a module: the logic from some nets to the net of an op, with the ports of a program of that op alone.

Nets are identified by their names, as in ``blame``. A net that becomes an input is driven by the new port instead of
its driver; everything on which the output net does not depend is removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from dais_verif.campaigns.fuzzing.rtl.case import Edit, Files, edited
from dais_verif.hardware.ports.interface import MODEL_INP, MODEL_OUT

__all__ = ["Cut", "LEVELS", "Source", "arms", "children", "cut_out", "declared_in", "kind_of", "lefts_in", "names_in"]


_SCOPES = ("ModuleDeclaration", "GenerateRegion", "GenerateBlock", "IfGenerate")
_NO_DRIVERS = ("ModuleHeader", "PortDeclaration", "ParameterDeclarationStatement", "FunctionDeclaration")
_DECLARATIONS = ("DataDeclaration", "NetDeclaration")


@dataclass(frozen=True)
class Cut:
    """``wanted``: the net that becomes the output, by its name in the module, such as ``part_1.op_7``.

    ``inputs``: the names of nets that become inputs, with the expressions that drive them. ``bits``: widths of the
    input and the output port.
    """

    wanted: str
    inputs: Mapping[str, str]
    bits: tuple[int, int]


class _Driver(NamedTuple):
    """A driver of the nets ``drives``, which reads ``reads``.

    ``away``: the edit that removes it; ``right``: its right side, if it is a plain assignment of a net. ``block``: the
    procedural block that contains it.
    """

    drives: frozenset[str]
    reads: frozenset[str]
    away: Edit
    right: Any = None
    block: Any = None


def cut_out(files: Files, top: str, cut: Cut) -> dict[str, str] | None:
    """Return the files after ``cut`` of module ``top``; None if there is no such module, or the net has no driver."""
    for name, text in files.items():
        source = Source(name, text)
        for member in source.members:
            if kind_of(member) == "ModuleDeclaration" and member.header.name.rawText == top and source.ours(member):
                return _cut(files, source, member, cut)
    return None


def declared_in(files: Files, top: str) -> set[str]:
    """Return the names of the nets that module ``top`` declares."""
    found: set[str] = set()
    for name, text in files.items():
        source = Source(name, text)
        for member in source.members:
            if kind_of(member) == "ModuleDeclaration" and member.header.name.rawText == top:
                found |= {d.name.rawText for node in _items(member) for d in _of(node, "declarators")}
    return found


def _cut(files: Files, source: Source, module: Any, cut: Cut) -> dict[str, str] | None:
    drivers = list(_drivers(source, module))
    net = cut.wanted.rpartition(".")[2]
    kept = _needed(drivers, net, set(cut.inputs))
    if not any(net in drivers[place].drives for place in kept):
        return None
    edits, added, driven = [], [], set()
    for place, driver in enumerate(drivers):
        given = [net for net in sorted(driver.drives) if net in cut.inputs]
        if given or place in kept:
            driven.add(driver.block)
        if not given and place in kept:
            continue
        if given and driver.right is not None:
            edits.append(source.becomes(driver.right, cut.inputs[given[0]]))
            continue
        edits.append(driver.away)
        added += [f"  assign {net} = {cut.inputs[net]};" for net in given]
    for block in dict.fromkeys(driver.block for driver in drivers if driver.block is not None):
        edits += [_heard(source, block)] if block in driven else [source.without(block)]
    edits += [source.without(item) for item in _items(module) if kind_of(item) == "PortDeclaration"]
    ports = f"(input wire [{max(cut.bits[0], 1) - 1}:0] {MODEL_INP}, output wire [{cut.bits[1] - 1}:0] {MODEL_OUT})"
    edits.append(source.becomes(module.header.ports, ports))
    end = module.endmodule.location.offset
    added.append(f"  assign {MODEL_OUT} = {cut.wanted};")
    edits.append(Edit(source.name, end, end, "\n".join([*added, ""])))
    return edited(files, edits)


def _heard(source: Source, block: Any) -> Edit:
    """Return the edit that makes a block without edges sensitive to all signals that it reads (``@*``)."""
    control = getattr(block.statement, "timingControl", None)
    plain = control is not None and "edge" not in source.of(control)
    return source.becomes(control, "@*") if plain else Edit(source.name, 0, 0, "")


def _needed(drivers: list[_Driver], wanted: str, inputs: set[str]) -> set[int]:
    """Return the positions of the drivers on which ``wanted`` depends, up to the nets ``inputs``."""
    by_net: dict[str, list[int]] = {}
    for place, driver in enumerate(drivers):
        for net in driver.drives:
            by_net.setdefault(net, []).append(place)
    found: set[int] = set()
    waiting, seen = [wanted], set(inputs)
    while waiting:
        net = waiting.pop()
        if net not in seen:
            seen.add(net)
            for place in by_net.get(net, ()):
                found.add(place)
                waiting += drivers[place].reads
    return found


def _items(node: Any) -> Iterator[Any]:
    """Yield the items of a module, including those in generate regions and ``if`` blocks, but not in loops."""
    for child in children(node):
        if kind_of(child) in _SCOPES:
            yield from _items(child)
        else:
            yield child


def _of(node: Any, name: str) -> list[Any]:
    """Return the nodes of a list of ``node``, without the commas between them."""
    return list(children(getattr(node, name, ())))


def _drivers(source: Source, module: Any) -> Iterator[_Driver]:
    named: set[str] = set()
    for item in _items(module):
        kind = kind_of(item)
        if kind in _NO_DRIVERS or not source.ours(item):
            continue
        if kind in _DECLARATIONS:
            yield from _initial_values(source, item)
        elif kind == "ContinuousAssign" and len(_of(item, "assignments")) == 1:
            (assignment,) = _of(item, "assignments")
            yield _assigned(source, assignment, source.without(item))
        elif kind == "ProceduralBlock":
            yield from _block(source, item)
        elif kind == "HierarchyInstantiation":  # the first instance that names a net is taken for its driver
            for instance in _of(item, "instances"):
                names = names_in(" ".join(source.of(each) for each in _of(instance, "connections")))
                drives = names - named
                named |= names
                yield _Driver(frozenset(drives), frozenset(names - drives), source.without(item))
        else:
            drives = lefts_in(source, item)
            if drives:
                yield _Driver(frozenset(drives), frozenset(names_in(source.of(item))), source.without(item))


def _assigned(source: Source, assignment: Any, away: Edit, block: Any = None) -> _Driver:
    left = source.of(assignment.left)
    right = assignment.right if left.isidentifier() else None
    return _Driver(frozenset(names_in(left)), frozenset(names_in(source.of(assignment.right))), away, right, block)


def _initial_values(source: Source, declaration: Any) -> Iterator[_Driver]:
    for declarator in _of(declaration, "declarators"):
        value = getattr(declarator, "initializer", None)
        if value is not None:
            away = source.becomes(value, "")
            reads = frozenset(names_in(source.of(value.expr)))
            yield _Driver(frozenset({declarator.name.rawText}), reads, away, value.expr)


def _block(source: Source, block: Any) -> Iterator[_Driver]:
    """Yield the assignments of a block one by one if it has nothing else; otherwise the whole block as one driver."""
    body = block.statement
    while kind_of(body) == "TimingControlStatement":
        body = body.statement
    statements = [body]
    if kind_of(body) == "BlockStatement":
        statements = [child for child in children(body) if kind_of(child) not in ("NamedBlockClause",)]
    if all(_is_assignment(statement) for statement in statements):
        for statement in statements:
            yield _assigned(source, statement.expr, source.without(statement), block)
    else:
        yield _Driver(
            frozenset(lefts_in(source, block)), frozenset(names_in(source.of(body))), source.without(block), None, block
        )


def _is_assignment(statement: Any) -> bool:
    return kind_of(statement) == "ExpressionStatement" and statement.expr.kind.name == "AssignmentExpression"


# Removable parts of RTL: statements, items of modules, modules; and choices that can be replaced by one arm.


_MODULES = ("ModuleDeclaration",)
#: Nodes that contain items.
_SCOPES_OF_PARTS = (*_MODULES, "GenerateRegion", "GenerateBlock")
#: Optional parts of a choice.
_ARMS = ("StandardCaseItem", "DefaultCaseItem", "ElseClause")
#: Parts of a scope that are not items.
_NO_ITEMS = ("ModuleHeader", "NamedBlockClause", "EndBlockClause", "NamedLabel")


def _statements(source: Source, node: Any) -> Iterator[Edit]:
    """Yield statements of blocks, items of ``case``, and the ``else`` of an ``if``."""
    for child in children(node):
        kind = kind_of(child)
        in_block = kind_of(node) == "BlockStatement" and kind not in _NO_ITEMS
        if source.ours(child) and (in_block or kind in _ARMS):
            yield source.without(child)
        yield from _statements(source, child)


def _items_of_parts(source: Source, node: Any) -> Iterator[Edit]:
    """Yield items of modules and of generate blocks: nets, assignments, blocks, instances."""
    for child in children(node):
        if kind_of(node) in _SCOPES_OF_PARTS and kind_of(child) not in _NO_ITEMS and source.ours(child):
            yield source.without(child)
        if kind_of(child) in (
            *_SCOPES_OF_PARTS,
            "CompilationUnit",
            "IfGenerate",
            "CaseGenerate",
            "LoopGenerate",
            "ElseClause",
        ):
            yield from _items_of_parts(source, child)


def _modules(source: Source, node: Any) -> Iterator[Edit]:
    """Yield modules, packages, and other members of a file."""
    for member in source.members:
        if source.ours(member):
            yield source.without(member)


def _each(files: Files, found: Callable[[Source, Any], Iterator[Edit]]) -> list[Edit]:
    sources = (Source(name, text) for name, text in files.items())
    return [edit for source in sources for edit in found(source, source.root)]


_Level = Callable[[Files], list[Edit]]

#: Removable parts, in order from definitions to uses: each yields the edits that remove one part.
LEVELS: tuple[_Level, ...] = tuple(partial(_each, found=found) for found in (_statements, _items_of_parts, _modules))


def arms(files: Files) -> list[Edit]:
    """Return edits that replace a choice by one of its arms, or an event list without edges by ``@*``."""
    return _each(files, _arms)


def _arms(source: Source, node: Any) -> Iterator[Edit]:
    kind = kind_of(node)
    if source.ours(node):
        if kind == "ConditionalStatement":
            yield source.becomes(node, source.of(node.statement))
            if node.elseClause is not None:
                yield source.becomes(node, source.of(node.elseClause.clause))
        elif kind == "ConditionalExpression":
            for arm in (node.left, node.right):
                yield source.becomes(node, f"({source.of(arm)})")
        elif kind == "EventControlWithExpression" and "edge" not in source.of(node):
            yield source.becomes(node, "@*")
    for child in children(node):
        yield from _arms(source, child)


# The syntax of RTL as far as needed for cutting: modules, their content, and positions in the file.


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w$]*")
#: Text that follows a piece on its line and is removed with it.
_REST = re.compile(r"[ \t]*(?://[^\n]*)?(?=\n|$)")


class Source:
    """One file, and its syntax tree."""

    def __init__(self, name: str, text: str) -> None:
        from pyslang import syntax

        self.name, self.text = name, text
        # One character per byte; characters other than ASCII only occur in comments and strings.
        self._tree = syntax.SyntaxTree.fromText(text.encode("ascii", "replace").decode("ascii"), name)
        self.root: Any = self._tree.root
        self._buffer = self.root.sourceRange.start.buffer

    @property
    def members(self) -> list[Any]:
        """The members of the file: modules, packages."""
        alone = kind_of(self.root) == "ModuleDeclaration"
        return [self.root] if alone else list(getattr(self.root, "members", ()))

    def ours(self, node: Any) -> bool:
        """Return True if the text of ``node`` is in this file, and not in a macro or an included file."""
        span = node.sourceRange
        return bool(span.start.buffer == self._buffer == span.end.buffer and span.end.offset > span.start.offset)

    def of(self, node: Any) -> str:
        """Return the text of ``node``."""
        return self.text[node.sourceRange.start.offset : node.sourceRange.end.offset]

    def becomes(self, node: Any, new: str) -> Edit:
        """Return the edit that replaces ``node`` by ``new``."""
        return Edit(self.name, node.sourceRange.start.offset, node.sourceRange.end.offset, new)

    def without(self, node: Any, new: str = "") -> Edit:
        """Return the edit that removes ``node``, with the comment after it."""
        edit = self.becomes(node, new)
        rest = _REST.match(self.text, edit.end)
        return edit if rest is None else edit._replace(end=rest.end())


def kind_of(node: Any) -> str:
    """Return the kind of ``node``: pyslang's name of its type, without the ending."""
    return type(node).__name__.removesuffix("Syntax")


def children(node: Any) -> Iterator[Any]:
    """Yield the nodes below ``node``, without tokens."""
    from pyslang import syntax

    return (child for child in node if isinstance(child, syntax.SyntaxNode))


def names_in(text: str) -> set[str]:
    """Return all words in ``text`` that may be names; ``a.b`` has two."""
    return set(_NAME.findall(_COMMENT.sub(" ", text)))


def lefts_in(source: Source, node: Any) -> set[str]:
    """Return the names in the left sides of all assignments in ``node``."""
    found = set()
    if "Assignment" in node.kind.name and kind_of(node) == "BinaryExpression":
        found |= names_in(source.of(node.left))
    for child in children(node):
        found |= lefts_in(source, child)
    return found
