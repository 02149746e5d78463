"""Blocks that wait for changes: the signals that such a block assigns are X until it has run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from dais_verif.base.errors import InputError, StateError
from dais_verif.prover import four_state
from dais_verif.prover.clocked.registers.clock_gating import Latch
from dais_verif.prover.netlist import Driver, Read
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.events import EventError, Events, begins_unknown, sensitivity, taken
from dais_verif.prover.slang.execution import flat
from dais_verif.prover.slang.places import bits_of, converter
from dais_verif.prover.slang.writes import NAMES, indices, symbol_of
from dais_verif.prover.terms import (
    Term,
    all_ones,
    as_written,
    band,
    built,
    const,
    nodes,
    nonzero,
    rebuild,
    undefined,
    var,
)

__all__ = ["folded", "is_constant", "latched", "never_assigned", "wakers"]


_SHIFTS = ("shl", "lshr")


def wakers(design: SlangDesign, events: Events, body: Sequence[Any], own: set[Any]) -> list[Any]:
    """Return the symbols that are certain to run a block when they change from X; none for ``always_comb``.

    A block that only waits for changes has not run as long as all of these are X. If it reads a part of a vector,
    Icarus Verilog waits for the whole vector. Symbols for which waiting is not certain are left out: memories, operands
    of system functions, variables that may not start as X, and symbols in branches that a constant condition excludes.
    ``own``: the symbols that the block assigns.
    """

    def wakes(symbol: Any) -> bool:
        return not (symbol in own or symbol in design.memories or symbol in design.elements) and begins_unknown(symbol)

    if events.always:
        return []
    if events.listed is not None:
        return list(filter(wakes, events.listed))
    found: dict[Any, None] = {}

    def look(e: Any) -> Any:
        if type(e) is ast.AssignmentExpression and not e.isCompound:
            for read in (e.right, *indices(e.left)):
                read.visit(look)
            return ast.VisitAction.Skip
        if type(e) is ast.ConditionalStatement and (arms := taken(e)) is not None:
            for arm in arms:
                arm.visit(look)
            return ast.VisitAction.Skip
        if type(e) is ast.CallExpression and e.isSystemCall and e.subroutineName not in ("$signed", "$unsigned"):
            return ast.VisitAction.Skip
        if type(e) in NAMES and wakes(symbol_of(e)):
            found[symbol_of(e)] = None
        return ast.VisitAction.Advance

    for statement in body:
        statement.visit(look)
    return list(found)


def never_assigned(term: Term, wakers: Sequence[Any], read: Callable[[Any], Term], where: str) -> Term:
    """Return ``term``, which a block assigns, made undefined wherever all of ``wakers`` are X.

    ``read``: returns the value of a symbol. ``where``: the location of the block.
    """
    asleep = const(1, 1)
    for symbol in wakers:
        asleep = band(asleep, all_ones(four_state.parts(read(symbol)).unknown))
        if asleep is const(1, 0):
            return term
    if not wakers:
        return term
    nothing = undefined(term.width, f"a block at {where} that waits for undefined signals")
    return four_state.ite(asleep, nothing, term)


def is_constant(e: Any) -> bool:
    """Return whether ``e`` is constant."""
    while type(e) is ast.ConversionExpression:
        e = e.operand
    return type(e) in (ast.IntegerLiteral, ast.UnbasedUnsizedIntegerLiteral) or e.constant is not None


def folded(root: Term) -> Term:
    """Return ``root``, a term as written, after the folding that Icarus Verilog does during elaboration.

    It folds operations on constants only, shifts by a constant that is at least the width, which give 0, and choices by
    a constant condition. It folds nothing else: ``a & 0`` still waits for ``a``.
    """
    new: dict[Term, Term] = {}
    with as_written():
        for t in nodes(root):
            args = tuple(new[x] for x in t.args)
            if t.op in _SHIFTS and args[1].op == "const" and args[1].value >= t.width:
                new[t] = const(t.width, 0)
            elif t.op == "ite" and args[0].op == "const":
                new[t] = args[1] if args[0].value else args[2]
            else:
                new[t] = t if args == t.args else built(t, args)
    return new[root]


# Latches of integrated clock gating, which pass an enable while a clock is 0, and hold it while the clock is 1.
#
# With ``if (!clk) q = enable;`` and ``gated = clk & q``, the gated clock rises with ``clk`` if the enable was 1 just
# before. Registers with the gated clock are therefore registers with ``clk`` that load only while the enable is 1.


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
