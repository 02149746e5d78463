"""The layout of a diagram: no line runs over a text or along another line.

Boxes are placed in columns, each to the right of the boxes that it reads. A line that leads back, such as feedback
through registers, runs below all boxes. Between two columns there is room for one vertical track per line, followed by
labels, which are placed above the last stretch of their lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dais_verif.report.html.machines.graph import Edge, Graph, Node

__all__ = ["Box", "Drawing", "Line", "columns_of", "draw", "feedback_of"]


#: In pixels: distance of lines that enter a box, height of a text line, width of a character, width of a character of a
#: title, padding around a text, distance of tracks, distance of boxes.
_SLOT, _TEXT, _CHARACTER, _TITLE, _PADDING, _TRACK, _GAP = 20, 15, 6.7, 8.0, 12, 10, 18
_MARGIN = 12
#: Remainders, modulo a slot, of the y at which lines enter and leave boxes, and pass columns.
_RESTS = {"left": 0.0, "right": 6.0}
_PASSING = (12.0, 16.0)
_SWEEPS = 12


@dataclass(frozen=True)
class Box:
    """A placed node; ``texts``: lines of text, each with the position of its middle."""

    node: Node
    x: float
    y: float
    width: float
    height: float

    @property
    def texts(self) -> list[tuple[str, float, bool]]:
        """Each text, the y of its baseline, and a flag for the title."""
        lines = [(self.node.title, True), *((line, False) for line in self.node.lines)]
        top = self.y + (self.height - len(lines) * _TEXT) / 2
        return [(text, top + (at + 0.75) * _TEXT, title) for at, (text, title) in enumerate(lines)]


@dataclass(frozen=True)
class Line:
    """An edge as the corners of a path, and the right end of its label."""

    edge: Edge
    points: tuple[tuple[float, float], ...]
    label: tuple[float, float]

    @property
    def path(self) -> str:
        """The path in SVG syntax, with rounded corners."""
        points = self.points
        parts = [f"M{points[0][0]:g} {points[0][1]:g}"]
        for before, corner, after in zip(points, points[1:], points[2:], strict=False):
            near, far = _toward(corner, before), _toward(corner, after)
            parts.append(f"L{near[0]:g} {near[1]:g}Q{corner[0]:g} {corner[1]:g} {far[0]:g} {far[1]:g}")
        return "".join([*parts, f"L{points[-1][0]:g} {points[-1][1]:g}"])


@dataclass(frozen=True)
class Drawing:
    """The complete diagram, in a picture of ``width`` x ``height``."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


def _toward(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return a point near ``corner`` on the way to ``other``."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    reach = min(5.0, length / 2) / length if length else 0.0
    return corner[0] + dx * reach, corner[1] + dy * reach


def draw(graph: Graph) -> Drawing:
    """Place all nodes and edges of ``graph``."""
    return _Layout(graph).drawing()


@dataclass
class _Place:
    """A node, or a bend of an edge in a column that it only passes (``node`` None)."""

    node: Node | None
    layer: int
    left: list[_Chain]
    right: list[_Chain]
    height: float = 0.0
    y: float = 0.0


@dataclass
class _Chain:
    """An edge and its places from left to right: its ends and, unless it leads ``back``, the columns that it passes."""

    edge: Edge
    places: list[_Place]
    back: bool


@dataclass(frozen=True)
class _Room:
    """The y at which lines leave and enter boxes, their tracks, and the x of columns and of tracks left of columns."""

    ports: dict[tuple[int, int, str], float]
    tracks: dict[tuple[int, int, int], int]
    lefts: list[float]
    widths: list[float]
    starts: list[float]
    end: float

    def left(self, place: _Place) -> float:
        return self.lefts[place.layer]

    def right(self, place: _Place) -> float:
        return self.lefts[place.layer] + self.widths[place.layer]

    def track(self, column: int, number: int, part: int) -> float:
        return self.starts[column] + self.tracks[column, number, part] * _TRACK


class _Layout:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.back = feedback_of(graph)
        layers = columns_of(graph, self.back)
        self.places = {key: _Place(node, layers[key], [], []) for key, node in graph.nodes.items()}
        count = max(layers.values(), default=-1) + 1
        self.columns: list[list[_Place]] = [[] for _ in range(count)]
        for place in self.places.values():
            self.columns[place.layer].append(place)
        self.chains = [self.chain(edge, edge in self.back) for edge in graph.edges]

    def chain(self, edge: Edge, back: bool) -> _Chain:
        source, target = self.places[edge.source], self.places[edge.target]
        chain = _Chain(edge, [source, target], back)
        if not back:
            middle = [_Place(None, layer, [], []) for layer in range(source.layer + 1, target.layer)]
            for place in middle:
                self.columns[place.layer].append(place)
            chain.places = [source, *middle, target]
        for before, after in pairwise(chain.places):
            before.right.append(chain)
            after.left.append(chain)
        return chain

    def drawing(self) -> Drawing:
        self.order()
        for column in self.columns:
            for place in column:
                place.height = self.height(place)
        self.stack()
        bottom = max((place.y + place.height for column in self.columns for place in column), default=0.0)
        return self.routed(bottom)

    def height(self, place: _Place) -> float:
        if place.node is None:
            return _SLOT
        text = (1 + len(place.node.lines)) * _TEXT + _PADDING
        return max(text, max(len(place.left), len(place.right)) * _SLOT + _PADDING)

    def order(self) -> None:
        """Order each column by the positions of neighbours, sweeping both ways, so that few lines cross."""
        self.number()
        for sweep in range(_SWEEPS):
            columns = self.columns if sweep % 2 == 0 else self.columns[::-1]
            for column in columns:
                found = [self.middle(place, sweep % 2 == 0) for place in column]
                keys = [place.y if middle is None else middle for place, middle in zip(column, found, strict=True)]
                column[:] = [column[at] for at in sorted(range(len(column)), key=keys.__getitem__)]
            self.number()

    def number(self) -> None:
        for column in self.columns:
            for number, place in enumerate(column):
                place.y = float(number)

    def middle(self, place: _Place, from_left: bool) -> float | None:
        near = [other.y for chain in self.chains_of(place) for other in self.beside(chain, place, from_left)]
        return sum(near) / len(near) if near else None

    def chains_of(self, place: _Place) -> list[_Chain]:
        return [chain for chain in (*place.left, *place.right) if not chain.back]

    def beside(self, chain: _Chain, place: _Place, from_left: bool) -> list[_Place]:
        at = next(n for n, each in enumerate(chain.places) if each is place)
        near = at - 1 if from_left else at + 1
        return [chain.places[near]] if 0 <= near < len(chain.places) else []

    def stack(self) -> None:
        """Assign each place its y: as close to its neighbours as the places above and below it allow."""
        for column in self.columns:
            y = 0.0
            for place in column:
                place.y, y = y, y + place.height + _GAP
        for sweep in range(_SWEEPS):
            for column in self.columns if sweep % 2 == 0 else self.columns[::-1]:
                wanted = []
                for place in column:
                    near = [
                        other.y + other.height / 2
                        for chain in self.chains_of(place)
                        for side in (True, False)
                        for other in self.beside(chain, place, side)
                    ]
                    wanted.append(sum(near) / len(near) - place.height / 2 if near else place.y)
                _settle(column, wanted)
        top = min((place.y for column in self.columns for place in column), default=0.0)
        for column in self.columns:
            for place in column:
                place.y = round((place.y - top) / _SLOT) * _SLOT + _MARGIN
            for above, below in pairwise(column):
                below.y = max(below.y, above.y + above.height + _GAP)
                below.y = -(-(below.y - _MARGIN) // _SLOT) * _SLOT + _MARGIN

    def routed(self, bottom: float) -> Drawing:
        room = self.room()
        boxes = tuple(
            Box(place.node, room.left(place), place.y, room.widths[place.layer], place.height)
            for place in self.places.values()
            if place.node is not None
        )
        lines, lane = [], bottom + _GAP
        for number, chain in enumerate(self.chains):
            lane += _SLOT * chain.back
            points = self.points(chain, number, room, lane)
            end = points[-1]
            lines.append(Line(chain.edge, tuple(_straight(points)), (end[0] - 10, end[1] - 4)))
        return Drawing(room.end, lane + _GAP if self.back else bottom + _MARGIN, boxes, tuple(lines))

    def room(self) -> _Room:
        """Compute the positions of columns and of the tracks between them."""
        ports = self.ports()
        tracks = self.tracks(ports)
        widths = [max((self.width(place) for place in column), default=0.0) for column in self.columns]
        labels = [0.0] * (len(self.columns) + 1)
        for chain in self.chains:
            column = chain.places[-1].layer
            labels[column] = max(labels[column], len(chain.edge.label) * _CHARACTER + 6)
        x, lefts, starts = float(_MARGIN), [], []
        for column in range(len(self.columns) + 1):
            starts.append(x + _TRACK)
            count = max((number for (at, _, _), number in tracks.items() if at == column), default=-1) + 1
            x += (count + 1) * _TRACK + labels[column] + (_GAP if count else 0)
            if column < len(self.columns):
                lefts.append(x)
                x += widths[column]
        return _Room(ports, tracks, lefts, widths, starts, x)

    def points(self, chain: _Chain, number: int, room: _Room, lane: float) -> list[tuple[float, float]]:
        """Return the corners of a line. ``lane``: the y below all boxes at which it runs if it leads back."""
        first, last = chain.places[0], chain.places[-1]
        start = (room.right(first), room.ports[number, id(first), "right"])
        end = (room.left(last), room.ports[number, id(last), "left"])
        if chain.back:
            out, back = room.track(first.layer + 1, number, 0), room.track(last.layer, number, 1)
            return [start, (out, start[1]), (out, lane), (back, lane), (back, end[1]), end]
        points = [start]
        for before, after in pairwise(chain.places):
            track, y = room.track(after.layer, number, 0), room.ports[number, id(after), "left"]
            points += [(track, room.ports[number, id(before), "right"]), (track, y)]
            if after is not last:
                points.append((room.right(after), y))
        return [*points, end]

    def ports(self) -> dict[tuple[int, int, str], float]:
        """Return the y at which each chain leaves and enters each of its places.

        A line never leaves a column, or passes the next column, at the y of a line that enters the next column, so that
        no line runs along another: leaving, entering and passing lines use separate heights, and so do neighbouring
        columns.
        """
        numbers = {id(chain): number for number, chain in enumerate(self.chains)}
        found: dict[tuple[int, int, str], float] = {}
        for column in self.columns:
            for place in column:
                for side, chains in (("left", place.left), ("right", place.right)):
                    ordered = sorted(chains, key=lambda chain: self.other_end(chain, place, side == "left"))
                    top = place.y + (place.height - (len(ordered) - 1) * _SLOT) / 2
                    rest = _RESTS[side] if place.node is not None else _PASSING[place.layer % 2]
                    first = round((top - rest) / _SLOT) * _SLOT + rest
                    for at, chain in enumerate(ordered):
                        found[numbers[id(chain)], id(place), side] = first + at * _SLOT
        return found

    def other_end(self, chain: _Chain, place: _Place, left: bool) -> float:
        if chain.back:
            return float("inf")
        at = next(n for n, each in enumerate(chain.places) if each is place)
        near = (
            chain.places[at - 1]
            if any(c is chain for c in place.left) and at
            else chain.places[min(at + 1, len(chain.places) - 1)]
        )
        return near.y + near.height / 2

    def tracks(self, ports: dict[tuple[int, int, str], float]) -> dict[tuple[int, int, int], int]:
        """Return the track of each stretch of each chain, by the column before which it runs.

        The higher an upward line begins, the earlier it turns; a downward line turns later. This avoids crossings.
        """
        wanted: dict[int, list[tuple[tuple[int, float], int, int]]] = {}
        for number, chain in enumerate(self.chains):
            first, last = chain.places[0], chain.places[-1]
            if chain.back:
                wanted.setdefault(first.layer + 1, []).append(((0, -ports[number, id(first), "right"]), number, 0))
                wanted.setdefault(last.layer, []).append(((3, ports[number, id(last), "left"]), number, 1))
                continue
            for before, after in pairwise(chain.places):
                begin, end = ports[number, id(before), "right"], ports[number, id(after), "left"]
                key = (1, begin) if end < begin else (2, -begin)
                wanted.setdefault(after.layer, []).append((key, number, 0))
        return {
            (column, number, part): track
            for column, stretches in wanted.items()
            for track, (_, number, part) in enumerate(sorted(stretches))
        }

    def width(self, place: _Place) -> float:
        if place.node is None:
            return 0.0
        lines = max((len(line) * _CHARACTER for line in place.node.lines), default=0.0)
        return max(len(place.node.title) * _TITLE, lines) + 2 * _PADDING


def _straight(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return ``points`` without those that are not corners."""
    found: list[tuple[float, float]] = []
    for point in points:
        if found and point == found[-1]:
            continue
        if len(found) >= 2 and (found[-2][0] == found[-1][0] == point[0] or found[-2][1] == found[-1][1] == point[1]):
            found[-1] = point
        else:
            found.append(point)
    return found


def _settle(column: list[_Place], wanted: Sequence[float]) -> None:
    """Put places at their preferred positions, moved apart as little as possible to avoid overlap."""
    groups: list[tuple[float, list[int]]] = []  # a group: its preferred start, on average, and its members
    for at in range(len(column)):
        groups.append((wanted[at], [at]))
        while len(groups) > 1:
            (y0, first), (y1, second) = groups[-2:]
            height = sum(column[n].height + _GAP for n in first)
            if y0 + height <= y1:
                break
            merged = (y0 * len(first) + (y1 - height) * len(second)) / (len(first) + len(second))
            groups[-2:] = [(merged, first + second)]
    for y, members in groups:
        for at in members:
            column[at].y = y
            y += column[at].height + _GAP


# The column of each box in a diagram, and the lines that lead back.


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
