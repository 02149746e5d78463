"""Raise errors for pyslang diagnostics: errors in the RTL, and warnings about ambiguous RTL."""

from __future__ import annotations

from typing import Any

import pyslang

from dais_verif.errors import UnknownTop, UnsupportedVerilog

__all__ = ["require_valid"]

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
