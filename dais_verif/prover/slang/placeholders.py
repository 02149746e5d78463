"""Terms that stand for signals while a block is executed, before the drivers of these signals are known.

The terms are variables, and simplifications that hold for all values apply to them: ``a ^ n ^ n`` is ``a``. This is
right if nothing in the design is undefined. Otherwise the block is executed again, on demand, with leaves whose bits
may each be undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from dais_verif.prover import four_state
from dais_verif.prover.netlist import Bits, Read, Signal, bits_over
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.terms import Term, leaves, var

__all__ = ["Leaves", "either", "may_be_undefined"]


class Leaves:
    """Terms that stand for signals. ``four_state``: whether each bit may be undefined, except for bits of inputs."""

    def __init__(self, design: SlangDesign, four_state: bool = False) -> None:
        self._design, self._four_state = design, four_state
        self._values: dict[Term, tuple[Signal, int]] = {}
        self._unknown: dict[Term, tuple[Signal, int]] = {}

    def __call__(self, signal: Signal) -> Term:
        """Return the term that stands for ``signal``."""
        name = f"signal {signal.name}"
        if not self._four_state or signal in self._design.given:
            term = var(signal.width, name)
            self._values[term] = signal, 0
            return term
        term, value, unknown = four_state.leaf(signal.width, name)
        self._values[value], self._unknown[unknown] = (signal, 0), (signal, 0)
        return term

    def signals(self, term: Term) -> set[Signal]:
        """Return the signals on which ``term`` depends."""
        return {self._values[t][0] for t in leaves(term) if t in self._values}

    def bits(self, term: Term) -> Bits:
        """Return the bits of ``term``, with the drivers of signals in place of their variables."""
        return bits_over(term, self._values, self._unknown)


def either(design: SlangDesign, plain: Bits, four_state: Callable[[], Bits]) -> Bits:
    """Return bits that are ``plain`` if nothing in the design is undefined, else those that ``four_state`` returns.

    The decision is made on each read: whether anything is undefined is known only when all drivers are known.
    """
    again = cache(four_state)

    def bits(read: Read, low: int, width: int) -> Term:
        return (again() if design.undefined else plain)(read, low, width)

    return bits


def may_be_undefined(design: SlangDesign, top: Any) -> bool:
    """Return whether an expression below ``top`` can have an undefined value even if its operands are defined."""
    search = _Search(design)
    top.visit(search.look)
    return search.found


class _Search:
    def __init__(self, design: SlangDesign) -> None:
        self._design, self.found = design, False

    def look(self, e: Any) -> Any:
        if self.found:
            return ast.VisitAction.Interrupt
        rule = _SOURCES.get(type(e))
        if rule is not None:
            self.found = rule(self, e)
        return ast.VisitAction.Advance

    def _element(self, e: Any) -> bool:
        return not self._covers(e.value.type, e.selector) or self._has_gaps(e.value)

    def _covers(self, kind: Any, index: Any) -> bool:
        """Return whether every value of ``index`` selects an element."""
        if not kind.hasFixedRange or not index.type.isIntegral:
            return False
        low, high = sorted((kind.fixedRange.left, kind.fixedRange.right))
        value = _number(index)
        if value is not None:
            return bool(low <= value <= high)
        while type(index) is ast.ConversionExpression and not index.type.isSigned and not index.operand.type.isSigned:
            if index.operand.type.bitWidth > index.type.bitWidth:
                break
            index = index.operand
        return not index.type.isSigned and low == 0 and (1 << index.type.bitWidth) - 1 <= high

    def _range(self, e: Any) -> bool:
        left, right, kind = _number(e.left), _number(e.right), e.value.type
        if left is None or right is None or not kind.hasFixedRange:
            return True
        if e.selectionKind is not ast.RangeSelectionKind.Simple:
            right = left + right - 1 if e.selectionKind is ast.RangeSelectionKind.IndexedUp else left - right + 1
        low, high = sorted((kind.fixedRange.left, kind.fixedRange.right))
        return not low <= min(left, right) <= max(left, right) <= high

    def _has_gaps(self, e: Any) -> bool:
        """Return whether ``e`` is a memory with words that have no value."""
        memory = self._design.memories.get(getattr(e, "symbol", None))
        return memory is not None and None in memory.words

    def _declared(self, s: Any) -> bool:
        symbol = s.symbol
        scope = symbol.parentScope  # undefined variables of a block are found when it is executed
        while scope is not None and getattr(scope, "kind", None) in (ast.SymbolKind.StatementBlock, None):
            scope = getattr(scope, "parentScope", None)
        if scope is not None and scope.kind is ast.SymbolKind.ProceduralBlock:
            return False
        return symbol.initializer is None and symbol.type.isFourState

    def _quotient(self, e: Any) -> bool:
        if e.op not in (ast.BinaryOperator.Divide, ast.BinaryOperator.Mod):
            return False
        return not _number(e.right)

    def _parameter(self, e: Any) -> bool:
        symbol = e.symbol
        value = symbol.value.value if symbol.kind is ast.SymbolKind.Parameter else None
        return bool(getattr(value, "hasUnknown", False))


def _number(e: Any) -> int | None:
    """Return the value of a constant; None for anything else."""
    value = e.value if type(e) is ast.IntegerLiteral else getattr(e.constant, "value", None)
    return None if value is None or getattr(value, "hasUnknown", True) else int(value)


_SOURCES: dict[Any, Callable[[_Search, Any], bool]] = {
    ast.ElementSelectExpression: _Search._element,
    ast.RangeSelectExpression: _Search._range,
    ast.BinaryExpression: _Search._quotient,
    ast.IntegerLiteral: lambda search, e: e.value.hasUnknown,
    ast.UnbasedUnsizedIntegerLiteral: lambda search, e: e.value.hasUnknown,
    ast.NamedValueExpression: _Search._parameter,
    ast.VariableDeclStatement: _Search._declared,
}
