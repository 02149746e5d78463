"""Write ALIRFSM, the JSON format in which alkaid keeps machines; ``alirfsm`` reads it.

Every use of a signal states all facts about the signal, since alkaid relies on the first use that it reads. Connections
to wires come first, in an order in which they can be computed, then connections to registers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dais_verif.errors import InputError, MachineFileError
from dais_verif.machine.checks import output_types
from dais_verif.machine.model import Block, Connection, Machine, Role, Signal, View
from dais_verif.machine.order import settling_order
from dais_verif.program.alir_json import NOTES
from dais_verif.program.conversion import to_alir
from dais_verif.program.json_writers import alir_model
from dais_verif.program.types import FixedType

__all__ = ["machine_json"]

#: The depth to which the resets of resets are written. It is limited because a register may reset itself; readers merge
#: uses.
_DEEPEST = 4


def machine_json(machine: Machine) -> bytes:
    """Return ``machine`` as a file of spec 4. Its blocks are converted to ALIR, which may take additional ops.

    Raises ``InputError`` that names the signal, block or op that the file cannot represent.
    """
    return json.dumps(_Writer(machine).tree(), separators=(",", ":"), allow_nan=False).encode() + b"\n"


class _Writer:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        #: Blocks with the programs that a reader of the file gets.
        self.blocks = {block.name: _raised(block) for block in machine.blocks.values()}
        self.ports = {name for block in machine.blocks.values() for name in (block.inputs, block.outputs)}
        self.read = {view.signal for connection in machine.connections for view in connection.reads}
        self.driven = {connection.target.signal for connection in machine.connections}
        #: Signals that are mentioned in the file, and those about which some use states all facts.
        self.mentioned: set[str] = set()
        self.told: set[str] = set()

    def tree(self) -> dict[str, Any]:
        """Return the whole file."""
        machine = self.machine
        logic = {name: _model(block) for name, block in self.blocks.items()}
        connections = [self.connection(each) for each in _in_order(machine)]
        order = [name for name in machine.signals if name in self.mentioned]
        left = [self.use(machine.whole(name)) for name in machine.signals if self.lost(name)]
        fsm = {"logic": logic, "conns": connections, "signal_order": order}
        tree: dict[str, Any] = {"meta": "ALIRFSM", "spec_version": 4, "fsm": fsm}
        if left:
            whole = [name for name in machine.signals if name in self.mentioned]
            tree[NOTES] = {"signals": left, "signal_order": whole}
        return tree

    def lost(self, name: str) -> bool:
        """Return True if neither a connection nor a block tells a reader all facts about a signal."""
        if name in self.told:
            return False
        if name not in self.ports:
            return True
        block = next(block for block in self.blocks.values() if name in (block.inputs, block.outputs))
        return name == block.outputs and self.machine.signals[name].types != output_types(block)

    def connection(self, connection: Connection) -> dict[str, Any]:
        parts = {
            "src": connection.source,
            "dst": connection.target,
            "enable_if": connection.enable,
            "alt_src": connection.alternative,
        }
        return {name: None if view is None else self.use(view) for name, view in parts.items()}

    def use(self, view: View, within: tuple[str, ...] = ()) -> list[Any]:
        """Return a view as the 11 fields of a signal. ``within``: the signals in whose reset or index it is nested."""
        signal = self.machine.signals[view.signal]
        self.mentioned.add(signal.name)
        cut = signal.name in within or len(within) >= _DEEPEST
        if signal.reset is None or not cut:
            self.told.add(signal.name)
        deeper = (*within, signal.name)
        schedule, index = signal.schedule, view.index
        return [
            signal.name,
            signal.role is not Role.INTERNAL,
            [[bool(kind.k), kind.i, kind.f] for kind in self.types(signal)],
            None if signal.reset is None or cut else self.use(signal.reset, deeper),
            None if signal.initial is None else [_number(signal, value) for value in signal.initial],
            signal.register,
            None if schedule is None else [list(schedule.toggles), schedule.period],
            self.mode(signal),
            signal.attributes,
            [view.start, view.stop],
            None if index is None else [self.use(index.value, deeper), index.stride],
        ]

    def types(self, signal: Signal) -> Sequence[FixedType]:
        """Return the types of elements. In the wire of a block, an element without bits has ALIR's only such type."""
        if signal.name not in self.ports:
            return signal.types
        return [kind if kind.width else FixedType(0, 0, 0) for kind in signal.types]

    def mode(self, signal: Signal) -> str:
        """Return alkaid's mode of a signal: ``r`` marks inputs, ``w`` outputs."""
        if signal.role is Role.INPUT:
            return "r"
        if signal.role is Role.OUTPUT and not (signal.register or signal.name in self.driven):
            raise MachineFileError(
                f"signal {signal.name}: nothing drives this output; ALIRFSM would take it for an input"
            )
        return "w" if signal.role is Role.OUTPUT and signal.name not in self.read else "rw"


def _raised(block: Block) -> Block:
    wanted = (f"INTERNAL_{block.name}_inp", f"INTERNAL_{block.name}_outp")
    if (block.inputs, block.outputs) != wanted:
        raise MachineFileError(f"block {block.name}: its wires must be called {' and '.join(wanted)} in ALIRFSM")
    return replace(block, program=to_alir(block.program))


def _model(block: Block) -> list[Any]:
    try:
        return alir_model(block.program)
    except InputError as error:
        raise MachineFileError(f"block {block.name}: {error}") from None


def _number(signal: Signal, value: Fraction) -> int | float:
    """Return ``value`` as a JSON number: a double, else an integer of any size."""
    try:
        if Fraction(float(value)) == value:
            return float(value)
    except OverflowError:
        pass
    if value.denominator == 1:
        return value.numerator
    raise MachineFileError(f"signal {signal.name}: its initial value {value} is not a double, which ALIRFSM needs")


def _in_order(machine: Machine) -> list[Connection]:
    """Sort connections: first those to wires, each after the drivers of what it reads, then those to registers."""
    wires = [connection for connection in machine.connections if not machine.clocked(connection)]
    if not _settles(machine, wires):
        wires = [step for step in settling_order(machine) if isinstance(step, Connection)]
    return [*wires, *(connection for connection in machine.connections if machine.clocked(connection))]


def _settles(machine: Machine, wires: Sequence[Connection]) -> bool:
    """Return True if each connection in ``wires`` comes after all connections that drive the signals it reads."""
    last: dict[str, dict[int, int]] = {}
    for number, connection in enumerate(wires):
        target = connection.target
        last.setdefault(target.signal, {}).update(dict.fromkeys(machine.reach(target), number))
    inputs = {block.outputs: max(last.get(block.inputs, {}).values(), default=-1) for block in machine.blocks.values()}
    for number, connection in enumerate(wires):
        for view in connection.reads:
            writers = last.get(view.signal, {})
            latest = max((writers[e] for e in machine.reach(view) if e in writers), default=-1)
            if max(latest, inputs.get(view.signal, -1)) >= number:
                return False
    return True
