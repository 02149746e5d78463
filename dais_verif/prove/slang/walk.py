"""The RTL front end: pyslang elaborates, this module walks the hierarchy and collects drivers.

pyslang's bound tree says the width and sign of every expression and where the language converts; what these mean is
read from the Verilog standard in ``expressions`` and ``procedures``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyslang

from dais_verif.errors import InputError
from dais_verif.prove.memory import Memory
from dais_verif.prove.netlist import Bits, Netlist, Read, Signal, driver_of
from dais_verif.prove.slang.design import Design, ast, bits_in
from dais_verif.prove.slang.expressions import Converter, target_parts
from dais_verif.prove.slang.memories import initial
from dais_verif.prove.slang.procedures import combinational
from dais_verif.prove.terms import Term, extract, resize

__all__ = ["elaborate"]


def elaborate(
    sources: Sequence[Path], top: str, files: Mapping[str, Path] | None = None, bitwise: bool = False
) -> Netlist:
    """Module ``top`` of the Verilog files ``sources``. ``files``: what it reads, by the names that it has for them.

    ``bitwise``: it is a netlist, whatever it looks like.
    Raises ``InputError`` if the files are not valid Verilog, hold no such module, or use what is not supported.
    """
    manager = pyslang.SourceManager()
    options = ast.CompilationOptions()
    options.topModules = {top}
    options.flags = ast.CompilationFlags.AllowUseBeforeDeclare  # as synthesis does
    compilation = ast.Compilation(pyslang.Bag([options]))
    for source in sources:
        if not source.is_file():
            raise InputError(f"RTL file {str(source)!r} does not exist; give the Verilog files of module {top}")
        compilation.addSyntaxTree(pyslang.syntax.SyntaxTree.fromFile(str(source), manager))
    root = compilation.getRoot()
    for diagnostic in compilation.getAllDiagnostics():
        if diagnostic.isError() or diagnostic.code in _ERRORS:
            lines = pyslang.DiagnosticEngine.reportAll(manager, [diagnostic]).strip().split("\n")
            text = next((line for line in lines if "error: " in line or "warning: " in line), lines[0])
            if "not a valid top-level module" in text:
                raise InputError(f"the RTL has no module {top!r}; name its top module with --top")
            raise InputError(f"{text}; correct the RTL")
    (instance,) = (instance for instance in root.topInstances if instance.name == top)
    return _Walk(Design(manager, files or {}, bitwise), compilation).netlist(instance)


class _Walk:
    """Collects the signals of all scopes, then their drivers, which may name signals of any scope."""

    def __init__(self, design: Design, compilation: Any) -> None:
        self._design = design
        #: What pyslang hands out lives as long as the compilation does.
        design.keep.append(compilation)
        self._kinds = {
            ast.SymbolKind.Net: self._declared,
            ast.SymbolKind.Variable: self._declared,
            ast.SymbolKind.ContinuousAssign: self._assign,
            ast.SymbolKind.ProceduralBlock: self._procedure,
            ast.SymbolKind.Instance: self._instance,
            ast.SymbolKind.InstanceArray: self._array,
            ast.SymbolKind.GenerateBlock: self._generated,
            ast.SymbolKind.GenerateBlockArray: self._generated_array,
        }
        #: Ports that are arrays.
        self._ports: set[Any] = set()
        #: What fills memories, and what may read them.
        self._first: list[Any] = []
        self._later: list[Any] = []

    def netlist(self, top: Any) -> Netlist:
        self._scope(top.body, "")
        self._design.bitwise |= self._of_bits({port.name for port in top.body.portList})
        for work in self._first:  # a block that reads a memory is executed at once
            work()
        for memory in self._design.memories.values():
            memory.settle()
        for work in self._later:
            work()
        for memory in self._design.memories.values():
            memory.refuse_state()
        if any(p.direction not in _WAYS for p in top.body.portList):
            raise InputError(f"module {top.name!r} has an inout port; only inputs and outputs can be proved")
        signals = {signal.name: signal for signal in self._design.signals.values()}
        ports = [(port.direction, name) for port in top.body.portList for name in self._port(port, signals)]
        given, results = (tuple(name for direction, name in ports if direction == way) for way in _WAYS)
        return Netlist(top.name, signals, given, results, self._design.bitwise).checked()

    def _of_bits(self, ports: set[str]) -> bool:
        """Whether the top module consists of single bits."""
        own = [s.width for s in self._design.signals.values() if "." not in s.name and s.name not in ports]
        return bool(own) and own.count(1) >= _BITWISE * len(own)

    def _scope(self, scope: Any, path: str) -> None:
        self._ports.update(port.internalSymbol for port in getattr(scope, "portList", ()) if port.type.isUnpackedArray)
        for member in scope:
            visit = self._kinds.get(member.kind)
            if visit is not None:
                visit(member, path)
            elif member.kind in _REFUSED:
                where = self._design.where(member.location)
                what = getattr(member, "primitiveType", member).name or member.kind.name
                raise InputError(f"{where}: {member.kind.name} {what!r} is not supported by the proof")

    def _bundle(self, symbol: Any, width: int) -> bool:
        """Whether an array is a bundle of signals, as ports and nets are, and no memory."""
        return symbol in self._ports or (symbol.kind == ast.SymbolKind.Net and width <= _LARGEST_BUNDLE)

    def _port(self, port: Any, signals: dict[str, Signal]) -> list[str]:
        """The signals of a port: one, or one an element of an array, which then is made of them or they of it."""
        kind, whole = port.type, signals.get(port.name)
        if whole is None or not kind.isUnpackedArray:
            return [port.name]
        span, width = kind.fixedRange, bits_in(kind.arrayElementType) or 1
        names = []
        for index in range(min(span.left, span.right), max(span.left, span.right) + 1):
            low = (index - span.right if span.left >= span.right else span.right - index) * width
            name = f"{port.name}[{index}]"
            element = signals[name] = Signal(name, width, whole.where)
            if port.direction == ast.ArgumentDirection.In:
                whole.drive(driver_of(_bits_of(element), 0, width, low, whole.where))
            else:
                element.drive(driver_of(_bits_of(whole), low, width, 0, whole.where))
            names.append(name)
        return names

    def _declared(self, symbol: Any, path: str) -> None:
        kind, where = symbol.type, self._design.where(symbol.location)
        name, width = path + symbol.name, bits_in(symbol.type)
        if width is None or (not kind.isIntegral and not self._bundle(symbol, width)):
            self._design.memories[symbol] = self._memory(symbol, name, where)
            return
        if symbol.kind == ast.SymbolKind.Net and symbol.netType.netKind not in _PLAIN:
            net = symbol.netType.netKind.name
            raise InputError(
                f"{where}: {name!r} is a net of type {net}, which is not supported by the proof; write wire"
            )
        signal = self._design.signals[symbol] = Signal(name, width, where)
        if symbol.initializer is None:
            return
        if symbol.kind == ast.SymbolKind.Net:
            self._drive(signal, 0, signal.width, symbol.initializer, where)
        else:
            self._design.initial[symbol] = symbol.initializer

    def _memory(self, symbol: Any, name: str, where: str) -> Memory:
        kind = symbol.type
        element = kind.arrayElementType if kind.isUnpackedArray and kind.hasFixedRange else None
        if element is None or not element.isIntegral:
            raise InputError(f"{where}: {name!r} is no vector and no array of vectors; the proof knows nothing else")
        span = kind.fixedRange
        return Memory(name, where, element.bitWidth, span.left, span.right)

    def _drive(self, signal: Signal, low: int, width: int, expression: Any, where: str) -> None:
        signal.drive(driver_of(self._design.bits(expression), 0, width, low, where))

    def _assign(self, symbol: Any, path: str) -> None:
        def work() -> None:
            assignment = symbol.assignment
            where = self._design.where(assignment.sourceRange.start)
            if type(assignment) is not ast.AssignmentExpression:
                raise InputError(f"{where}: this is no valid assignment; correct the RTL")
            if symbol.delay is not None:
                raise InputError(f"{where}: a delay has no meaning in a proof; remove it")
            self._targets(assignment.left, self._design.bits(assignment.right), where)

        self._later.append(work)

    def _targets(self, left: Any, bits: Bits, where: str) -> None:
        """Drive everything that ``left`` names with ``bits``."""
        parts = target_parts(Converter(self._design, self._no_index), left)
        place = sum(width for _, _, width in parts)
        for symbol, low, width in parts:
            place -= width
            self._design.signal(symbol, where).drive(driver_of(bits, place, width, low, where))

    def _no_index(self, symbol: Any, low: int, width: int) -> Term:
        raise InputError(
            f"{self._design.where(symbol.location)}: {symbol.name!r} is an index on the left; it must be constant"
        )

    def _procedure(self, block: Any, path: str) -> None:
        kind, body = block.procedureKind, block.body
        if kind in (ast.ProceduralBlockKind.Initial,):
            self._first.append(lambda: initial(self._design, body))
        elif kind in _BLOCKS:
            self._later.append(lambda: combinational(self._design, body, path))
        elif kind != ast.ProceduralBlockKind.Final:
            where = self._design.where(block.location)
            raise InputError(f"{where}: {kind.name} block in {path.rstrip('.') or 'the top module'!r}: it keeps state")

    def _generated(self, block: Any, path: str) -> None:
        if not block.isUninstantiated:
            name = block.name or block.externalName
            self._scope(block, f"{path}{name}.")

    def _generated_array(self, array: Any, path: str) -> None:
        for block in array.entries:
            if not block.isUninstantiated:
                self._scope(block, f"{path}{array.name or array.externalName}[{block.arrayIndex}].")

    def _array(self, array: Any, path: str) -> None:
        for element in array:
            self._instance(element, path)

    def _instance(self, instance: Any, path: str) -> None:
        if not instance.isModule:
            where = self._design.where(instance.location)
            raise InputError(f"{where}: {instance.name!r} is no module; the proof knows nothing else")
        self._scope(instance.body, f"{path}{instance.name}.")
        self._later.append(lambda: self._connect(instance))

    def _connect(self, instance: Any) -> None:
        for connection in instance.portConnections:
            port, outside = connection.port, connection.expression
            where = self._design.where(instance.location)
            if outside is None:
                continue
            inside = self._design.signal(port.internalSymbol, where)
            if port.direction == ast.ArgumentDirection.In:
                self._drive(inside, 0, inside.width, outside, where)
            elif port.direction == ast.ArgumentDirection.Out:
                self._output(inside, port.type.isSigned, outside, where)
            else:
                raise InputError(f"{where}: port {port.name!r} is neither input nor output; the proof knows no other")

    def _output(self, inside: Signal, signed: bool, outside: Any, where: str) -> None:
        left = outside.left if type(outside) is ast.AssignmentExpression else outside

        def bits(read: Read, low: int, width: int) -> Term:
            if low + width <= inside.width:
                return read(inside, low, width)
            return extract(resize(read(inside, 0, inside.width), low + width, signed), low, width)

        self._targets(left, bits, where)


#: Of what is a warning only for pyslang, what leaves open which RTL is meant.
_ERRORS = (
    pyslang.Diags.DuplicateDefinition,
    pyslang.Diags.ParameterDoesNotExist,
    pyslang.Diags.RangeSelectReversed,
)
#: Nets of one driver; the others mix drivers, or have a value without one.
_PLAIN = (ast.NetType.NetKind.Wire, ast.NetType.NetKind.Tri, ast.NetType.NetKind.UWire)
#: Share of single bits among the signals of a module that is taken for a netlist.
_BITWISE = 0.9


def _bits_of(signal: Signal) -> Bits:
    return lambda read, low, width: read(signal, low, width)


#: Bits of an array of nets, at most.
_LARGEST_BUNDLE = 1 << 16
_WAYS = (ast.ArgumentDirection.In, ast.ArgumentDirection.Out)
_BLOCKS = (ast.ProceduralBlockKind.Always, ast.ProceduralBlockKind.AlwaysComb, ast.ProceduralBlockKind.AlwaysFF)
_REFUSED = (
    ast.SymbolKind.PrimitiveInstance,
    ast.SymbolKind.UninstantiatedDef,
    ast.SymbolKind.NetAlias,
    ast.SymbolKind.CheckerInstance,
)
