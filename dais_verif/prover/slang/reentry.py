"""Refuse static subroutines that can be called while they run, because all their calls share their variables.

By IEEE 1800 (13.4.2), the inner call overwrites the arguments and the variables of the outer one. Simulators evaluate
such calls differently even in constant expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.events import EventError

__all__ = ["refuse_reentry"]

_VARIABLES = (ast.SymbolKind.Variable, ast.SymbolKind.FormalArgument)


def refuse_reentry(design: SlangDesign, subroutine: Any) -> None:
    """Raise ``EventError`` if ``subroutine`` has static variables and can be called, even by others, while it runs."""
    if subroutine in design.entered:
        return
    design.entered.add(subroutine)
    if not _is_shared(subroutine):
        return
    waiting, seen = [subroutine], {subroutine}
    while waiting:
        for call in _calls(waiting.pop()):
            if call.subroutine == subroutine:
                where = design.where(call.sourceRange.start)
                raise EventError(
                    f"{where}: {subroutine.name!r} is static, and is called here while it runs: both calls share its"
                    " variables; declare it, and each of its variables, automatic"
                )
            if call.subroutine not in seen:
                seen.add(call.subroutine)
                waiting.append(call.subroutine)


def _is_shared(subroutine: Any) -> bool:
    """Return whether calls share the result or a variable of ``subroutine``."""
    return subroutine.defaultLifetime is ast.VariableLifetime.Static or any(map(_is_static, _variables(subroutine)))


def _is_static(variable: Any) -> bool:
    return bool(variable.lifetime is ast.VariableLifetime.Static)


def _variables(scope: Any) -> Iterator[Any]:
    for member in scope:
        if member.kind in _VARIABLES:
            yield member
        elif member.kind is ast.SymbolKind.StatementBlock:
            yield from _variables(member)


def _calls(subroutine: Any) -> Iterator[Any]:
    """Yield the calls of subroutines in the statements of ``subroutine``, and in its variables' initial values."""
    found: list[Any] = []

    def look(e: Any) -> None:
        if type(e) is ast.CallExpression and not e.isSystemCall:
            found.append(e)

    for part in (subroutine.body, *(variable.initializer for variable in _variables(subroutine))):
        if part is not None:
            part.visit(look)
    yield from found
