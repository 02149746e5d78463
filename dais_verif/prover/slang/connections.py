"""Connect the ports of instances, and check nets that are pulled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from functools import reduce
from typing import Any

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.four_state import band, bnot, bor, bxor
from dais_verif.prover.netlist import Bits, Driver, Read, Signal, bits_over, driver_of
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.events import refuse_delay
from dais_verif.prover.slang.kinds import GATES, PORTS
from dais_verif.prover.slang.places import bits_of
from dais_verif.prover.slang.writes import roots
from dais_verif.prover.terms import Term, const, extract, nodes, resize, var

__all__ = ["connect", "gates", "refuse_floating"]


_PULLED = (ast.NetType.NetKind.Tri0, ast.NetType.NetKind.Tri1)
#: The operations of a driver that only passes on, or chooses between, bits of other signals.
_PASSING = ("var", "const", "extract", "concat", "ite")
_Targets = Callable[[Any, Bits, str], None]


def connect(design: SlangDesign, instance: Any, targets: _Targets) -> None:
    """Connect the ports of ``instance``.

    ``targets``: a function that drives all signals in an expression with the given bits.
    """
    for connection in instance.portConnections:
        port, outside = connection.port, connection.expression
        where = design.where(instance.location)
        if port.kind is ast.SymbolKind.InterfacePort:
            continue  # signals of the interface keep their own names
        if outside is None:
            if port.direction == ast.ArgumentDirection.In:
                _unconnected(design, instance, port, where)
            continue
        inside = design.signal(port.internalSymbol, where)
        _refuse_pulls(port, outside, inside.width, where)
        if port.direction == ast.ArgumentDirection.In:
            inside.drive(driver_of(bits_of(design, outside), 0, inside.width, 0, where))
        elif port.direction == ast.ArgumentDirection.Out:
            _output(design, port, inside, outside, where, targets)
        else:
            raise UnsupportedVerilog(f"{where}: port {port.name!r}: {PORTS.message(port.direction)}")


def _refuse_pulls(port: Any, outside: Any, width: int, where: str) -> None:
    """Raise ``InputError`` if the net of a port is pulled in a way for which simulators differ.

    Icarus Verilog pulls unconnected bits of an input. If a port joins two pulled nets, it applies only one pull.
    """
    net = port.internalSymbol
    if net.kind is not ast.SymbolKind.Net or net.netType.netKind not in _PULLED:
        return
    narrow = type(outside) is ast.ConversionExpression and outside.operand.type.bitWidth < width
    others = {symbol.netType.netKind for symbol in roots(outside) if symbol.kind is ast.SymbolKind.Net}
    if port.direction == ast.ArgumentDirection.In and narrow:
        raise UnsupportedVerilog(
            f"{where}: port {port.name!r} is pulled, and wider than what it is connected to; connect all its bits"
        )
    if port.direction == ast.ArgumentDirection.Out and others & {*_PULLED} - {net.netType.netKind}:
        raise UnsupportedVerilog(
            f"{where}: port {port.name!r} and what it drives are pulled in opposite directions; write wire"
        )


def refuse_floating(design: SlangDesign, symbol: Any, given: Set[Any]) -> None:
    """Raise ``InputError`` if a net that is pulled, ``symbol``, is connected to a net without a driver.

    Simulators merge the two nets into one pulled net. In the proof, a net without a driver is undefined. ``given``:
    the inputs of the top module.
    """
    pulled = design.signals[symbol]
    nets = {signal for one, signal in design.signals.items() if one.kind is ast.SymbolKind.Net and one not in given}
    work, seen = [pulled], {pulled}
    while work:
        for source, low, width in (read for driver in work.pop().drivers for read in _wired(driver)):
            if source in nets and sum(driver.width for driver in source.driving(low, width)) < width:
                net = symbol.netType.netKind.name.lower()
                raise UnsupportedVerilog(
                    f"{pulled.where}: {pulled.name!r} is a {net} net, and {source.name!r}, to which it is connected,"
                    " has no driver: simulators pull both, which the proof does not support; give it a driver, or write"
                    " wire"
                )
            if source not in seen:
                seen.add(source)
                work.append(source)


def _wired(driver: Driver) -> Iterator[tuple[Signal, int, int]]:
    """Yield, as (signal, low bit, width), the bits that ``driver`` passes on unchanged or chooses between."""
    found: list[tuple[Signal, int, int]] = []

    def read(signal: Signal, low: int, width: int) -> Term:
        found.append((signal, low, width))
        return var(width, f"{signal.name} {low}")

    if driver.clock is None and not driver.executed:
        term = driver.make(read)
        if all(one.op in _PASSING for one in nodes(term)):
            yield from found


def _unconnected(design: SlangDesign, instance: Any, port: Any, where: str) -> None:
    """Drive an open input if a directive before the module gives it a value; else leave it undefined."""
    pull = instance.body.definition.unconnectedDrive
    if pull is ast.UnconnectedDrive.None_:
        return
    symbol = port.internalSymbol
    if symbol.kind is ast.SymbolKind.Net and symbol.netType.netKind in _PULLED:
        raise UnsupportedVerilog(
            f"{where}: port {port.name!r} is open, and both its net and a directive pull it; connect it"
        )
    inside = design.signal(symbol, where)
    value = const(inside.width, -(pull is ast.UnconnectedDrive.Pull1))
    inside.drive(driver_of(bits_over(value, {}), 0, inside.width, 0, where))


def _output(design: SlangDesign, port: Any, inside: Signal, outside: Any, where: str, targets: _Targets) -> None:
    left = outside.left if type(outside) is ast.AssignmentExpression else outside

    def bits(read: Read, low: int, width: int) -> Term:
        if low + width <= inside.width:
            return design.part(read, port.internalSymbol, low, width)
        signed = port.type.isIntegral and port.type.isSigned
        return extract(resize(read(inside, 0, inside.width), low + width, signed), low, width)

    targets(left, bits, where)


# Primitive gates: ``and``, ``or``, ``xor``, their inverted forms, ``buf`` and ``not``.


_Rule = Callable[[Term, Term], Term]
#: For each gate, the function of its inputs, and whether its output is inverted.
_INPUTS: dict[str, tuple[_Rule, bool]] = {
    "and": (band, False),
    "nand": (band, True),
    "or": (bor, False),
    "nor": (bor, True),
    "xor": (bxor, False),
    "xnor": (bxor, True),
}
_OUTPUTS = {"buf": False, "not": True}
_READ = GATES.rules({**_INPUTS, **_OUTPUTS})


def gates(design: SlangDesign, gate: Any, where: str) -> Iterator[tuple[Any, int, Bits]]:
    """Yield the outputs of a gate, one bit each: the connected expression, its width, and its bits.

    Raises ``InputError`` for a primitive that is not logic, or has a delay or a strength.
    """
    name = gate.primitiveType.name
    if name not in _READ:
        raise UnsupportedVerilog(f"{where}: primitive {name!r}: {GATES.message(name)}")
    pins = list(gate.portConnections)
    refuse_delay(gate, where)
    outputs, inputs = (pins[:1], pins[1:]) if name in _INPUTS else (pins[:-1], pins[-1:])
    if gate.arrayPath or any(pin.type.bitWidth != 1 for pin in inputs):
        raise UnsupportedVerilog(
            f"{where}: an array of gates, or an input of several bits, is not supported by the proof"
        )
    sources = [bits_of(design, pin) for pin in inputs]

    def value(read: Read, low: int, width: int) -> Term:
        terms = [source(read, 0, 1) for source in sources]
        rule, opposite = _INPUTS[name] if name in _INPUTS else (band, _OUTPUTS[name])
        found = reduce(rule, terms)
        return extract(bnot(found) if opposite else found, low, width)

    for pin in outputs:
        yield pin.left if type(pin) is ast.AssignmentExpression else pin, 1, value
