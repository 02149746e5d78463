"""List the kinds of constructs that pyslang finds in a text; tests compare the tables of decisions with them."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

import pyslang

from dais_verif.prover.slang.design import ast

__all__ = ["kinds_seen"]

#: The attributes that hold the kind of a construct.
_SAYING = (
    "kind", "op", "conversionKind", "selectionKind", "rangeKind", "blockKind", "condition", "check", "procedureKind",
    "lifetime", "direction", "assertionKind", "edge", "definitionKind",
)  # fmt: skip
#: The attributes that lead to objects which ``visit`` does not reach.
_LEADING = ("timing", "timingControl", "events", "delay", "type", "netType", "definition", "pattern", "conditions")


def kinds_seen(text: str, folder: Path, top: str) -> set[Any]:
    """Return the members of pyslang's enums, and the names of system calls and gates, that occur in ``text``."""
    (folder / "seen.sv").write_text(text)
    manager = pyslang.SourceManager()
    options = ast.CompilationOptions()
    options.topModules = {top}
    compilation = ast.Compilation(pyslang.Bag([options]))
    compilation.addSyntaxTree(pyslang.syntax.SyntaxTree.fromFile(str(folder / "seen.sv"), manager))
    found: set[Any] = set()

    def look(x: Any, depth: int = 0) -> None:
        for name in _SAYING:
            value = getattr(x, name, None)
            if isinstance(value, Enum):
                found.add(value)
        if getattr(x, "netKind", None) is not None:
            found.add(x.netKind)
        if type(x) is ast.CallExpression:
            found.add(x.subroutineName)
            if not x.isSystemCall and x.subroutine.kind is ast.SymbolKind.Subroutine:
                for argument in x.subroutine.arguments:
                    look(argument, depth)
        if type(x) is ast.PrimitiveInstanceSymbol:
            found.add(x.primitiveType.name)
            for pin in x.portConnections:
                pin.visit(look)
        if type(x) is ast.InstanceSymbol:
            found.add(x.body.definition.unconnectedDrive)
            for connection in x.portConnections:
                found.add(connection.port.direction) if hasattr(connection.port, "direction") else None
        if type(x) is ast.ValueRangeExpression and x.syntax.op.kind is pyslang.parsing.TokenKind.Colon:
            found.add(ast.ValueRangeKind.Simple)
        if type(x) is ast.InsideExpression:
            for member in x.rangeList:
                member.visit(look)
        if depth < 4:
            for name in _LEADING:
                value = getattr(x, name, None)
                for each in value if isinstance(value, list) else [value]:
                    if each is not None and not callable(each):
                        look(each, depth + 1)
            canonical = getattr(getattr(x, "type", None), "canonicalType", None)
            if canonical is not None:
                found.add(canonical.kind)
                if canonical.isArray:
                    found.add(canonical.arrayElementType.canonicalType.kind)

    compilation.getRoot().visit(look)
    return found
