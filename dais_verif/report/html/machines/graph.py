"""The graph of a machine for its diagram: parts as nodes, connections as edges; in large machines, groups of parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from dais_verif.base.text import counted
from dais_verif.spec.machine import Connection, Machine, Role, Signal, View
from dais_verif.spec.machine.text import Spelling
from dais_verif.spec.program import FixedType

__all__ = ["Edge", "Graph", "Node", "graph_of"]

#: With more boxes than this the picture is unreadable; parts of one kind are then merged.
_MOST_NODES = 50
#: The largest number of lines per permitted box.
_LINES = 2
#: The order in which kinds are merged.
_GROUPED = ("wire", "input", "output", "register", "memory", "block")
#: A kind with more parts than this may be merged.
_FEW = 4
_LONGEST_LABEL, _LONGEST_LINE = 30, 34
_PLURAL = {"memory": "memories"}


@dataclass(frozen=True)
class Node:
    """A box: its ``kind``, its name, lines of text below it, and its tooltip."""

    key: str
    kind: str
    title: str
    lines: tuple[str, ...]
    told: str


@dataclass(frozen=True)
class Edge:
    """A line from ``source`` to ``target``, keys of nodes. ``clocked``: the connection acts at clock edges."""

    source: str
    target: str
    label: str
    clocked: bool
    told: str


@dataclass(frozen=True)
class Graph:
    """Nodes by key, and edges. ``grouped``: kinds that are drawn as a single box."""

    nodes: dict[str, Node]
    edges: tuple[Edge, ...]
    grouped: tuple[str, ...] = ()


def graph_of(machine: Machine, most: int = _MOST_NODES) -> Graph:
    """Return the graph of ``machine``, with at most about ``most`` nodes."""
    graph = _Builder(machine).graph()
    for kind in _GROUPED:
        if len(graph.nodes) <= most and len(graph.edges) <= _LINES * most:
            break
        graph = _together(graph, kind)
    return graph


class _Builder:
    def __init__(self, machine: Machine) -> None:
        self.machine, self.spelling = machine, Spelling(machine)
        self.block_of = {
            name: block.name for block in machine.blocks.values() for name in (block.inputs, block.outputs)
        }
        indexed = (view for c in machine.connections for view in (c.source, c.target, c.alternative))
        self.controls = self.all_controls()
        self.memories = {view.signal for view in indexed if view is not None and view.index is not None}

    def graph(self) -> Graph:
        machine = self.machine
        nodes = [self.of_signal(signal) for signal in machine.signals.values() if signal.name not in self.block_of]
        for block in machine.blocks.values():
            program = block.program
            lines = (counted(program.n_ops, "op"), f"{program.n_in} in, {program.n_out} out")
            nodes.append(Node(f"block {block.name}", "block", _cut(block.name, _LONGEST_LINE), lines, block.name))
        return Graph({node.key: node for node in nodes}, tuple(self.edges()))

    def key(self, signal: str) -> str:
        return f"block {self.block_of[signal]}" if signal in self.block_of else f"signal {signal}"

    def of_signal(self, signal: Signal) -> Node:
        kind = "wire"
        if signal.register:
            kind = "memory" if signal.name in self.memories else "register"
        elif signal.role is not Role.INTERNAL:
            kind = signal.role.value
        lines = [_types(signal.types)]
        if signal.register and signal.role is Role.OUTPUT:
            lines.append("output")
        if signal.register and signal.initial is not None and len(signal.types) == 1:
            lines[0] += f" = {signal.initial[0]}"
        if signal.reset is not None:
            lines.append(f"reset {self.spelling.view(signal.reset)}")
        if signal.schedule is not None and signal.schedule.period:
            lines.append(f"valid {', '.join(map(str, signal.schedule.toggles))} of {signal.schedule.period}")
        controls = self.controls.get(signal.name, {})
        lines += [f"{word} {_several(list(names))}" for word, names in sorted(controls.items(), reverse=True)]
        shown = tuple(_cut(line, _LONGEST_LINE) for line in lines)
        told = ", ".join([f"{kind} {signal.name}", *lines])
        return Node(self.key(signal.name), kind, _cut(signal.name, _LONGEST_LINE), shown, told)

    def all_controls(self) -> dict[str, dict[str, dict[str, None]]]:
        """Return for each signal the signals that it controls, by the word for the control, which no line shows."""
        found: dict[str, dict[str, dict[str, None]]] = {}

        def note(signal: str, word: str, name: str) -> None:
            found.setdefault(signal, {}).setdefault(word, {})[self.spelling.name(name)] = None

        for signal in self.machine.registers:
            if signal.reset is not None:
                note(signal.reset.signal, "resets", signal.name)
        for connection in self.machine.connections:
            if connection.enable is not None:
                note(connection.enable.signal, "enables", connection.target.signal)
            for view in (connection.source, connection.target, connection.alternative):
                if view is not None and view.index is not None:
                    note(view.index.value.signal, "is index of", view.signal)
        return found

    def edges(self) -> Iterable[Edge]:
        found: dict[tuple[str, str], list[tuple[str, bool, str]]] = {}
        for connection in self.machine.connections:
            clocked, told = self.machine.clocked(connection), self.spelling.connection(connection)
            target = self.key(connection.target.signal)
            for view, word in ((connection.source, "when"), (connection.alternative, "unless")):
                if view is not None:
                    label = self.label(connection, view, word)
                    found.setdefault((self.key(view.signal), target), []).append((label, clocked, told))
        for (source, target), parts in found.items():
            labels = list(dict.fromkeys(label for label, _, _ in parts if label))
            label = ", ".join(labels)
            if len(label) > _LONGEST_LABEL and len(parts) > 1:
                label = counted(len(parts), "connection")
            told = "\n".join(dict.fromkeys(told for _, _, told in parts))
            yield Edge(source, target, _cut(label, _LONGEST_LABEL), any(clocked for _, clocked, _ in parts), told)

    def label(self, connection: Connection, source: View, word: str) -> str:
        """Return ``[3] when en``: the elements that are read, and the condition."""
        read, written = self.part(source), self.part(connection.target)
        parts = [read] if read else []
        if written:
            parts.append(f"to {written}")
        if connection.enable is not None:
            parts.append(f"{word} {self.spelling.view(connection.enable)}")
        return " ".join(parts)

    def part(self, view: View) -> str:
        """Return the brackets after a name, unless the view covers all elements."""
        text, name = self.spelling.view(view), self.spelling.name(view.signal)
        return text[len(name) :]


def _types(types: tuple[FixedType, ...]) -> str:
    runs = [(kind, len(list(run))) for kind, run in groupby(types)]
    if len(runs) > 2:
        return f"{counted(len(types), 'element')}, {counted(sum(kind.width for kind in types), 'bit')}"
    return ", ".join(f"{count} × {kind}" if count > 1 else str(kind) for kind, count in runs) or "no elements"


def _several(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} more"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _together(graph: Graph, kind: str) -> Graph:
    """Return the graph with all nodes of a ``kind`` merged into one, unless there are few."""
    members = [node for node in graph.nodes.values() if node.kind == kind]
    if len(members) <= _FEW:
        return graph
    names = [node.title for node in members]
    told = ", ".join(names[:40]) + (" ..." if len(names) > 40 else "")
    group = Node(f"all {kind}", kind, f"{len(members)} {_PLURAL.get(kind, kind + 's')}", (_several(names),), told)
    moved = {node.key: group.key for node in members}
    nodes = {moved.get(key, key): group if key in moved else node for key, node in graph.nodes.items()}
    edges: dict[tuple[str, str], list[Edge]] = {}
    for edge in graph.edges:
        source, target = moved.get(edge.source, edge.source), moved.get(edge.target, edge.target)
        if source != target or edge.source == edge.target:
            edges.setdefault((source, target), []).append(replace(edge, source=source, target=target))
    return Graph(nodes, tuple(_joined(parts) for parts in edges.values()), (*graph.grouped, kind))


def _joined(parts: list[Edge]) -> Edge:
    if len(parts) == 1:
        return parts[0]
    told = "\n".join(dict.fromkeys(line for edge in parts for line in edge.told.split("\n")[:20]).keys())
    clocked = any(edge.clocked for edge in parts)
    return replace(parts[0], label=counted(len(parts), "line"), clocked=clocked, told=told[:1000])
