"""Read the netlist that GHDL's synthesis prints with ``--out=dump``: modules of gates that are joined by nets.

GHDL also writes netlists as Verilog, but that text loses what the netlist holds: the default of a selection, the sign
of a shift or a division, the value of a register after reset.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from dais_verif.base.errors import NetlistError, NetlistFailure

__all__ = ["Gate", "Module", "divided", "lost_variants", "modules", "with_lost_variants"]


_MODULE = re.compile(r"^ *module (?:\{m\d+\} )?(\S.*)$")
_PORT = re.compile(r"^ *(input|output|inout) (\S.*?)(?:\[(\d+|\?)(?::0)?\])?;$")
_PLACE = re.compile(r"^ *# (.*):(\d+):(\d+)$")
_INSTANCE = re.compile(r"^ *instance (\S.*)\{i\d+\}: (\S.*)$")
_INPUT = re.compile(r"^ *input \S.*?\{p\d+\} <- *(?:.*\{n(\d+)w\d+\})?$")
_NET = re.compile(r"\{n(\d+)w(\d+)\}")
_VALUE = re.compile(r"=?(\d+)(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate or an instance. ``kind``: ``$and``, or the name of a module such as ``\\adder``.

    ``inputs``: numbers of nets, None for one that is open. ``outputs``: numbers and widths of nets. ``place``: file,
    line and column in the VHDL, with ``""`` as the file if they are unknown.
    """

    name: str
    kind: str
    inputs: tuple[int | None, ...]
    outputs: tuple[tuple[int, int], ...]
    parameters: tuple[int, ...]
    place: tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the user. ``inputs``, ``outputs``: names and widths of ports.

    ``body``: the module as seen from within: its inputs are the nets that drive the outputs of the module, its outputs
    are the nets of the inputs; None for a black box.
    """

    name: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    body: Gate | None
    gates: tuple[Gate, ...]


@dataclass
class _Open:
    """A module, or an instance in it, while its lines are read."""

    name: str
    ports: dict[str, list[tuple[str, int]]] = field(default_factory=lambda: {"input": [], "output": [], "inout": []})
    gates: list[Gate] = field(default_factory=list)

    def closed(self) -> Module:
        own = next((gate for gate in self.gates if gate.kind == self.name and gate.name == self.name), None)
        # The instance of the whole design follows the last module.
        gates = tuple(gate for gate in self.gates if gate is not own and gate.kind != "$top")
        if self.ports["inout"]:
            raise NetlistError(f"{self.name.lstrip(chr(92))} has a port of mode inout; prove reads in and out")
        return Module(self.name, tuple(self.ports["input"]), tuple(self.ports["output"]), own, gates)


def modules(text: str) -> Iterator[Module]:
    """Yield the modules of ``text`` that are not gates of GHDL's own."""
    module: _Open | None = None
    lines = text.split("\n")
    number, place = 0, ("", 0, 0)
    while number < len(lines):
        line = lines[number]
        number += 1
        if found := _MODULE.match(line):
            if module is not None and module.name.startswith("\\"):
                yield module.closed()
            module = _Open(found[1])
        elif module is None or not module.name.startswith("\\"):
            continue
        elif found := _PLACE.match(line):
            place = (found[1], int(found[2]), int(found[3]))
        elif found := _INSTANCE.match(line):
            start = number
            while number < len(lines) and lines[number].lstrip().startswith(("parameters", "input ", "outputs")):
                number += 1
            module.gates.append(_gate(found[1], found[2], lines[start:number], place))
            place = ("", 0, 0)
        elif found := _PORT.match(line):
            module.ports[found[1]].append((found[2], int(found[3]) + 1 if found[3] else 1))
    if module is not None and module.name.startswith("\\"):
        yield module.closed()


def _gate(name: str, kind: str, lines: Iterable[str], place: tuple[str, int, int]) -> Gate:
    inputs: list[int | None] = []
    outputs: tuple[tuple[int, int], ...] = ()
    parameters: tuple[int, ...] = ()
    for line in map(str.strip, lines):
        if line.startswith("input "):
            found = _INPUT.match(line)
            if found is None:
                raise NetlistFailure(f"GHDL's netlist has a line that cannot be read: {line}")
            inputs.append(None if found[1] is None else int(found[1]))
        elif line.startswith("outputs"):
            outputs = tuple((int(net), int(width)) for net, width in _NET.findall(line))
        else:
            parameters = tuple(map(int, _VALUE.findall(line)))
    return Gate(name, kind, tuple(inputs), outputs, parameters, place)


# Divide the values of records and arrays in a netlist of GHDL's synthesis into their parts.
#
# GHDL joins all fields of a record, and all elements of an array, in one net and one register. The stages of a
# pipeline that are elements of an array then look like a register that feeds itself. Here a net that is joined from
# parts is divided where they meet, on its way through registers and selections, and whatever takes a part reads that
# part alone.


_WIRES = ("$signal", "$isignal", "$output", "$ioutput", "$port", "$nop", "$enable")
_PARTS = ("$extract", "$utrunc", "$strunc")
#: The inputs of a gate that are divided like its output, as slices of all inputs.
_DATA = {
    "$mux2": slice(1, 3),
    "$mux4": slice(1, 5),
    "$pmux": slice(1, None),
    "$dff": slice(1, 2),
    "$idff": slice(1, 3),
    "$adff": slice(1, 4, 2),
    "$iadff": slice(1, 5),
}
#: Inputs of ``_DATA`` that are no data: the reset of a register.
_CONTROL = {"$iadff": (2,)}


def divided(module: Module) -> Module:
    """Return ``module`` with parts of its joined nets as nets of their own; it computes the same."""
    gates = module.gates if module.body is None else (*module.gates, module.body)
    cuts = _cuts(module.gates, {net: width for gate in gates for net, width in gate.outputs})
    if not cuts:
        return module
    divider = _Divider(module, cuts)
    return replace(module, gates=tuple(divider.gates()))


def _data(gate: Gate) -> list[int]:
    """Return the positions of the inputs of ``gate`` that are divided like its output."""
    if gate.kind in _WIRES:
        return [0]
    if gate.kind not in _DATA:
        return []
    taken = range(len(gate.inputs))[_DATA[gate.kind]]
    return [position for position in taken if position not in _CONTROL.get(gate.kind, ())]


def _offset(gate: Gate) -> int:
    return gate.parameters[0] if gate.kind == "$extract" else 0


def _cuts(gates: Sequence[Gate], widths: Mapping[int, int]) -> dict[int, set[int]]:
    """Return the positions within each net at which parts meet."""
    sinks: dict[int, list[Gate]] = {}
    for gate in gates:
        for net in filter(None, gate.inputs):
            sinks.setdefault(net, []).append(gate)
    cuts: dict[int, set[int]] = {}
    waiting = deque(gate for gate in gates if gate.kind.startswith("$concat"))
    while waiting:
        gate = waiting.popleft()
        if len(gate.outputs) != 1 or (gate.kind.startswith("$concat") and None in gate.inputs):
            continue
        ((net, width),) = gate.outputs
        found = set(_met(gate, widths, cuts))
        found = {cut for cut in found if 0 < cut < width} - cuts.get(net, set())
        if found:
            cuts.setdefault(net, set()).update(found)
            waiting.extend(sinks.get(net, ()))
    return cuts


def _met(gate: Gate, widths: Mapping[int, int], cuts: Mapping[int, set[int]]) -> Iterator[int]:
    """Yield where parts meet in the output of ``gate``, as far as its inputs are known."""
    if gate.kind.startswith("$concat"):
        low = 0
        for net in reversed([net for net in gate.inputs if net is not None]):
            yield from (low, *(low + cut for cut in cuts.get(net, ())))
            low += widths[net]
    elif gate.kind in _PARTS:
        yield from (cut - _offset(gate) for cut in cuts.get(gate.inputs[0] or 0, ()))
    else:
        for position in _data(gate):
            yield from cuts.get(gate.inputs[position] or 0, ())


class _Divider:
    """The gates of a module with divided nets."""

    def __init__(self, module: Module, cuts: Mapping[int, set[int]]) -> None:
        outputs = [output for gate in (*module.gates, module.body) if gate is not None for output in gate.outputs]
        self.module, self.widths = module, dict(outputs)
        self.next = 1 + max(self.widths)
        #: The parts of each divided net, the lowest first: position, width, net.
        self.parts: dict[int, list[tuple[int, int, int]]] = {}
        for net, at in cuts.items():
            ends = [0, *sorted(at), self.widths[net]]
            self.parts[net] = [(low, high - low, self._new(high - low)) for low, high in pairwise(ends)]
        self.made: list[Gate] = []

    def _new(self, width: int) -> int:
        self.next += 1
        self.widths[self.next] = width
        return self.next

    def gates(self) -> Iterator[Gate]:
        for gate in self.module.gates:
            yield from self._divided(gate)
            yield from self.made
            self.made.clear()

    def _divided(self, gate: Gate) -> Iterator[Gate]:
        parts = self.parts.get(gate.outputs[0][0], []) if gate.outputs else []
        taken = gate.inputs[0] if gate.kind in _PARTS else None
        for low, width, net in parts:
            name = f"{gate.name}.%{low}"
            if gate.kind.startswith("$concat"):
                yield Gate(name, "$extract", (self._of_joined(gate, low, width),), ((net, width),), (0,), gate.place)
            elif gate.kind in _PARTS or gate.kind in _WIRES:
                source = self._part(gate, gate.inputs[0], low + _offset(gate), width)
                yield Gate(name, "$extract", (source,), ((net, width),), (0,), gate.place)
            else:
                inputs = list(gate.inputs)
                for position in _data(gate):
                    inputs[position] = self._part(gate, inputs[position], low, width)
                yield replace(gate, name=name, inputs=tuple(inputs), outputs=((net, width),))
        if parts and not gate.kind.startswith("$concat") and gate.kind not in _WIRES:
            nets = tuple(net for _, _, net in reversed(parts))
            yield Gate(gate.name, f"$concat{len(nets)}", nets, gate.outputs, (), gate.place)
        elif taken in self.parts:
            ((_, width),) = gate.outputs
            source = self._part(gate, taken, _offset(gate), width)
            yield replace(gate, kind="$extract", inputs=(source,), parameters=(0,))
        else:
            yield gate

    def _of_joined(self, gate: Gate, low: int, width: int) -> int | None:
        """Return bits of the output of a gate that joins its inputs."""
        at = 0
        for net in reversed(gate.inputs):
            size = self.widths[net] if net is not None else 0
            if at <= low < at + size:
                return self._part(gate, net, low - at, width)
            at += size
        return None

    def _part(self, gate: Gate, net: int | None, low: int, width: int) -> int | None:
        """Return a net with bits of ``net``, which ``gate`` reads."""
        if net is None or width == self.widths[net]:
            return net
        within = [part for part in self.parts.get(net, ()) if part[0] < low + width and low < part[0] + part[1]]
        found = []
        for at, size, part in within or [(0, self.widths[net], net)]:
            first, last = max(at, low), min(at + size, low + width)
            if (first, last) != (at, at + size):
                part = self._made(gate, "$extract", (part,), last - first, (first - at,))
            found.append(part)
        return found[0] if len(found) == 1 else self._made(gate, f"$concat{len(found)}", tuple(reversed(found)), width)

    def _made(
        self, gate: Gate, kind: str, inputs: tuple[int, ...], width: int, parameters: tuple[int, ...] = ()
    ) -> int:
        net = self._new(width)
        self.made.append(Gate(f"{gate.name}.%{net}", kind, inputs, ((net, width),), parameters, gate.place))
        return net


# Add the variants of entities that GHDL's synthesis loses: of hundreds, it uses some that it does not write.
#
# A variant of an entity is a module with the values of all its generics in its name, such as ``adder_9_0_1``. A
# variant that is used but missing is synthesized on its own with these values.


_ENTITY = re.compile(r"\bentity\s+(\w+)\s+is\s+generic\s*\((.*?)\)\s*;\s*port\b", re.DOTALL | re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*")
#: A declaration of generics that are integers, with their names.
_GENERIC = re.compile(r"([\w\s,]+?)\s*:\s*(?:integer|natural|positive)\b[^;]*(?:;|\Z)", re.IGNORECASE)

#: A function that returns the modules of the netlist of an entity, with options that set its generics.
Synthesize = Callable[[str, Sequence[str]], Sequence[Module]]


def with_lost_variants(found: Sequence[Module], sources: Sequence[Path], synthesize: Synthesize) -> tuple[Module, ...]:
    """Return ``found`` with the modules that it lacks, as made by ``synthesize``. ``sources``: the VHDL files."""
    added = []
    for name, entity, values in lost_variants(found, sources):
        made = synthesize(entity, [f"-g{generic.upper()}={value}" for generic, value in values.items()])
        if len(made) == 1 and not any(gate.kind.startswith("\\") for gate in made[0].gates):
            added.append(replace(made[0], name=name))
    return (*found, *added)


def _generics(sources: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Return the generics of each entity that has only integer generics: names in lower case, in their order."""
    found: dict[str, tuple[str, ...]] = {}
    for source in sources:
        text = _COMMENT.sub("", source.read_text(encoding="latin-1")).lower()
        for entity, declared in _ENTITY.findall(text):
            parts = [_GENERIC.fullmatch(part.strip()) for part in declared.split(";") if part.strip()]
            if all(part is not None for part in parts):
                found[entity] = tuple(name for part in parts if part for name in re.findall(r"\w+", part[1]))
    return found


def lost_variants(found: Sequence[Module], sources: Sequence[Path]) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Yield each module that ``found`` uses but lacks, with its entity and the values of the entity's generics.

    A name that occurs in the sources is left out, because it is that of a component without an entity, which computes
    nothing.
    """
    used = {gate.kind for module in found for gate in module.gates if gate.kind.startswith("\\")}
    lost = sorted(used - {module.name for module in found})
    if not lost:
        return
    generics = _generics(sources)
    texts = [source.read_text(encoding="latin-1").lower() for source in sources]
    for kind in lost:
        name = kind.removeprefix("\\").lower()
        if any(name in source for source in texts):
            continue
        for entity, names in generics.items():
            values = name.removeprefix(f"{entity}_").split("_")
            if name.startswith(f"{entity}_") and len(values) == len(names) and all(map(str.isdecimal, values)):
                yield kind, entity, dict(zip(names, map(int, values), strict=True))
