"""Blocks that wait for changes: the signals that such a block assigns are X until it has run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dais_verif.prover import four_state
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.events import Events, begins_unknown, taken
from dais_verif.prover.slang.writes import NAMES, indices, symbol_of
from dais_verif.prover.terms import Term, all_ones, as_written, band, built, const, nodes, undefined

__all__ = ["folded", "is_constant", "never_assigned", "wakers"]

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
