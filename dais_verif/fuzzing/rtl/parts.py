"""Removable parts of RTL: statements, items of modules, modules; and choices that can be replaced by one arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from dais_verif.fuzzing.rtl.case import Edit, Files
from dais_verif.fuzzing.rtl.syntax import Source, children, kind_of

__all__ = ["LEVELS", "arms"]

_MODULES = ("ModuleDeclaration",)
#: Nodes that contain items.
_SCOPES = (*_MODULES, "GenerateRegion", "GenerateBlock")
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


def _items(source: Source, node: Any) -> Iterator[Edit]:
    """Yield items of modules and of generate blocks: nets, assignments, blocks, instances."""
    for child in children(node):
        if kind_of(node) in _SCOPES and kind_of(child) not in _NO_ITEMS and source.ours(child):
            yield source.without(child)
        if kind_of(child) in (*_SCOPES, "CompilationUnit", "IfGenerate", "CaseGenerate", "LoopGenerate", "ElseClause"):
            yield from _items(source, child)


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
LEVELS: tuple[_Level, ...] = tuple(partial(_each, found=found) for found in (_statements, _items, _modules))


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
