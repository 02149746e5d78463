"""The control of a stream: where the scan is, where its outputs are, and what of a window lies outside of the image.

The scan counts pixels that come in. The place of outputs follows some beats behind it: it begins anew when the scan has
come so far, and goes on over the begin of the next image. Between images, while no pixel comes, it is carried on
without one until the last output is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.kernels.forms.bits import Bit, Logic
from dais_verif.kernels.forms.raster import Axis, Raster
from dais_verif.program import Program

__all__ = ["Counter", "StreamControl", "control_of"]


@dataclass(frozen=True)
class Counter:
    """A register of control: its bits, what it holds at first, and whether only beats that come in move it."""

    width: int
    initial: int
    taken: bool


@dataclass(frozen=True)
class StreamControl:
    """``program``: inputs ``valid_in``, ``en`` and the counters; outputs ``names``, first what counters are next.

    Then ``take`` and ``go``, which enable counters and all else; ``valid_out``; and where ``outside`` says so, for an
    offset of columns or lines whether it lies outside of the image.
    """

    program: Program
    counters: dict[str, Counter]
    names: tuple[str, ...]
    outside: frozenset[str]


def control_of(raster: Raster) -> StreamControl:
    """Return the control of a raster."""
    x, y, delay = raster.x, raster.y, raster.delay
    wide, high = _width(x.size), _width(y.size)
    counters = {"column": Counter(wide, 0, True), "line": Counter(high, 0, True)}
    if delay:
        # At first they are where a stream of images without a pause has them when an image begins.
        line, column = divmod(raster.beats - delay, x.size)
        counters |= {
            "slot": Counter(wide, 0, False),
            "out_column": Counter(wide, column, False),
            "out_line": Counter(high, line, False),
            "pending": Counter(1, 0, False),
        }
    logic = Logic({"valid_in": 1, "en": 1, **{name: counter.width for name, counter in counters.items()}})
    following: dict[str, Bit] = {
        "column": logic.following("column", x.size),
        "line": _next_line(logic, "column", "line", raster),
    }
    step: Bit = "valid_in"
    giving: Bit = "valid_in"
    if delay:
        line, column = divmod(delay - 1, x.size)
        at_begin = logic.both(logic.equal("column", 0), logic.equal("line", 0))
        step = logic.either("valid_in", logic.both(at_begin, "pending"))
        start = logic.both("valid_in", logic.equal("column", column), logic.equal("line", line))
        final = logic.both(logic.equal("out_column", x.final), logic.equal("out_line", y.final))
        following["slot"] = logic.following("slot", x.size)
        for name, value, width in (
            ("out_column", logic.following("out_column", x.size), wide),
            ("out_line", _next_line(logic, "out_column", "out_line", raster), high),
        ):
            following[name] = logic.choice(start, logic.zero(), value, width)
        following["pending"] = logic.either(start, logic.both("pending", logic.inverse(final)))
        giving = logic.both(step, "pending")
    places = ("out_column", "out_line") if delay else ("column", "line")
    given = [logic.among(place, _given(axis)) for place, axis in zip(places, (x, y), strict=True)]
    outputs: list[tuple[str, Bit, int]] = [(name, value, counters[name].width) for name, value in following.items()]
    outputs += [
        ("take", logic.both("en", "valid_in"), 1),
        ("go", logic.both("en", step), 1),
        ("valid_out", logic.both(giving, *given), 1),
    ]
    edges = {
        f"{name}{offset}": _outside(logic, place, axis, offset)
        for place, axis, name in zip(places, (x, y), ("column", "line"), strict=True)
        for offset in range(axis.first, axis.last + 1)
    }
    outputs += [(name, bit, 1) for name, bit in edges.items() if bit is not False]
    names = tuple(name for name, *_ in outputs)
    program = logic.build([(f"next_{name}" if name in counters else name, bit, n) for name, bit, n in outputs])
    return StreamControl(program, counters, names, frozenset(name for name, bit in edges.items() if bit is not False))


def _width(size: int) -> int:
    return max((size - 1).bit_length(), 1)


def _next_line(logic: Logic, column: str, line: str, raster: Raster) -> str:
    end = logic.equal(column, raster.x.size - 1)
    return logic.choice(end, logic.following(line, raster.y.size), line, _width(raster.y.size))


def _given(axis: Axis) -> range:
    """The places of the scan at which outputs are given, if nothing of the other axis is in the way."""
    return range(axis.anchor, axis.final + 1, axis.stride)


def _outside(logic: Logic, place: str, axis: Axis, offset: int) -> Bit:
    """Whether what lies ``offset`` behind the origin of the window is outside of the image; False if it never is."""
    origin = axis.anchor - offset
    below = logic.less(place, origin) if offset < 0 else False
    reach = axis.stride * (axis.count - 1) + offset
    beyond = logic.inverse(logic.less(place, axis.size + origin)) if reach >= axis.size else False
    return logic.either(below, beyond)
