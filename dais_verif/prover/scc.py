"""Strongly connected components of a graph, by Tarjan's algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

__all__ = ["find_sccs"]

_Node = TypeVar("_Node")


def find_sccs(following: Mapping[_Node, Iterable[_Node]]) -> dict[_Node, int]:
    """Return a component number for each node on a cycle; nodes that reach each other have the same number.

    ``following``: the successors of each node; nodes without an entry have none.
    """
    order: dict[_Node, int] = {}
    lowest: dict[_Node, int] = {}
    open_: dict[_Node, None] = {}
    found: dict[_Node, int] = {}
    for start in following:
        path = [] if start in order else [(start, iter(following[start]))]
        while path:
            node, rest = path[-1]
            if node not in order:
                order[node] = lowest[node] = len(order)
                open_[node] = None
            other = next(rest, None)
            if other is not None:
                if other not in order and other in following:
                    path.append((other, iter(following[other])))
                elif other in open_:
                    lowest[node] = min(lowest[node], order[other])
                continue
            path.pop()
            if path:
                lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
            if lowest[node] == order[node]:
                together = []
                while node in open_:
                    together.append(open_.popitem()[0])
                if len(together) > 1 or node in following[node]:
                    found.update(dict.fromkeys(together, order[node]))
    return found
