"""Read the netlist that GHDL's synthesis prints with ``--out=dump``: modules of gates that are joined by nets.

GHDL also writes netlists as Verilog, but that text loses what the netlist holds: the default of a selection, the sign
of a shift or a division, the value of a register after reset.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dais_verif.errors import NetlistError, NetlistFailure

__all__ = ["Gate", "Module", "modules"]

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
