"""Convert the modules of Yosys' JSON to one netlist: signals for the wires of every instance, drivers for its cells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from dais_verif.base.errors import StateError, UnknownTop, UnsupportedVerilog
from dais_verif.prover.four_state import bnot, ite
from dais_verif.prover.netlist import Bits, Clock, Netlist, Read, Signal, Signals, driver_of
from dais_verif.prover.terms import Term, extract, resize
from dais_verif.prover.yosys.cells import BITWISE, LOGIC
from dais_verif.prover.yosys.json_form import Bit, Cell, Module, place, read_form
from dais_verif.prover.yosys.wires import BUFFERS, Memories, YosysWires

__all__ = ["elaborate"]

_WAYS = ("input", "output")
_REGISTERS = ("$dff", "$adff", "$aldff")
_LATCHES = ("$dlatch", "$adlatch", "$dlatchsr", "$sr")
#: For each type of cell that passes inputs on unchanged, the names of these inputs.
_CHOSEN = {"$mux": ("A", "B"), "$pmux": ("A", "B"), "$pos": ("A",)}
_READING = ("$memrd", "$memrd_v2")
#: Cells that drive no signals, besides checks.
_SILENT = ("$print", "$scopeinfo")
#: Checks that the answer lists as left out; and checks that restrict the inputs, which are refused.
_CHECKS = {"$assert": "assertion", "$cover": "cover statement", "$live": "assertion"}
_NARROWING = ("$assume", "$fair")


def elaborate(form: Path, top: str) -> Netlist:
    """Read module ``top`` of the JSON file ``form``. Raises ``InputError`` for unsupported constructs."""
    modules = read_form(form)
    if top not in modules:
        raise UnknownTop.of(
            "the RTL has no module {top_given!r} (its modules: {known}); name its top module with {top}",
            top_given=top,
            known=", ".join(sorted(modules)[:8]) or "none",
        )
    ports = modules[top].ports
    other = next((name for name, port in ports.items() if port.direction not in _WAYS), None)
    if other is not None:
        raise UnsupportedVerilog(f"module {top!r} has an inout port {other!r}; only inputs and outputs can be proved")
    signals = Signals()
    left_out: dict[str, None] = {}
    power_up: dict[Signal, Term] = {}
    _Instance(modules, top, "", signals, left_out, power_up).walk()
    inputs, outputs = (tuple(name for name, port in ports.items() if port.direction == way) for way in _WAYS)
    return Netlist(top, signals, inputs, outputs, lazy=True, left_out=left_out, power_up=power_up).checked()


class _Instance:
    """One instance of module ``name``; names of its signals begin with ``path``."""

    def __init__(
        self,
        modules: Mapping[str, Module],
        name: str,
        path: str,
        signals: Signals,
        left_out: dict[str, None],
        power_up: dict[Signal, Term],
    ) -> None:
        self._modules, self._module, self._path, self._signals = modules, modules[name], path, signals
        self._left_out, self._power_up = left_out, power_up
        self._wires = YosysWires(self._module, path, signals)
        self._memories = Memories(self._module, path)

    def walk(self) -> dict[str, Signal]:
        """Drive all wires, and return the signals of the ports."""
        for name, cell in self._module.cells.items():
            check = _check(cell)
            if check in _CHECKS:
                self._left_out[f"{_CHECKS[check]} at {place(cell.attributes)}"] = None
                continue
            if check in _NARROWING:
                where = place(cell.attributes)
                raise UnsupportedVerilog(
                    f"{where}: an assumption narrows the inputs, and the proof is for all of them; remove it"
                )
            if cell.type not in (*BUFFERS, *_SILENT) and not self._memories.fills(cell):
                self._cell(name, cell, place(cell.attributes))
        self._power_up |= self._wires.power_up()
        return self._wires.ports

    def _cell(self, name: str, cell: Cell, where: str) -> None:
        wires, bits = self._wires, cell.connections
        if cell.type in self._modules:
            self._instance(name, cell, where)
        elif cell.type in BITWISE:
            self._bitwise(cell, where)
        elif cell.type == "$mux":
            self._choice(cell, where)
        elif cell.type in LOGIC:
            self._logic(cell, where)
        elif cell.type in _REGISTERS:
            self._register(cell, where)
        elif cell.type in _READING:
            wires.drive(bits["DATA"], self._memories.reader(cell, wires.operand(bits["ADDR"], where), where), where)
        elif cell.type in _LATCHES:
            kept = wires.name_of(bits["Q"], where)
            raise StateError(f"{where}: signal {kept!r} keeps its value: a latch; assign it on every path")
        else:
            raise UnsupportedVerilog(
                f"{where}: Yosys translates this to a cell {cell.type!r}, which the proof does not support"
            )

    def _logic(self, cell: Cell, where: str) -> None:
        rule = LOGIC[cell.type]
        operands = self._operands(cell, where)

        def make(read: Read) -> Term:
            return rule(cell, {port: value(read, 0, len(cell.connections[port])) for port, value in operands.items()})

        self._wires.drive(cell.connections["Y"], make, where)

    def _bitwise(self, cell: Cell, where: str) -> None:
        """Drive the output of a bitwise cell, whose operands are read part by part."""
        rule, operands, signs = BITWISE[cell.type], self._operands(cell, where), ("A_SIGNED", "B_SIGNED")
        signed = all(cell.number(sign) for sign in signs if sign in cell.parameters)
        values = [_extended(value, len(cell.connections[port]), signed) for port, value in sorted(operands.items())]

        def value(read: Read, low: int, width: int) -> Term:
            return rule(*(value(read, low, width) for value in values))

        self._wires.carry(cell.connections["Y"], value, where)

    def _choice(self, cell: Cell, where: str) -> None:
        """Drive the output of a ``$mux``: B where S is 1, else A."""
        operands = self._operands(cell, where)

        def value(read: Read, low: int, width: int) -> Term:
            return ite(operands["S"](read, 0, 1), operands["B"](read, low, width), operands["A"](read, low, width))

        self._wires.carry(cell.connections["Y"], value, where)

    def _operands(self, cell: Cell, where: str) -> dict[str, Bits]:
        chosen = _CHOSEN.get(cell.type, ())
        ports = {port: bits for port, bits in cell.connections.items() if port != "Y"}
        return {port: self._wires.operand(bits, where, port in chosen) for port, bits in ports.items()}

    def _register(self, cell: Cell, where: str) -> None:
        """Drive the output of a register with its next value, including a reset."""
        falling = not cell.number("CLK_POLARITY")
        clock = Clock(self._wires.one_bit(cell.connections["CLK"], where), falling=falling)
        value = self._wires.bits(cell.connections["D"], where)
        if cell.type != "$dff":
            pin = "ARST" if cell.type == "$adff" else "ALOAD"
            loaded = _reset_value(cell) if cell.type == "$adff" else cell.connections["AD"]
            reset, active = self._wires.one_bit(cell.connections[pin], where), cell.number(f"{pin}_POLARITY")
            value = partial(_either, reset, active, self._wires.bits(loaded, where), value)
            clock = clock._replace(resets=((reset, 1 - active),))
        self._wires.carry(cell.connections["Q"], value, where, clock)

    def _instance(self, name: str, cell: Cell, where: str) -> None:
        ports = self._modules[cell.type].ports
        inside = _Instance(
            self._modules, cell.type, f"{self._path}{name}.", self._signals, self._left_out, self._power_up
        ).walk()
        for port, bits in cell.connections.items():
            signal = inside.get(port)
            if signal is None:
                raise UnsupportedVerilog(
                    f"{where}: port {port!r} of {name!r} is an interface, which Yosys does not connect here"
                )
            if not bits:
                continue  # an open port
            if len(bits) != signal.width:
                raise UnsupportedVerilog(
                    f"{where}: port {port!r} of {name!r} has {signal.width} bits, and {len(bits)} are connected"
                )
            if ports[port].direction == "input":
                signal.drive(driver_of(self._wires.bits(bits, where), 0, signal.width, 0, where))
            elif ports[port].direction == "output":
                self._wires.carry(bits, partial(_of, signal), where)
            else:
                raise UnsupportedVerilog(
                    f"{where}: port {port!r} is neither input nor output; the proof supports no other"
                )


def _check(cell: Cell) -> str:
    """Return the type of a check. Newer versions of Yosys keep it as the flavor of a ``$check`` cell."""
    return f"${cell.parameters.get('FLAVOR', '')}" if cell.type == "$check" else cell.type


def _reset_value(cell: Cell) -> list[Bit]:
    bits: list[Bit] = [*reversed(cell.parameters["ARST_VALUE"])]
    return bits[: cell.number("WIDTH")]


def _either(reset: Signal, active: int, loaded: Bits, value: Bits, read: Read, low: int, width: int) -> Term:
    bit = read(reset, 0, 1)
    return ite(bit if active else bnot(bit), loaded(read, low, width), value(read, low, width))


def _extended(value: Bits, width: int, signed: bool) -> Bits:
    """Return a value of ``width`` bits, extended by copies of its top bit or by zeros."""

    def bits(read: Read, low: int, count: int) -> Term:
        if low + count <= width:
            return value(read, low, count)
        return extract(resize(value(read, 0, width), low + count, signed), low, count)

    return bits


def _of(signal: Signal, read: Read, low: int, width: int) -> Term:
    return read(signal, low, width)
