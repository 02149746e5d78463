"""Read ALIRFSM, the JSON format in which alkaid keeps machines.

The format has no table of signals: each use of a signal repeats the facts about the signal, and two uses of one name
may state different facts. This module merges the facts, and refuses uses that contradict each other.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from reprlib import repr as _short
from typing import Any, NamedTuple, TypeVar

from dais_verif.base.errors import InputError, MachineError, MachineFileError, ProgramError
from dais_verif.base.text import counted
from dais_verif.spec.machine.checks import input_types, output_types, validate
from dais_verif.spec.machine.model import (
    LONGEST_NAME,
    Block,
    Connection,
    Index,
    Machine,
    Role,
    Schedule,
    Signal,
    View,
    is_name,
    is_schedule,
    is_type,
)
from dais_verif.spec.machine.order import settling_order
from dais_verif.spec.program import FixedType, Origin, Program
from dais_verif.spec.program.alir_json import NOTES, program_of
from dais_verif.spec.program.checks import validate as validate_program
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.json_fields import is_gzip, unpacked
from dais_verif.spec.program.json_file import looks_like_json
from dais_verif.spec.program.json_writers import alir_model
from dais_verif.spec.program.types import LIMIT

__all__ = ["looks_like_alirfsm", "machine_json", "parse_alirfsm"]


_META = "ALIRFSM"
_SPEC_VERSION = 4
#: The depth to which signals may be nested in signals, as the index of a view or as a reset.
_DEEPEST = 16
_MODES = ("", "r", "w", "rw")


def looks_like_alirfsm(data: bytes) -> bool:
    """Return True if ``data`` is JSON, plain or gzip, that claims to be a machine."""
    if not looks_like_json(data):
        return False
    try:
        text = unpacked(data) if is_gzip(data) else data
    except ProgramError:
        return False
    return f'"{_META}"'.encode() in text and _meta(text) == _META


def _meta(text: bytes) -> Any:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tree.get("meta") if isinstance(tree, dict) else None


def parse_alirfsm(data: bytes) -> Machine:
    """Return the valid machine in ``data``. Raises ``ProgramError`` that names the signal, connection or block."""
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        tree = json.loads(unpacked(data) if is_gzip(data) else data, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise MachineError(f"JSON: {error}; the file is damaged or not a machine") from None
    if not isinstance(tree, dict) or tree.get("meta") != _META:
        found = tree.get("meta") if isinstance(tree, dict) else tree
        raise MachineError(f"JSON: meta is {_short(found)}, must be {_META}: this is not a machine")
    spec = tree.get("spec_version")
    if isinstance(spec, bool) or spec != _SPEC_VERSION:
        raise MachineError(f"JSON: spec_version is {_short(spec)}, must be {_SPEC_VERSION}")
    origin = Origin("alir", spec_version=_SPEC_VERSION, file_sha256=sha256)
    machine = _machine(_mapping(tree.get("fsm"), "fsm"), _mapping(tree.get(NOTES, {}), NOTES), origin)
    validate(machine)
    return machine


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object with the keys and values ``pairs``; refuse duplicate keys as ambiguous."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise MachineError(f"JSON: {_short(max(names, key=names.count))} occurs twice in one object")
    return found


def _named(name: Any, what: str) -> str:
    """Return ``name``, which must be printable text on one line."""
    if not isinstance(name, str) or not name:
        raise MachineError(f"JSON {what} is {_short(name)}, must be a string")
    if not is_name(name):
        raise MachineError(
            f"JSON {what} is {_short(name)}, must have at most {LONGEST_NAME} characters, none of them invisible"
        )
    return name


def _machine(fsm: Mapping[str, Any], notes: Mapping[str, Any], origin: Origin) -> Machine:
    blocks = {
        _named(name, "logic: the name of a block"): Block(
            name, _program(name, model), f"INTERNAL_{name}_inp", f"INTERNAL_{name}_outp"
        )
        for name, model in _mapping(fsm.get("logic"), "logic").items()
    }
    uses = _Uses()
    connections = tuple(_connection(uses, j, conn) for j, conn in enumerate(_list(fsm.get("conns"), "conns")))
    for j, use in enumerate(_list(notes.get("signals", []), f"{NOTES}.signals")):
        uses.view(use, f"{NOTES}.signals[{j}]")
    driven = {connection.target.signal for connection in connections}
    signals = uses.signals(driven)
    for block in blocks.values():
        for name, types in ((block.inputs, input_types(block)), (block.outputs, output_types(block))):
            if name not in signals:  # nothing is connected to it
                signals[name] = Signal(name, types)
    order = _list(notes.get("signal_order", fsm.get("signal_order")), "signal_order")
    for name in order:
        if not isinstance(name, str) or name not in signals:
            raise MachineError(f"JSON signal_order: {_short(name)} is not a signal of any connection")
    listed = set(order)
    if len(listed) != len(order):
        raise MachineError("JSON signal_order: a signal is listed twice")
    lost = next((s.name for s in signals.values() if s.role is not Role.INTERNAL and s.name not in listed), None)
    if lost is not None:
        raise MachineError(
            f"JSON signal_order: {_short(lost)} is a port and must be listed, as this is the order of the ports"
        )
    ordered = {name: signals[name] for name in [*order, *(name for name in signals if name not in listed)]}
    return Machine(blocks, ordered, connections, origin)


def _program(name: str, model: Any) -> Program:
    """Return the program of a block, which has no spec version of its own: the file states one for all blocks."""
    try:
        tree = {"model": model, "meta": "ALIRModel", "spec_version": _SPEC_VERSION}
        program = program_of(tree, Origin("alir", spec_version=_SPEC_VERSION))
        validate_program(program)
    except ProgramError as error:
        raise MachineError(f"block {_short(name)}: {error}") from None
    return program


class _Use(NamedTuple):
    """The facts that one use of a signal states."""

    name: str
    exposed: bool
    types: tuple[FixedType, ...]
    reset: View | None
    initial: tuple[Fraction, ...] | None
    register: bool
    schedule: Schedule | None
    attributes: str | None


_Part = TypeVar("_Part")


class _Uses:
    """All uses of all signals, merged."""

    def __init__(self) -> None:
        self._found: dict[str, _Use] = {}

    def view(self, value: Any, where: str, depth: int = 0) -> View:
        """Return the view that a use describes; merge this use, and all uses nested in it, with earlier ones."""
        if depth > _DEEPEST:
            raise MachineError(f"JSON {where}: signals within signals, more than {_DEEPEST} deep")
        if not isinstance(value, list) or len(value) != 11:
            raise MachineError(f"JSON {where}: must be the 11 parts of a signal, not {_short(value)}")
        name, exposed, types, reset, initial, register, schedule, mode, attributes, view, dynamic = value
        where = f"{where} ({_named(name, f'{where}: the name of a signal')})"
        if mode not in _MODES or not isinstance(mode, str):
            raise MachineError(f"JSON {where} mode is {_short(mode)}, must be '', 'r', 'w' or 'rw'")
        if not (attributes is None or isinstance(attributes, str)):
            raise MachineError(f"JSON {where} attrs is {_short(attributes)}, must be a string or null")
        kinds = tuple(_type(kind, where) for kind in _list(types, f"{where} types"))
        start, stop = (_integer(v, f"{where} view") for v in _list(view, f"{where} view", 2))
        if not 0 <= start <= stop <= len(kinds):
            raise MachineError(
                f"JSON {where}: view [{start}, {stop}] is not within its {counted(len(kinds), 'element')}"
            )
        self._merge(
            _Use(
                name,
                _truth(exposed, f"{where} exposed"),
                kinds,
                None if reset is None else self.view(reset, f"{where} rst_if", depth + 1),
                None if initial is None else _values(initial, kinds, where),
                _truth(register, f"{where} reg"),
                None if schedule is None else _schedule(schedule, where),
                attributes,
            )
        )
        if dynamic is None:
            return View(name, start, stop)
        index, stride = _list(dynamic, f"{where} dynamic", 2)
        value_of = self.view(index, f"{where} index", depth + 1)
        return View(name, start, stop, Index(value_of, _integer(stride, f"{where} stride")))

    def _merge(self, use: _Use) -> None:
        known = self._found.get(use.name)
        if known is None:
            self._found[use.name] = use
            return
        for field in ("exposed", "types", "register"):
            if getattr(known, field) != getattr(use, field):
                raise MachineError(
                    f"signal {use.name}: two uses differ in {field}:"
                    f" {_short(getattr(known, field))} and {_short(getattr(use, field))}"
                )
        self._found[use.name] = known._replace(
            reset=_either(known.reset, use.reset, use.name, "rst_if"),
            initial=_either(known.initial, use.initial, use.name, "rst_to"),
            schedule=_either(known.schedule, use.schedule, use.name, "schedule"),
            attributes=known.attributes if known.attributes is not None else use.attributes,
        )

    def signals(self, driven: set[str]) -> dict[str, Signal]:
        """Return all signals; an exposed one is an output if it is driven or a register, else an input."""
        return {use.name: _signal(use, use.name in driven) for use in self._found.values()}


def _signal(use: _Use, driven: bool) -> Signal:
    role = Role.INTERNAL if not use.exposed else Role.OUTPUT if driven or use.register else Role.INPUT
    initial = use.initial
    if use.register and use.reset is not None and initial is None:
        initial = tuple(Fraction(0) for _ in use.types)
    return Signal(use.name, use.types, role, use.register, initial, use.reset, use.schedule, use.attributes)


def _either(known: _Part | None, other: _Part | None, name: str, field: str) -> _Part | None:
    if known is not None and other is not None and known != other:
        raise MachineError(f"signal {name}: two uses differ in {field}: {_short(known)} and {_short(other)}")
    return other if known is None else known


def _connection(uses: _Uses, j: int, conn: Any) -> Connection:
    where = f"conns[{j}]"
    fields = _mapping(conn, where)
    source, target = (uses.view(fields.get(part), f"{where}.{part}") for part in ("src", "dst"))
    enable, alternative = (
        None if fields.get(part) is None else uses.view(fields[part], f"{where}.{part}")
        for part in ("enable_if", "alt_src")
    )
    return Connection(source, target, enable, alternative)


def _type(value: Any, where: str) -> FixedType:
    k, i, f = _list(value, f"{where} type", 3)
    sign = int(_truth(k, f"{where} type: k"))
    kind = FixedType(sign, _integer(i, f"{where} type: i"), _integer(f, f"{where} type: f"))
    if not is_type(kind):
        raise MachineError(f"JSON {where}: type {_short(value)}: its width, i and f must be at most {LIMIT}")
    return kind


def _values(value: Any, kinds: tuple[FixedType, ...], where: str) -> tuple[Fraction, ...]:
    numbers = _list(value, f"{where} rst_to", len(kinds))
    found = []
    for j, (number, kind) in enumerate(zip(numbers, kinds, strict=True)):
        whole = isinstance(number, int) and not isinstance(number, bool)  # of any size
        if not whole and not (isinstance(number, float) and math.isfinite(number)):
            raise MachineError(f"JSON {where} rst_to[{j}] is {_short(number)}, must be a finite number")
        exact = Fraction(number)
        raw = exact * Fraction(2) ** kind.f
        if exact and (raw.denominator != 1 or not kind.raw_min <= raw <= kind.raw_max):
            raise MachineError(f"JSON {where} rst_to[{j}] is {_short(number)}, which its type {kind} does not hold")
        found.append(exact)
    return tuple(found)


def _schedule(value: Any, where: str) -> Schedule:
    toggles, period = _list(value, f"{where} schedule", 2)
    times = tuple(_integer(t, f"{where} schedule") for t in _list(toggles, f"{where} schedule"))
    found = Schedule(times, _integer(period, f"{where} schedule period"))
    if not is_schedule(found):
        raise MachineError(
            f"JSON {where}: schedule {_short(value)}: toggles must rise and lie within one period, which must not be"
            " negative"
        )
    return found


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise MachineError(f"JSON {name}: must be an object, not {_short(value)}")
    return value


def _list(value: Any, name: str, count: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        some = "" if count is None else f" of {count}"
        raise MachineError(f"JSON {name}: must be a list{some}, not {_short(value)}")
    return value


def _integer(value: Any, where: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 1 << 31:
        raise MachineError(f"JSON {where} is {_short(value)}, must be an int32")
    return value


def _truth(value: Any, where: str) -> bool:
    if value not in (True, False, 0, 1) or isinstance(value, float):
        raise MachineError(f"JSON {where} is {_short(value)}, must be true or false")
    return bool(value)


# Write ALIRFSM, the JSON format in which alkaid keeps machines; ``alirfsm`` reads it.
#
# Every use of a signal states all facts about the signal, since alkaid relies on the first use that it reads.
# Connections to wires come first, in an order in which they can be computed, then connections to registers.


#: The depth to which the resets of resets are written. It is limited because a register may reset itself; readers merge
#: uses.
_DEEPEST_OF_ALIRFSM_WRITER = 4


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
        cut = signal.name in within or len(within) >= _DEEPEST_OF_ALIRFSM_WRITER
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
