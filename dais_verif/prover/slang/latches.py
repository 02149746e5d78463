"""Latches of integrated clock gating, which pass an enable while a clock is 0, and hold it while the clock is 1.

With ``if (!clk) q = enable;`` and ``gated = clk & q``, the gated clock rises with ``clk`` if the enable was 1 just
before. Registers with the gated clock are therefore registers with ``clk`` that load only while the enable is 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from dais_verif.errors import InputError, StateError
from dais_verif.prover.netlist import Driver, Read
from dais_verif.prover.registers.clock_gating import Latch
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.events import EventError, sensitivity
from dais_verif.prover.slang.execution import flat
from dais_verif.prover.slang.slices import bits_of, converter
from dais_verif.prover.slang.writes import NAMES, symbol_of
from dais_verif.prover.terms import Term, const, nonzero, rebuild, var

__all__ = ["latched"]


def latched(design: SlangDesign, body: Any) -> bool:
    """Return whether ``body`` is the latch of a clock gate; if so, add it to the latches of ``design``.

    Any other use of the latch raises ``StateError``.
    """
    found = _parts(body)
    if found is None:
        return False
    condition, left, right = found
    target, names = design.signals.get(symbol_of(left)), _names([condition])
    gate = design.signals.get(next(iter(names))) if len(names) == 1 else None
    if target is None or gate is None or target.width != 1 or gate.width != 1 or target is gate:
        return False
    where = design.where(body.sourceRange.start)
    if not _opens_at_zero(design, condition) or not _sees(design, body, names | _names([right]), where):
        return False

    def make(read: Read) -> Term:
        raise StateError(
            f"{where}: signal {target.name!r} keeps its value while {gate.name!r} is 1, which makes it a latch; unless"
            " it gates a clock (clk & latch), assign it on every path"
        )

    target.drive(Driver(0, 1, make, where))
    design.latches[target] = Latch(gate, bits_of(design, right), type(body) is not ast.TimedStatement)
    return True


def _parts(body: Any) -> tuple[Any, Any, Any] | None:
    """Return condition, left and right side of a block that is one conditional assignment; None for other blocks."""
    statements = list(islice(flat(body.stmt if type(body) is ast.TimedStatement else body), 2))
    if len(statements) != 1 or type(statements[0]) is not ast.ConditionalStatement:
        return None
    (first,) = statements
    if first.ifFalse is not None or len(first.conditions) != 1 or first.conditions[0].pattern is not None:
        return None
    inner = list(islice(flat(first.ifTrue), 2))
    if len(inner) != 1 or type(inner[0]) is not ast.ExpressionStatement:
        return None
    e = inner[0].expr
    if type(e) is not ast.AssignmentExpression or e.isCompound or e.timingControl is not None:
        return None
    return (first.conditions[0].expr, e.left, e.right) if type(e.left) in NAMES else None


def _names(expressions: Iterable[Any]) -> set[Any]:
    found: set[Any] = set()
    for e in expressions:
        e.visit(lambda x: found.add(symbol_of(x)) if type(x) in NAMES else None)
    return found


def _opens_at_zero(design: SlangDesign, condition: Any) -> bool:
    gate = var(1, "the gate of a latch")
    try:
        term = nonzero(converter(design, lambda signal, low, width: gate)(condition))
    except InputError:
        return False
    at_zero, at_one = (rebuild(term, {gate: const(1, value)}) for value in (0, 1))
    return at_zero is const(1, 1) and at_one is const(1, 0)


def _sees(design: SlangDesign, body: Any, read: set[Any], where: str) -> bool:
    """Return whether the block runs at every change of the signals that it reads."""
    try:
        events, _ = sensitivity(design, body, where)
    except EventError:
        return False
    signals = {symbol for symbol in read if symbol in design.signals}
    return events.listed is None or signals <= events.listed
