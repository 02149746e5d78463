"""The control of a stream: positions of the scan and of its outputs, and the part of a window outside the image.

The scan counts incoming pixels. The position of outputs trails it by a fixed number of beats: it restarts when the scan
is this number of beats into an image, and continues past the beginning of the next image. Between images, while no
pixel comes, it advances on its own until the last output is done.
"""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.kernels.blocks.builder import Value
from dais_verif.kernels.forms.logic import BIT, Logic, unsigned
from dais_verif.kernels.forms.raster import Axis, Raster
from dais_verif.program import FixedType, Program

__all__ = ["Counter", "StreamControl", "control_of"]


@dataclass(frozen=True)
class Counter:
    """A register of control: its type, its initial value, and whether it only changes with incoming beats."""

    type: FixedType
    initial: int
    taken: bool


@dataclass(frozen=True)
class StreamControl:
    """``program``: a block with inputs ``valid_in``, ``en`` and the counters, and outputs called ``names``.

    Outputs are first the next values of the counters; then ``take``, which enables the counters that only change with
    incoming beats, and ``go``, which enables everything else; ``valid_out``; and, for each offset in ``outside``,
    whether the column or line at this offset is outside of the image. ``shifting``: lines are shifted, and have no
    slots.
    """

    program: Program
    counters: dict[str, Counter]
    names: tuple[str, ...]
    outside: frozenset[str]
    shifting: bool = False


def control_of(raster: Raster, *, shifting: bool = False) -> StreamControl:
    """Return the control of a raster.

    ``shifting``: pixels move through all places of a line. Otherwise pixels stay, and a counter holds the
    place of the current pixel; the first place of a line moves with each image that advances without pixels.
    """
    x, y, delay = raster.x, raster.y, raster.delay
    wide, high = unsigned(x.size - 1), unsigned(y.size - 1)
    counters = {"column": Counter(wide, 0, True), "line": Counter(high, 0, True)}
    if delay:
        # Initial values are those at the beginning of an image, in a stream of images without pauses.
        line, column = divmod(raster.beats - delay, x.size)
        counters |= {
            **({} if shifting else {"slot": Counter(wide, 0, False)}),
            "out_column": Counter(wide, column, False),
            "out_line": Counter(high, line, False),
            "pending": Counter(BIT, 0, False),
        }
    b = Logic()
    valid, enable = b.input(BIT), b.input(BIT)
    now = {name: b.input(counter.type) for name, counter in counters.items()}
    following = {
        "column": b.following(now["column"], x.size),
        "line": _next_line(b, now["column"], now["line"], raster),
    }
    step = giving = valid
    if delay:
        line, column = divmod(delay - 1, x.size)
        at_begin = b.both(b.equal(now["column"], 0), b.equal(now["line"], 0))
        step = b.either(valid, b.both(at_begin, now["pending"]))
        start = b.both(valid, b.equal(now["column"], column), b.equal(now["line"], line))
        final = b.both(b.equal(now["out_column"], x.final), b.equal(now["out_line"], y.final))
        if not shifting:
            following["slot"] = b.following(now["slot"], x.size)
        for name, value in (
            ("out_column", b.following(now["out_column"], x.size)),
            ("out_line", _next_line(b, now["out_column"], now["out_line"], raster)),
        ):
            following[name] = b.choice(start, b.zero, value)
        following["pending"] = b.either(start, b.both(now["pending"], b.inverse(final)))
        giving = b.both(step, now["pending"])
    places = [now[f"out_{name}" if delay else name] for name in ("column", "line")]
    given = [b.among(place, _given(axis)) for place, axis in zip(places, (x, y), strict=True)]
    outputs = [(name, value, counters[name].type) for name, value in following.items()]
    outputs += [
        ("take", b.both(enable, valid), BIT),
        ("go", b.both(enable, step), BIT),
        ("valid_out", b.both(giving, *given), BIT),
    ]
    edges = {
        f"{name}{offset}": _outside(b, place, axis, offset)
        for place, axis, name in zip(places, (x, y), ("column", "line"), strict=True)
        for offset in range(axis.first, axis.last + 1)
    }
    outputs += [(name, bit, BIT) for name, bit in edges.items() if bit.hi]
    names = tuple(name for name, *_ in outputs)
    program = b.build_as([(value, kind) for _, value, kind in outputs])
    return StreamControl(program, counters, names, frozenset(name for name, bit in edges.items() if bit.hi), shifting)


def _next_line(b: Logic, column: Value, line: Value, raster: Raster) -> Value:
    end = b.equal(column, raster.x.size - 1)
    return b.choice(end, b.following(line, raster.y.size), line)


def _given(axis: Axis) -> range:
    """Return the places of the scan along ``axis`` at which outputs are given, if the other axis allows it."""
    return range(axis.anchor, axis.final + 1, axis.stride)


def _outside(b: Logic, place: Value, axis: Axis, offset: int) -> Value:
    """Return the bit that is 1 if the place at ``offset`` from the origin of the window is outside the image."""
    origin = axis.anchor - offset
    below = b.less(place, b.number(origin)) if offset < 0 else b.zero
    reach = axis.stride * (axis.count - 1) + offset
    beyond = b.inverse(b.less(place, b.number(axis.size + origin))) if reach >= axis.size else b.zero
    return b.either(below, beyond)
