"""The syntax of RTL as far as needed for cutting: modules, their content, and positions in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dais_verif.fuzzing.rtl.case import Edit

__all__ = ["Source", "children", "kind_of", "lefts_in", "names_in"]

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
