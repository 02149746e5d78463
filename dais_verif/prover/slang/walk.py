"""The RTL front end: pyslang elaborates the design; this module walks the hierarchy and collects drivers.

pyslang's bound tree has the width and sign of every expression, and all conversions. ``expressions`` and
``procedures`` implement their semantics by the Verilog standard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyslang

from dais_verif.base.errors import InputError, StateError, UnsupportedVerilog
from dais_verif.hardware.ports.directives import refuse_ambiguous
from dais_verif.hardware.ports.verilog import included, read_files
from dais_verif.prover.clocked.registers.clock_gating import ungate
from dais_verif.prover.netlist import Bits, Netlist, Signal, bits_over, driver_of
from dais_verif.prover.slang.bundles import bundled, divide
from dais_verif.prover.slang.checks import leave_out, only_checks
from dais_verif.prover.slang.combinational_blocks import combinational
from dais_verif.prover.slang.connections import connect, gates, refuse_floating
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.diagnostics import refuse_declared, refuse_joined, refuse_shared, require_valid
from dais_verif.prover.slang.doubts import Doubts
from dais_verif.prover.slang.events import EventError, refuse_delay
from dais_verif.prover.slang.expressions import Converter
from dais_verif.prover.slang.functions import call_value
from dais_verif.prover.slang.kinds import BLOCKS, DEFINITIONS, NETS, PORTS, SYMBOLS, How
from dais_verif.prover.slang.memories import counting, initial, kept_from_the_beginning, power_up
from dais_verif.prover.slang.placeholders import may_be_undefined
from dais_verif.prover.slang.places import bits_of
from dais_verif.prover.slang.selects import target_parts
from dais_verif.prover.slang.waiting import latched
from dais_verif.prover.slang.wildcards import refuse_rest
from dais_verif.prover.slang.writes import roots, written
from dais_verif.prover.terms import Term, const

__all__ = ["elaborate"]


def elaborate(
    sources: Sequence[Path],
    top: str,
    files: Mapping[str, Path] | None = None,
    bitwise: bool = False,
    *,
    doubting: bool = False,
) -> Netlist:
    """Read module ``top`` of the Verilog files ``sources``.

    ``files``: the data files that the RTL reads, by the names that it uses. ``bitwise``: whether to treat the
    module as a netlist of cells even if it does not look like one. ``doubting``: whether to read operators in two ways,
    of which variables select one. Raises ``InputError`` if the files are not valid
    Verilog, do not define the module, or use unsupported constructs.
    """
    manager, options = pyslang.SourceManager(), ast.CompilationOptions()
    options.topModules = {top}
    options.flags = _FLAGS
    compilation = ast.Compilation(pyslang.Bag([options]))
    for source in sources:
        if not source.is_file():
            raise UnsupportedVerilog(f"RTL file {str(source)!r} does not exist; give the Verilog files of module {top}")
    tree = read_files(sources, manager)
    compilation.addSyntaxTree(tree)
    refuse_ambiguous([*sources, *included(tree, manager)])
    root = compilation.getRoot()
    require_valid(compilation, manager, top)
    (instance,) = (instance for instance in root.topInstances if instance.name == top)
    design = SlangDesign(manager, files or {}, call_value, bitwise)
    design.doubts = Doubts() if doubting else None
    refuse_shared(design, compilation)
    netlist = _Walk(design, compilation).netlist(instance)
    return netlist._replace(included=included(tree, manager))


class _Walk:
    """Collects the signals of all scopes, then their drivers, which may name signals of any scope."""

    def __init__(self, design: SlangDesign, compilation: Any) -> None:
        self._design = design
        #: pyslang's objects are valid as long as the compilation exists.
        design.keep.append(compilation)
        self._kinds: dict[Any, Callable[[Any, str], None]] = SYMBOLS.rules(
            {
                ast.SymbolKind.Net: self._declared,
                ast.SymbolKind.Variable: self._declared,
                ast.SymbolKind.ContinuousAssign: self._assign,
                ast.SymbolKind.ProceduralBlock: self._procedure,
                ast.SymbolKind.Instance: self._instance,
                ast.SymbolKind.InstanceArray: self._array,
                ast.SymbolKind.PrimitiveInstance: lambda gate, path: self._later.append(lambda: self._gate(gate)),
                ast.SymbolKind.GenerateBlock: self._generated,
                ast.SymbolKind.GenerateBlockArray: self._generated_array,
                ast.SymbolKind.ClockingBlock: self._clocking,
                ast.SymbolKind.Subroutine: lambda member, path: refuse_declared(self._design, member),
                ast.SymbolKind.Parameter: lambda member, path: refuse_declared(self._design, member),
            }
        )
        #: Arrays, with name and location.
        self._arrays: dict[Any, tuple[str, str]] = {}
        #: Ports that are arrays or structures, and inputs of the top module.
        self._ports: set[Any] = set()
        self._given: set[Any] = set()
        #: Nets that are pulled to a value.
        self._pulled: list[tuple[Any, int]] = []
        #: The number of enclosing interfaces.
        self._interfaces = 0
        #: Symbols that initial blocks assign, and their values after each of these blocks.
        self._filled: set[Any] = set()
        self._set: dict[Any, list[Term]] = {}
        #: Symbols that other code assigns.
        self._assigned: set[Any] = set()
        #: Postponed work: steps that fill memories, and steps that may read them.
        self._first: list[Any] = []
        self._later: list[Any] = []

    def netlist(self, top: Any) -> Netlist:
        refuse_joined(self._design, top.body.portList)
        self._given = {p.internalSymbol for p in top.body.portList if p.direction == ast.ArgumentDirection.In}
        self._scope(top.body, "")
        for symbol, (name, where) in self._arrays.items():
            initial_only = symbol in self._filled and symbol not in self._assigned
            bundle = bundled(self._design, symbol, name, where, initial_only, symbol in self._ports)
            if bundle is not None:
                divide(self._design, symbol, self._signal(symbol, name, where, bundle), symbol in self._given)
        self._design.bitwise |= self._of_bits({port.name for port in top.body.portList})
        for work in self._first:  # memories must be filled before blocks that read them are executed
            work()
        for memory in self._design.memories.values():
            memory.settle()
        for work in self._later:
            work()
        for symbol, value in self._pulled:
            self._pull(symbol, value)
        for symbol, where in self._design.counters.items():
            signal = self._design.signals.get(symbol)
            if signal is not None:
                signal.drivers[:] = [counting(signal, where)]
        ungate(self._design.signals.values(), self._design.latches)
        for memory in self._design.memories.values():
            memory.refuse_state()
        self._constants()
        for p in top.body.portList:
            if p.direction not in _WAYS:
                where = self._design.where(p.location)
                raise UnsupportedVerilog(
                    f"{where}: port {p.name!r} of module {top.name!r}: {PORTS.message(p.direction)}"
                )
        ports = [(port.direction, name) for port in top.body.portList for name in self._port(port)]
        given, results = (tuple(name for direction, name in ports if direction == way) for way in _WAYS)
        elements = (element for array in self._design.elements.values() for element in array.owners)
        known = [*self._design.signals.values(), *elements]
        signals = {signal.name: signal for signal in known}
        self._design.given.update(signals[name] for name in given)
        self._look_for_undefined(top, known)
        netlist = Netlist(top.name, signals, given, results, self._design.bitwise, lazy=not self._design.executed)
        netlist = netlist._replace(power_up=power_up(self._design, self._set))
        netlist = netlist._replace(left_out=self._design.left_out, conditions=self._design.conditions)
        if self._design.doubts is not None:
            netlist = netlist._replace(doubts=self._design.doubts)
        return netlist._replace(suspect=self._design.suspect).checked()

    def _look_for_undefined(self, top: Any, signals: Sequence[Signal]) -> None:
        """Note whether anything may be undefined; blocks were executed as if nothing were."""
        design = self._design
        if design.executed and not design.undefined:
            open_ = (s for s in signals if s not in design.given and sum(d.width for d in s.drivers) < s.width)
            design.undefined = next(open_, None) is not None or may_be_undefined(design, top)

    def _constants(self) -> None:
        """Drive variables that keep their initial value; reading one that only unexecuted code assigns is an error."""
        for symbol in {**self._set, **self._design.initial}:
            found = self._design.signals.get(symbol)
            if found is not None and symbol in self._assigned and not found.drivers:
                found.drive(kept_from_the_beginning(found))
        for symbol, values in self._set.items():
            found = self._design.signals.get(symbol)
            constant = len(values) == 1 and values[0].op == "const"
            if found is not None and symbol not in self._assigned and not found.drivers and constant:
                found.drive(driver_of(bits_over(values[0], {}), 0, found.width, 0, found.where))
        for symbol, expression in self._design.initial.items():
            signal = self._design.signals[symbol]
            if signal.drivers or symbol in self._filled:
                continue
            try:
                term = Converter(self._design, self._no_signal)(expression)
            except InputError:
                continue  # the variable has no known value
            signal.drive(driver_of(bits_over(term, {}), 0, signal.width, 0, signal.where))

    def _no_signal(self, symbol: Any, low: int, width: int) -> Term:
        raise UnsupportedVerilog(f"{self._design.where(symbol.location)}: {symbol.name!r} is read once only")

    def _of_bits(self, ports: set[str]) -> bool:
        """Return whether the signals of the top module are nearly all single bits."""
        own = [s.width for s in self._design.signals.values() if "." not in s.name and s.name not in ports]
        return bool(own) and own.count(1) >= _BITWISE * len(own)

    def _scope(self, scope: Any, path: str) -> None:
        ports = getattr(scope, "portList", ())
        refuse_joined(self._design, ports)
        self._ports.update(port.internalSymbol for port in ports if _is_bundle(port))
        for port in ports:  # the initial value of an output variable is part of the port declaration
            value = getattr(port, "initializer", None)
            if value is not None and port.direction == ast.ArgumentDirection.Out and port.type.isIntegral:
                self._design.initial[port.internalSymbol] = value
        for member in scope:
            visit = self._kinds.get(member.kind)
            refusal = None if visit is not None else SYMBOLS.refusal(member.kind)
            if refusal is not None:
                what = f"{member.kind.name} {member.name!r}" if member.name else member.kind.name
                raise UnsupportedVerilog(f"{self._design.where(member.location)}: {what}: {refusal}")
            if visit is not None:
                visit(member, path)

    def _port(self, port: Any) -> list[str]:
        """Return the names of a port's signals: one, or one per element of an array."""
        elements = self._design.elements.get(port.internalSymbol)
        signals = elements.owners if elements else [self._design.signal(port.internalSymbol)]
        return [signal.name for signal in signals]

    def _gate(self, gate: Any) -> None:
        where = self._design.where(gate.location)
        for pins, width, bits in gates(self._design, gate, where):
            if any(size != width for _, _, size in target_parts(Converter(self._design, self._no_index), pins)):
                raise UnsupportedVerilog(f"{where}: a gate drives one bit; the proof supports no arrays of gates")
            self._targets(pins, bits, where)

    def _declared(self, symbol: Any, path: str) -> None:
        kind, where = symbol.type, self._design.where(symbol.location)
        if kind.isIntegral:
            self._signal(symbol, path + symbol.name, where, kind.bitWidth)
        else:
            self._arrays[symbol] = path + symbol.name, where

    def _signal(self, symbol: Any, name: str, where: str, width: int) -> Signal:
        supply = None
        if symbol.kind == ast.SymbolKind.Net:
            net = symbol.netType.netKind
            if net in _PULLED and self._interfaces:
                raise UnsupportedVerilog(
                    f"{where}: {name!r} is pulled in an interface, where simulators differ; write wire"
                )
            if net in _PULLED:
                self._pulled.append((symbol, _PULLED[net]))
            elif net not in _NETS:
                raise UnsupportedVerilog(f"{where}: {name!r} is a net of type {net.name}: {NETS.message(net)}")
            supply = _NETS.get(net)
            refuse_delay(symbol, where)
        signal = self._design.signals[symbol] = self._design.new(name, width, where)
        if supply is not None:
            signal.drive(driver_of(bits_over(const(width, supply), {}), 0, width, 0, where))
        if symbol.initializer is not None and symbol.kind == ast.SymbolKind.Net:
            self._drive(signal, 0, signal.width, symbol.initializer, where)
        elif symbol.initializer is not None:
            self._design.initial[symbol] = symbol.initializer
        return signal

    def _pull(self, symbol: Any, value: int) -> None:
        """Drive a net without drivers with the value to which it is pulled."""
        signal = self._design.signals[symbol]
        if symbol in self._given:
            return
        if sum(driver.width for driver in signal.drivers) == signal.width:
            refuse_floating(self._design, symbol, self._given)
            return
        if signal.drivers:
            raise UnsupportedVerilog(
                f"{signal.where}: {signal.name!r} is pulled, and some of its bits have a driver; simulators differ in"
                " the values of the others: drive all of them"
            )
        signal.drive(driver_of(bits_over(const(signal.width, value), {}), 0, signal.width, 0, signal.where))

    def _drive(self, signal: Signal, low: int, width: int, expression: Any, where: str) -> None:
        signal.drive(driver_of(bits_of(self._design, expression), 0, width, low, where))

    def _assign(self, symbol: Any, path: str) -> None:
        self._assigned.update(roots(getattr(symbol.assignment, "left", None)))

        def work() -> None:
            assignment = symbol.assignment
            where = self._design.where(assignment.sourceRange.start)
            if type(assignment) is not ast.AssignmentExpression:
                raise UnsupportedVerilog(f"{where}: this is not a valid assignment; correct the RTL")
            refuse_delay(symbol, where)
            refuse_rest(Converter(self._design, self._no_index), assignment)
            self._targets(assignment.left, bits_of(self._design, assignment.right), where)

        self._later.append(work)

    def _targets(self, left: Any, bits: Bits, where: str) -> None:
        """Drive the signals that ``left`` names with ``bits``."""
        parts = target_parts(Converter(self._design, self._no_index), left)
        place = sum(width for _, _, width in parts)
        for symbol, low, width in parts:
            place -= width
            self._design.signal(symbol, where).drive(driver_of(bits, place, width, low, where))

    def _no_index(self, symbol: Any, low: int, width: int) -> Term:
        raise UnsupportedVerilog(
            f"{self._design.where(symbol.location)}: {symbol.name!r} is an index on the left-hand side,"
            " where it must be constant"
        )

    def _procedure(self, block: Any, path: str) -> None:
        kind, body = block.procedureKind, block.body
        leave_out(self._design, body)
        endless = (
            kind is ast.ProceduralBlockKind.Always
            and type(body) not in (ast.TimedStatement, ast.ConcurrentAssertionStatement)
            and block.syntax.kind is pyslang.syntax.SyntaxKind.AlwaysBlock
        )
        if kind is not ast.ProceduralBlockKind.Initial and not endless and only_checks(body):
            return
        found = self._filled if kind == ast.ProceduralBlockKind.Initial else self._assigned
        elsewhere: list[Any] = []
        names = written(body, elsewhere)
        found.update(names)
        for e in elsewhere:
            self._refuse_foreign(e)
        if kind in (ast.ProceduralBlockKind.Initial,):
            self._first.append(lambda: self._initial(body))
        elif kind in _BLOCKS:
            if kind is ast.ProceduralBlockKind.Always and type(body) is not ast.TimedStatement:
                where = self._design.where(block.location)
                raise EventError(f"{where}: this always block has no timing control; write always @* or always_comb")
            self._later.append(lambda: self._settling(kind, body, names))
        elif kind is ast.ProceduralBlockKind.AlwaysLatch:
            self._later.append(lambda: self._latch(body))
        elif kind not in BLOCKS.of(How.LEFT_OUT):
            what = f"{kind.name} block in {path.rstrip('.') or 'the top module'!r}"
            raise StateError(f"{self._design.where(block.location)}: {what}: {BLOCKS.message(kind)}")

    def _clocking(self, block: Any, path: str) -> None:
        for member in block:
            refusal = SYMBOLS.refusal(member.kind)
            if refusal is not None:
                raise UnsupportedVerilog(f"{self._design.where(member.location)}: {member.name!r}: {refusal}")

    def _settling(self, kind: Any, body: Any, names: set[Any]) -> None:
        if kind is not ast.ProceduralBlockKind.Always or not latched(self._design, body):
            combinational(self._design, body, names)

    def _latch(self, body: Any) -> None:
        if not latched(self._design, body):
            where = self._design.where(body.sourceRange.start)
            raise StateError(
                f"{where}: AlwaysLatch block: a latch keeps state, and the proof supports pipelines only;"
                " write always_ff"
            )

    def _refuse_foreign(self, e: Any) -> None:
        if self._design.is_local(e.symbol):
            where = self._design.where(e.sourceRange.start)
            raise UnsupportedVerilog(
                f"{where}: {e.symbol.name!r} is a variable of another block; only that block may use it"
            )

    def _initial(self, body: Any) -> None:
        for symbol, value in initial(self._design, body).items():
            self._set.setdefault(symbol, []).append(value)

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
            if element.kind is ast.SymbolKind.PrimitiveInstance:
                where = self._design.where(array.location)
                raise UnsupportedVerilog(
                    f"{where}: {array.name!r}: an array of gates is not supported; write each gate"
                )
            self._instance(element, path)

    def _instance(self, instance: Any, path: str) -> None:
        refusal = DEFINITIONS.refusal(instance.definition.definitionKind)
        if refusal is not None:
            raise UnsupportedVerilog(f"{self._design.where(instance.location)}: {instance.name!r}: {refusal}")
        interface = instance.definition.definitionKind is ast.DefinitionKind.Interface
        self._interfaces += interface
        self._scope(instance.body, f"{path}{instance.name}.")
        self._interfaces -= interface
        self._later.append(lambda: connect(self._design, instance, self._targets))


def _is_bundle(port: Any) -> bool:
    return port.kind is ast.SymbolKind.Port and not port.type.isIntegral


_PULLED: dict[Any, int] = {ast.NetType.NetKind.Tri0: 0, ast.NetType.NetKind.Tri1: -1}
#: Supported net types, with the constant value of supply nets.
_NETS: dict[Any, int | None] = NETS.rules(
    {
        **dict.fromkeys((ast.NetType.NetKind.Wire, ast.NetType.NetKind.Tri, ast.NetType.NetKind.UWire)),
        ast.NetType.NetKind.Supply0: 0,
        ast.NetType.NetKind.Supply1: -1,
    },
    _PULLED,
)
_FLAGS = ast.CompilationFlags.AllowUseBeforeDeclare | ast.CompilationFlags.AllowUnnamedGenerate
#: Minimum share of single-bit signals at which a module is treated as a netlist.
_BITWISE = 0.9


_WAYS = (ast.ArgumentDirection.In, ast.ArgumentDirection.Out)
_BLOCKS = (ast.ProceduralBlockKind.Always, ast.ProceduralBlockKind.AlwaysComb, ast.ProceduralBlockKind.AlwaysFF)
