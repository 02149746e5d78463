"""Raise errors for pyslang diagnostics: errors in the RTL, and warnings about ambiguous RTL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyslang

from dais_verif.base.errors import UnknownTop, UnsupportedVerilog
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.events import EventError

__all__ = ["refuse_declared", "refuse_joined", "refuse_reentry", "refuse_shared", "require_valid"]


#: Delays are refused anyway, so their time unit does not matter.
_HARMLESS = (pyslang.Diags.MissingTimeScale,)
#: Warnings of pyslang that count as errors, since the RTL is ambiguous.
_ERRORS = (
    pyslang.Diags.DuplicateDefinition,
    pyslang.Diags.DuplicateDefparam,  # the last one takes effect, but pyslang uses the first
    pyslang.Diags.ParameterDoesNotExist,
    pyslang.Diags.RangeSelectReversed,
    pyslang.Diags.SignedIntegerOverflow,  # simulators give the literal more bits, but pyslang wraps it
)
#: Maximum number of module names that a message lists.
_SHOWN = 8


def require_valid(compilation: Any, manager: Any, top: str) -> None:
    """Raise ``InputError`` for the first error in the RTL of ``compilation``, whose top module should be ``top``."""
    for diagnostic in compilation.getAllDiagnostics():
        if diagnostic.code in _HARMLESS or not (diagnostic.isError() or diagnostic.code in _ERRORS):
            continue
        lines = pyslang.DiagnosticEngine.reportAll(manager, [diagnostic]).strip().split("\n")
        text = next((line for line in lines if "error: " in line or "warning: " in line), lines[0])
        if "not a valid top-level module" in text:
            raise UnknownTop.of(
                "the RTL has no module {top_given!r} (its modules: {known}); name its top module with {top}",
                top_given=top,
                known=_modules(compilation),
            )
        if diagnostic.code == pyslang.Diags.UnknownModule:
            raise UnsupportedVerilog.of(
                "{text}; give the file that holds it, or a model of it, with {rtl}, too", text=text
            )
        if diagnostic.code == pyslang.Diags.SignedIntegerOverflow:
            raise UnsupportedVerilog(f"{text}; simulators give it more bits: write its size, as in 40'd4294967296")
        if diagnostic.code == pyslang.Diags.ExpectedIdentifier and "(*" in _line_of(manager, diagnostic.location):
            raise UnsupportedVerilog(
                f"{text}; an attribute may stand before a port declaration only, not after its direction (alkaid writes"
                " this with its option no-shreg: convert without it)"
            )
        raise UnsupportedVerilog(f"{text}; correct the RTL")


def _line_of(manager: Any, location: Any) -> str:
    """Return the line of source text at a location."""
    text, offset = str(manager.getSourceText(location.buffer)), location.offset
    return text[text.rfind("\n", 0, offset) + 1 :].partition("\n")[0]


def _modules(compilation: Any) -> str:
    """Return the names of some modules that the RTL defines."""
    names = sorted({one.name for one in compilation.getDefinitions()})
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "") if names else "none"


# Refuse declarations that tools evaluate differently, wherever they are used.


def refuse_shared(design: SlangDesign, compilation: Any) -> None:
    """Check the declarations of packages, and those outside of modules."""
    for scope in (*compilation.getCompilationUnits(), *compilation.getPackages()):
        for member in scope:
            refuse_declared(design, member)


def refuse_declared(design: SlangDesign, member: Any) -> None:
    """Raise ``InputError`` for a subroutine or a parameter that tools evaluate differently."""
    if member.kind is ast.SymbolKind.Subroutine:
        refuse_reentry(design, member)
    elif member.kind is ast.SymbolKind.Parameter and member.initializer is not None and _has_no_type(member):
        member.initializer.visit(lambda e: _refuse_unbased(design, member, e))


def refuse_joined(design: SlangDesign, ports: Any) -> None:
    """Refuse ports that join several signals, as in ``.a({high, low})``."""
    for port in ports:
        if port.kind is ast.SymbolKind.MultiPort:
            what = f"{design.where(port.location)}: port {port.name!r}" if port.name else design.where(port.location)
            raise UnsupportedVerilog(f"{what}: a port made of several signals is not supported; declare it as one")


def _has_no_type(parameter: Any) -> bool:
    """Return whether the value of a parameter determines its type."""
    declaration = parameter.syntax.parent if parameter.syntax is not None else None
    kind = getattr(declaration, "type", None)
    return kind is not None and kind.kind is pyslang.syntax.SyntaxKind.ImplicitType and not len(kind.dimensions)


def _refuse_unbased(design: SlangDesign, parameter: Any, e: Any) -> None:
    """Refuse a number like '1: as the value of such a parameter it has 1 bit for simulators, and 32 for slang."""
    if type(e) is ast.UnbasedUnsizedIntegerLiteral:
        raise UnsupportedVerilog(
            f"{design.where(parameter.location)}: tools differ in the width of parameter {parameter.name!r}, which has"
            " no type; write its range, or a number with a size"
        )


# Refuse static subroutines that can be called while they run, because all their calls share their variables.
#
# By IEEE 1800 (13.4.2), the inner call overwrites the arguments and the variables of the outer one. Simulators
# evaluate such calls differently even in constant expressions.


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
