"""The control of a stream: positions of the scan and of its outputs, and the part of a window outside the image.

The scan counts incoming pixels. The position of outputs trails it by a fixed number of beats: it restarts when the scan
is this number of beats into an image, and continues past the beginning of the next image. Between images, while no
pixel comes, it advances on its own until the last output is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dais_verif.compile.kernels.blocks import BlockBuilder, Value
from dais_verif.compile.kernels.forms.raster import Axis, Raster
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import Code

__all__ = ["BIT", "Counter", "Logic", "StreamControl", "control_of", "unsigned"]


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


# Bits, counters and comparisons of a block of control; constants need no ops.


#: The type of a bit.
BIT = FixedType(0, 1, 0)


def unsigned(most: int) -> FixedType:
    """Return the unsigned type of the numbers 0 to ``most``, of one bit at least."""
    return FixedType(0, max(most.bit_length(), 1), 0)


class Logic(BlockBuilder):
    """Blocks with bits: values that are 0 or 1; a constant bit has ``lo == hi``.

    AND and OR of two bits are muxes, so that in a proof in which the first bit is known, the result is the other bit or
    a constant.
    """

    @property
    def zero(self) -> Value:
        """The number 0."""
        return Value()

    @property
    def one(self) -> Value:
        """The number 1."""
        return self.constant(1, 0)

    def number(self, value: int) -> Value:
        """Return the constant ``value``."""
        return self.constant(value, 0)

    def choice(self, bit: Value, a: Value, b: Value) -> Value:
        """Return ``a`` if ``bit`` is 1, else ``b``."""
        if bit.lo == bit.hi:
            return a if bit.lo else b
        # The highest bit of a type of one bit is that bit.
        return self.select(bit, a, b)

    def both(self, *bits: Value) -> Value:
        """Return the AND of all bits."""
        found = self.one
        for bit in bits:
            if not bit.lo:
                found = self.choice(found, bit, self.zero) if bit.hi else self.zero
        return found

    def either(self, a: Value, b: Value) -> Value:
        """Return the OR of two bits."""
        return (self.one if b.lo else a) if b.lo == b.hi else self.choice(a, self.one, b)

    def inverse(self, bit: Value) -> Value:
        """Return the NOT of a bit."""
        return self.choice(bit, self.zero, self.one)

    def less(self, a: Value, b: Value) -> Value:
        """Return the bit ``a < b``."""
        difference = self.add(a, -b)
        lo, hi = difference.signed
        if lo >= 0:
            return self.zero
        if hi < 0:
            return self.one
        if difference.negative:
            difference = self.cast(difference, difference.type)
        return self.select(difference, self.one, self.zero)

    def equal(self, counter: Value, number: int) -> Value:
        """Return the bit that is 1 if an unsigned integer equals a number."""
        return self.inverse(self.some_bit(self.add(counter, -self.number(number))))

    def some_bit(self, value: Value) -> Value:
        """Return the bit that is 1 if an integer is not 0."""
        lo, hi = value.signed
        if lo == hi or lo > 0 or hi < 0:
            return self.number(int(lo != 0 or hi != 0))
        return self._add(Code.BIT_UNARY, value.op or 0, -1, 1, 0, 1, 0)

    def among(self, counter: Value, numbers: Sequence[int]) -> Value:
        """Return the bit that is 1 if an unsigned integer is in ``numbers``, which are ascending.

        It is a table, or comparisons if the numbers are consecutive.
        """
        first, last = numbers[0], numbers[-1]
        if last - first == len(numbers) - 1:
            return self.both(
                self.inverse(self.less(counter, self.number(first))), self.less(counter, self.number(last + 1))
            )
        return self.table(counter, [int(at in numbers) for at in range(counter.hi + 1)])

    def table(self, counter: Value, entries: Sequence[int]) -> Value:
        """Return the entry of ``entries`` at an unsigned integer; beyond their end, the first entry."""
        if len(set(entries)) == 1:
            return self.number(entries[0])
        lo, hi = min(entries), max(entries)
        result = unsigned(hi) if lo >= 0 else FixedType(1, max(hi.bit_length(), (-lo - 1).bit_length()), 0)
        padded = [*entries, *[entries[0]] * (counter.hi + 1 - len(entries))]
        return self.lookup(counter, unsigned(counter.hi), padded, result)

    def following(self, counter: Value, size: int) -> Value:
        """Return the successor of an unsigned integer: one more, and 0 after ``size - 1``."""
        if size == 1:
            return self.zero
        more = self.cast(self.add(counter, self.one), counter.type)
        return self.choice(self.equal(counter, size - 1), self.zero, more)

    def build_as(self, outputs: Sequence[tuple[Value, FixedType]]) -> Program:
        """Return the program with these outputs, each in the given type, which must hold its values."""
        return self.build([self.cast(value, kind) if value.type != kind else value for value, kind in outputs])
