"""Find the symbols that code may assign, even if the proof cannot execute it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.kinds import CALLS, FILLING, How

__all__ = ["NAMES", "STEPS", "lines_of", "roots", "symbol_of", "written"]

NAMES = (ast.NamedValueExpression, ast.HierarchicalValueExpression)
_u = ast.UnaryOperator
STEPS = {_u.Preincrement: 1, _u.Postincrement: 1, _u.Predecrement: -1, _u.Postdecrement: -1}
#: System calls that assign nothing.
_READING = (CALLS.of(How.READ) | CALLS.of(How.LEFT_OUT)) - {*FILLING}
#: Symbols that are never assigned.
_CONSTANTS = (ast.SymbolKind.Parameter, ast.SymbolKind.EnumValue, ast.SymbolKind.Genvar)


def symbol_of(e: Any) -> Any:
    """Return the symbol that a name denotes; for a port of a modport, the symbol of the interface."""
    symbol = e.symbol
    if type(symbol) is not ast.ModportPortSymbol:  # called for every name in the RTL: comparing types is fast
        return symbol
    inside = symbol.internalSymbol
    return symbol if inside is None else inside


def written(s: Any, elsewhere: list[Any] | None = None) -> set[Any]:
    """Return the symbols that a statement or an expression assigns or may fill, also in subroutines that it calls.

    ``elsewhere``: a list to which the hierarchical names that occur are added.
    """
    found: set[Any] = set()
    waiting, done = [s], set()

    def visit(e: Any) -> None:
        kind = type(e)
        if kind is ast.AssignmentExpression:
            found.update(roots(e.left))
        elif kind is ast.UnaryExpression and e.op in STEPS:
            found.update(roots(e.operand))
        elif kind is ast.ProceduralDeassignStatement:
            found.update(roots(e.lvalue))
        elif kind is ast.CallExpression and not e.isSystemCall:
            if e.subroutine not in done:
                done.add(e.subroutine)
                waiting.append(e.subroutine.body)
        elif kind is ast.CallExpression and e.subroutineName not in _READING:
            found.update(symbol for argument in e.arguments for symbol in roots(argument))
        elif kind is ast.HierarchicalValueExpression and elsewhere is not None:
            elsewhere.append(e)

    while waiting:
        waiting.pop().visit(visit)
    return {symbol for symbol in found if symbol.kind not in _CONSTANTS}


def lines_of(design: SlangDesign, s: Any) -> dict[Any, str]:
    """Return the line at which a statement assigns each symbol for the first time."""
    found: dict[Any, str] = {}

    def visit(e: Any) -> None:
        if type(e) is ast.AssignmentExpression:
            for symbol in roots(e.left):
                if symbol not in found:
                    found[symbol] = design.where(e.sourceRange.start)

    s.visit(visit)
    return found


def indices(left: Any) -> Iterator[Any]:
    """Yield the index expressions in the target of an assignment, which are read."""
    kind = type(left)
    if kind is ast.ElementSelectExpression:
        yield left.selector
        yield from indices(left.value)
    elif kind is ast.RangeSelectExpression:
        yield left.left
        yield from indices(left.value)
    elif kind is ast.MemberAccessExpression:
        yield from indices(left.value)
    elif kind is ast.ConcatenationExpression:
        for x in left.operands:
            yield from indices(x)


def roots(left: Any) -> list[Any]:
    """Return the symbols that an assignment to ``left`` assigns, as a whole or in part."""
    kind = type(left)
    if kind is ast.ConcatenationExpression:
        return [symbol for x in left.operands for symbol in roots(x)]
    if kind is ast.StreamingConcatenationExpression:
        return [symbol for x in left.streams for symbol in roots(x.operand)]
    if kind is ast.SimpleAssignmentPatternExpression:
        return [symbol for x in left.elements for symbol in roots(x)]
    if kind is ast.AssignmentExpression:  # an output of an instance
        return roots(left.left)
    if kind in (ast.ElementSelectExpression, ast.RangeSelectExpression, ast.MemberAccessExpression):
        return roots(left.value)
    if kind in NAMES:
        return [symbol_of(left)]
    found: list[Any] = []
    if left is not None:  # any other expression: assume that it assigns all signals that it names
        left.visit(lambda e: found.append(symbol_of(e)) if type(e) in NAMES else None)
    return found
