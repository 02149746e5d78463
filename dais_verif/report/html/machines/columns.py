"""The column of each box in a diagram, and the lines that lead back."""

from __future__ import annotations

from dais_verif.report.html.machines.graph import Edge, Graph

__all__ = ["columns_of", "feedback_of"]


def feedback_of(graph: Graph) -> frozenset[Edge]:
    """Return edges whose removal breaks all loops; edges into registers are preferred."""
    after: dict[str, list[Edge]] = {key: [] for key in graph.nodes}
    found: set[Edge] = set()
    for edge in sorted(graph.edges, key=lambda edge: edge.clocked):
        if _leads(after, edge.target, edge.source):
            found.add(edge)
        else:
            after[edge.source].append(edge)
    return frozenset(found)


def _leads(after: dict[str, list[Edge]], start: str, end: str) -> bool:
    """Return True if edges lead from ``start`` to ``end``."""
    seen, waiting = {start}, [start]
    while waiting:
        key = waiting.pop()
        if key == end:
            return True
        new = {edge.target for edge in after[key]} - seen
        seen |= new
        waiting += new
    return False


def columns_of(graph: Graph, back: frozenset[Edge]) -> dict[str, int]:
    """Return the column of each node, right of all nodes that it reads; sources are just left of their first reader."""
    after: dict[str, list[str]] = {key: [] for key in graph.nodes}
    before: dict[str, list[str]] = {key: [] for key in graph.nodes}
    for edge in graph.edges:
        if edge not in back:
            after[edge.source].append(edge.target)
            before[edge.target].append(edge.source)
    left = {key: len(sources) for key, sources in before.items()}
    ready = [key for key, count in left.items() if not count]
    layer = dict.fromkeys(graph.nodes, 0)
    order = []
    while ready:
        key = ready.pop()
        order.append(key)
        for target in after[key]:
            layer[target] = max(layer[target], layer[key] + 1)
            left[target] -= 1
            if not left[target]:
                ready.append(target)
    last = max(layer.values(), default=0)
    for key in reversed(order):
        kind = graph.nodes[key].kind
        if kind == "output":
            layer[key] = last
        elif kind != "input" and not before[key] and after[key]:
            layer[key] = min(layer[target] for target in after[key]) - 1
    return layer
