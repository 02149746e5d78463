"""Find the actual ports of a Verilog module with an elaborator, which evaluates parameters and expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dais_verif.base.errors import InputError, PortError, UnknownTop
from dais_verif.base.text import counted
from dais_verif.hardware.ports.verilog import read_files

__all__ = ["Interface", "Port", "errors_in", "interface_of", "only_module", "ports_in", "unused_in"]


@dataclass(frozen=True)
class Port:
    """A port. ``direction``: ``in``, ``out`` or ``inout``. ``width``: its bits, or those of one element of an array.

    ``elements``: the indices of an unpacked array; None for any other port. ``signed``: the elements of an array are
    signed; only arrays with equal element types can be connected.
    """

    name: str
    direction: str
    width: int
    elements: range | None = None
    signed: bool = False

    def __str__(self) -> str:
        array = f" [{self.elements[0]}:{self.elements[-1]}]" if self.elements else ""
        return f"{self.name} ({self.direction}, {counted(self.width, 'bit')}{array})"

    @property
    def wires(self) -> dict[str, int]:
        """The names by which a testbench can drive or read the port, or its elements, with their widths."""
        if self.elements is None:
            return {self.name: self.width}
        return {f"{self.name}[{index}]": self.width for index in self.elements}


def ports_in(sources: Sequence[Path], top: str) -> tuple[Port, ...] | None:
    """Return the ports of module ``top`` in the Verilog ``sources``; None if they cannot be determined.

    Raises ``InputError`` if the sources are valid, but do not contain the module.
    """
    try:
        compilation, _manager = _compiled(sources, top)
        if compilation is None:
            return None  # the simulators will report the error
        instances = [instance for instance in compilation.getRoot().topInstances if instance.name == top]
    except (RuntimeError, ValueError):
        return None
    if not instances:
        names = _modules(compilation)
        if not names:
            return None
        raise UnknownTop.of(
            "no module {top_given} in the RTL; it holds {names}: name the top module with {top}",
            top_given=top,
            names=_shown(names),
        )
    ports = [_port(symbol) for symbol in instances[0].body.portList]
    known = [port for port in ports if port is not None]
    return tuple(known) if len(known) == len(ports) else None


def only_module(sources: Sequence[Path]) -> str | None:
    """Return the name of the only module in the Verilog ``sources``; None if there are several, or an error."""
    try:
        compilation, _manager = _compiled(sources, "")
        names = [] if compilation is None else _modules(compilation)
    except (RuntimeError, ValueError, OSError, InputError):
        return None
    return names[0] if len(names) == 1 else None


def errors_in(sources: Sequence[Path], top: str) -> bool:
    """Return True if the elaborator finds an error in the Verilog ``sources``, or cannot find module ``top``."""
    try:
        compilation, _manager = _compiled(sources, top)
        if compilation is None or not any(each.name == top for each in compilation.getRoot().topInstances):
            return True
        return any(found.isError() for found in compilation.getAllDiagnostics())
    except (RuntimeError, ValueError, InputError, OSError):
        return True


def ast_bag(options: Any) -> Any:
    """Return options in the container that the elaborator accepts."""
    import pyslang

    return pyslang.Bag([options])


class Interface(NamedTuple):
    """The interface of a module instance. ``ports``: by name; None for a port that does not consist of bits.

    ``parameters``: the parameters that can be set, with their values: a number for an integer, True for any other valid
    value, False for an invalid one.
    """

    ports: dict[str, Port | None]
    parameters: dict[str, int | bool]


def interface_of(sources: Sequence[Path], top: str, instance: str) -> Interface | None:
    """Return the interface of ``instance`` in module ``top`` of the Verilog ``sources``; None if it is unknown.

    Raises ``InputError`` if the sources are valid, but do not contain the instantiated module.
    """
    from pyslang import ast

    try:
        compilation, _manager = _compiled(sources, top)
        if compilation is None:
            return None
        inner = compilation.getRoot().topInstances[0].body.find(instance)
    except (RuntimeError, ValueError, IndexError):
        return None
    if isinstance(inner, ast.UninstantiatedDefSymbol):
        names = _shown([found for found in _modules(compilation) if found != top])
        raise PortError.of(
            "no module {definitionname} in the RTL; it holds {names}: name the top module with {top}",
            definitionname=inner.definitionName,
            names=names,
        )
    if not isinstance(inner, ast.InstanceSymbol):
        return None
    given = [symbol for symbol in inner.body.parameters if not symbol.isLocalParam]
    return Interface(
        {str(symbol.name): _port(symbol) for symbol in inner.body.portList},
        {str(symbol.name): _value(symbol) for symbol in given},
    )


def _value(symbol: Any) -> int | bool:
    held = getattr(symbol, "value", None)
    if held is None or held.value is None:
        return False
    try:
        return int(held.value) if symbol.type.isIntegral else True
    except (TypeError, ValueError, OverflowError):  # a value with X or Z
        return True


def _compiled(sources: Sequence[Path], top: str) -> tuple[Any | None, Any]:
    """Return ``sources``, elaborated for ``top``, or None if they have syntax errors; and the source manager.

    The caller must keep the manager, which owns the text of the sources.
    """
    from pyslang import SourceManager, ast

    manager = SourceManager()
    tree = read_files(sources, manager)
    if any(found.isError() for found in tree.diagnostics):
        return None, manager
    options = ast.CompilationOptions()
    options.topModules = {top}
    compilation = ast.Compilation(ast_bag(options))
    compilation.addSyntaxTree(tree)
    return compilation, manager


def _modules(compilation: Any) -> list[str]:
    return sorted({str(found.name) for found in compilation.getDefinitions() if str(found.name)})


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


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
    """Return the modules in the Verilog ``sources`` that are not part of ``top``; None if they are unknown.

    Raises ``InputError`` if the sources are valid, but do not contain ``top``.
    """
    from pyslang import ast

    try:
        compilation, _manager = _compiled(sources, top)
        if compilation is None:
            return None
        names = set(_modules(compilation))
        if top not in names:
            shown = _shown(sorted(names)) or "none"
            raise PortError(f"no module {top} in the RTL; it holds {shown}: name the right [rtl] top")
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
