"""Refuse declarations that tools evaluate differently, wherever they are used."""

from __future__ import annotations

from typing import Any

import pyslang

from dais_verif.errors import UnsupportedVerilog
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.reentry import refuse_reentry

__all__ = ["refuse_declared", "refuse_joined", "refuse_shared"]


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
