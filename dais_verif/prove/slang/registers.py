"""Clocked ``always`` blocks: registers, each a driver that takes an edge of its clock.

Known are plain registers, ``r <= d``, and those with a clock enable, ``if (en) r <= d``. What else a block assigns is
refused when, and only when, the proof must look behind it: valid bits with a reset, for example, need not be known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dais_verif.errors import InputError
from dais_verif.prove.netlist import Clock, Driver, Read, Signal, driver_of
from dais_verif.prove.slang.design import Design, ast
from dais_verif.prove.slang.execution import flat
from dais_verif.prove.slang.expressions import Converter, target_parts
from dais_verif.prove.terms import Term

__all__ = ["clock_of", "registers"]


def clock_of(body: Any) -> Any | None:
    """The symbol whose rising edge runs the block, if that is all that runs it."""
    if type(body) is not ast.TimedStatement:
        return None
    timing = body.timing
    if timing.kind is ast.TimingControlKind.EventList and len(timing.events) == 1:
        (timing,) = timing.events
    if timing.kind is not ast.TimingControlKind.SignalEvent or timing.edge is not ast.EdgeKind.PosEdge:
        return None
    return timing.expr.symbol if type(timing.expr) is ast.NamedValueExpression else None


def registers(design: Design, body: Any, clock: Any) -> None:
    """Add the drivers of a block that runs at every rising edge of ``clock``."""
    where = design.where(body.sourceRange.start)
    plain = Clock(design.signal(clock, where), None)
    wholes = Counter(symbol for symbol, whole in _targets(body.stmt) if whole)
    again = {symbol for symbol, count in wholes.items() if count > 1}
    for s in flat(body.stmt):
        enable = _enable(s)
        if enable is None:
            _assign(design, s, plain, where, again)
        else:
            enabled = plain._replace(enable=design.signal(enable, where))
            for x in flat(s.ifTrue):
                _assign(design, x, enabled, where, again)


def _enable(s: Any) -> Any | None:
    """The symbol of ``if (en) ...`` without an else."""
    if type(s) is not ast.ConditionalStatement or s.ifFalse is not None or len(s.conditions) != 1:
        return None
    condition = s.conditions[0].expr
    while type(condition) is ast.ConversionExpression:
        condition = condition.operand
    return condition.symbol if type(condition) is ast.NamedValueExpression else None


def _assign(design: Design, s: Any, clock: Clock, where: str, again: set[Any]) -> None:
    """``again``: what other statements assign as well, a reset for example."""
    simple = type(s) is ast.ExpressionStatement and type(s.expr) is ast.AssignmentExpression and s.expr.isNonBlocking
    symbols = {symbol for symbol, _ in _targets(s)}
    if not simple or symbols & again:
        for symbol in symbols:
            _unknown(design.signal(symbol, where), clock, where)
        return

    def constant_only(symbol: Any, low: int, width: int) -> Term:
        raise InputError(f"{where}: {symbol.name!r} chooses which register is written; the proof needs a constant")

    parts = target_parts(Converter(design, constant_only), s.expr.left)
    place = sum(width for _, _, width in parts)
    for symbol, low, width in parts:
        place -= width
        design.signal(symbol, where).drive(driver_of(design.bits(s.expr.right), place, width, low, where, clock))


def _unknown(signal: Signal, clock: Clock, where: str) -> None:
    def make(read: Read) -> Term:
        raise InputError(
            f"{where}: register {signal.name!r} is neither r <= d nor if (en) r <= d; the proof knows no more"
        )

    if not signal.drivers:
        signal.drive(Driver(0, signal.width, make, where, clock))


def _targets(s: Any) -> Iterator[tuple[Any, bool]]:
    """The symbols that a statement assigns, whatever it is, and whether as a whole."""
    for x in flat(s):
        if type(x) is ast.ExpressionStatement and type(x.expr) is ast.AssignmentExpression:
            yield from _names(x.expr.left, True)
        elif type(x) is ast.ConditionalStatement:
            for arm in (x.ifTrue, x.ifFalse):
                if arm is not None:
                    yield from _targets(arm)
        elif type(x) is ast.CaseStatement:
            for item in x.items:
                yield from _targets(item.stmt)
            if x.defaultCase is not None:
                yield from _targets(x.defaultCase)


def _names(left: Any, whole: bool) -> Iterator[tuple[Any, bool]]:
    if type(left) is ast.ConcatenationExpression:
        for x in left.operands:
            yield from _names(x, whole)
    elif type(left) in (ast.ElementSelectExpression, ast.RangeSelectExpression):
        yield from _names(left.value, False)
    elif type(left) in (ast.NamedValueExpression, ast.HierarchicalValueExpression):
        yield left.symbol, whole
