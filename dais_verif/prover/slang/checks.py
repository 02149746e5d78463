"""Leave out assertions, and calls that only print something, if they cannot change a value."""

from __future__ import annotations

from typing import Any

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.events import taken
from dais_verif.prover.slang.kinds import ASSERTIONS, CALLS, ENDING, STATEMENTS, How
from dais_verif.prover.slang.writes import STEPS, roots, written

__all__ = ["leave_out", "note_ending", "only_checks", "refuse_change"]

_CHECKS = STATEMENTS.of(How.LEFT_OUT)
_SHOWING = CALLS.of(How.LEFT_OUT)
#: Statements that may contain the calls that an assertion makes when it passes or fails.
_AROUND = (ast.StatementKind.Empty, ast.StatementKind.List, ast.StatementKind.Block, ast.StatementKind.Conditional)
_NAMES = {
    ast.AssertionKind.Assert: "assertion",
    ast.AssertionKind.CoverProperty: "cover statement",
    ast.AssertionKind.CoverSequence: "cover statement",
}


def leave_out(design: SlangDesign, body: Any) -> None:
    """Record each assertion in ``body``, and each call that ends the simulation, as left out of the proof.

    Branches that a constant condition excludes are skipped. Raises ``InputError`` for an assertion that could change a
    value or restrict the inputs.
    """

    def visit(s: Any) -> Any:
        if type(s) is ast.CallExpression and s.isSystemCall and s.subroutineName in ENDING:
            note_ending(design, s)
        if isinstance(s, ast.Expression):
            return ast.VisitAction.Skip
        if type(s) is ast.ConditionalStatement and (arms := taken(s)) is not None:
            for arm in arms:
                arm.visit(visit)
            return ast.VisitAction.Skip
        if isinstance(s, ast.Statement) and s.kind in _CHECKS:
            where = design.where(s.sourceRange.start)
            refusal = ASSERTIONS.refusal(s.assertionKind)
            if refusal is not None:
                raise UnsupportedVerilog(f"{where}: {refusal}")
            refuse_change(design, s)
            design.left_out[f"{_NAMES[s.assertionKind]} at {where}"] = None
            return ast.VisitAction.Skip
        return ast.VisitAction.Advance

    body.visit(visit)


def note_ending(design: SlangDesign, call: Any) -> None:
    """Record that the proof does not show that ``call``, which ends a simulation, is never executed."""
    where = design.where(call.sourceRange.start)
    design.left_out[f"that {call.subroutineName} at {where} is never executed"] = None


def only_checks(s: Any) -> bool:
    """Return whether a statement contains only assertions, possibly under timing controls and conditions."""
    if type(s) is ast.TimedStatement:
        return only_checks(s.stmt)
    if type(s) is ast.StatementList:
        return all(map(only_checks, s.list))
    if type(s) is ast.BlockStatement:
        return s.blockKind is ast.StatementBlockKind.Sequential and only_checks(s.body)
    if type(s) is ast.ConditionalStatement:
        return only_checks(s.ifTrue) and (s.ifFalse is None or only_checks(s.ifFalse))
    return s.kind in _CHECKS or s.kind is ast.StatementKind.Empty


def refuse_change(design: SlangDesign, s: Any) -> None:
    """Raise ``InputError`` if an assertion, or an argument of a call that prints, could change anything."""

    def refuse(e: Any) -> None:
        where = design.where(e.sourceRange.start)
        raise UnsupportedVerilog(
            f"{where}: an assertion that assigns something, or a print call with side effects, is not supported"
        )

    def visit(e: Any) -> None:
        kind = type(e)
        if isinstance(e, ast.Statement):
            shows = kind is ast.ExpressionStatement and type(e.expr) is ast.CallExpression and e.expr.isSystemCall
            if not (e.kind in _AROUND or e.kind in _CHECKS or (shows and e.expr.subroutineName in _SHOWING)):
                refuse(e)
        elif kind is ast.AssignmentExpression:
            if any(symbol.kind is not ast.SymbolKind.LocalAssertionVar for symbol in roots(e.left)):
                refuse(e)
        elif kind is ast.UnaryExpression and e.op in STEPS:
            refuse(e)
        elif kind is ast.CallExpression and not e.isSystemCall:
            others = [x for x in e.subroutine.arguments if x.direction is not ast.ArgumentDirection.In]
            if others or not all(map(design.is_local, written(e.subroutine.body))):
                refuse(e)

    s.visit(visit)
