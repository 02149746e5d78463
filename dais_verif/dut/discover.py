"""The ports that a Verilog module really has, asked of an elaborator: parameters and expressions are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dais_verif.dut.verilog import read_files
from dais_verif.errors import InputError

__all__ = ["Port", "ports_in", "unused_in"]


@dataclass(frozen=True)
class Port:
    """A port. ``direction``: ``in``, ``out`` or ``inout``. ``width``: bits, of one element if it is an array.

    ``elements``: the indices of an unpacked array, None for any other port. ``signed``: so are the elements of an
    array, which only fits another of their kind.
    """

    name: str
    direction: str
    width: int
    elements: range | None = None
    signed: bool = False

    def __str__(self) -> str:
        array = f" [{self.elements[0]}:{self.elements[-1]}]" if self.elements else ""
        return f"{self.name} ({self.direction}, {self.width} bit{'s' if self.width != 1 else ''}{array})"

    @property
    def wires(self) -> dict[str, int]:
        """The names by which a bench can drive or read it, with the bits of each."""
        if self.elements is None:
            return {self.name: self.width}
        return {f"{self.name}[{index}]": self.width for index in self.elements}


def ports_in(sources: Sequence[Path], top: str) -> tuple[Port, ...] | None:
    """The ports of module ``top`` in the Verilog ``sources``; None if they cannot be told, which the simulators may.

    Raises ``InputError`` if the sources were understood and hold no such module.
    """
    from pyslang import SourceManager, ast

    manager = SourceManager()
    try:
        tree = read_files(sources, manager)
        if any(found.isError() for found in tree.diagnostics):
            return None  # the simulators say it in the user's terms
        options = ast.CompilationOptions()
        options.topModules = {top}
        compilation = ast.Compilation(ast_bag(options))
        compilation.addSyntaxTree(tree)
        instances = [instance for instance in compilation.getRoot().topInstances if instance.name == top]
    except (RuntimeError, ValueError):
        return None
    if not instances:
        names = sorted({str(found.name) for found in compilation.getDefinitions() if str(found.name)})
        if not names:
            return None
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise InputError(f"no module {top} in the RTL; it holds {shown}: name the top module with --top")
    ports = [_port(symbol) for symbol in instances[0].body.portList]
    known = [port for port in ports if port is not None]
    return tuple(known) if len(known) == len(ports) else None


def ast_bag(options: Any) -> Any:
    """Options in the container that the elaborator takes."""
    import pyslang

    return pyslang.Bag([options])


def _port(symbol: Any) -> Port | None:
    kind = getattr(symbol, "type", None)
    direction = {"In": "in", "Out": "out"}.get(getattr(getattr(symbol, "direction", None), "name", ""), "inout")
    if kind is None or kind.isError:
        return None
    if kind.isUnpackedArray:
        element, bounds = kind.elementType, kind.range
        if not element.isIntegral:
            return None
        step = 1 if bounds.right >= bounds.left else -1
        indices = range(bounds.left, bounds.right + step, step)
        return Port(str(symbol.name), direction, int(element.bitWidth), indices, bool(element.isSigned))
    return Port(str(symbol.name), direction, int(kind.bitWidth)) if kind.isIntegral else None


def unused_in(sources: Sequence[Path], top: str) -> list[str] | None:
    """Return the modules in the Verilog ``sources`` that are no part of ``top``; None if they cannot be told.

    Raises ``InputError`` if the sources were understood and hold no such module.
    """
    from pyslang import SourceManager, ast

    manager = SourceManager()
    try:
        tree = read_files(sources, manager)
        if any(found.isError() for found in tree.diagnostics):
            return None
        options = ast.CompilationOptions()
        options.topModules = {top}
        compilation = ast.Compilation(ast_bag(options))
        compilation.addSyntaxTree(tree)
        names = {str(found.name) for found in compilation.getDefinitions() if str(found.name)}
        if top not in names:
            shown = ", ".join(sorted(names)[:8]) or "none"
            raise InputError(f"no module {top} in the RTL; it holds {shown}: name the right [rtl] top")
        used: set[str] = set()

        def visit(symbol: Any) -> None:
            if isinstance(symbol, ast.InstanceSymbol):
                used.add(str(symbol.definition.name))

        for instance in compilation.getRoot().topInstances:
            if instance.name == top:
                instance.visit(visit)
        return sorted(names - used)
    except (RuntimeError, ValueError):
        return None
