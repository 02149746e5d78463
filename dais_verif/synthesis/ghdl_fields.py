"""Divide the values of records and arrays in a netlist of GHDL's synthesis into their parts.

GHDL joins all fields of a record, and all elements of an array, in one net and one register. The stages of a pipeline
that are elements of an array then look like a register that feeds itself. Here a net that is joined from parts is
divided where they meet, on its way through registers and selections, and whatever takes a part reads that part alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from dais_verif.synthesis.ghdl_netlist import Gate, Module

__all__ = ["divided"]

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
