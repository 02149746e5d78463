"""Random valid programs of every opcode, and exact vectors for them.

``random_program`` takes a plain seeded generator, so that a case of a long campaign is identified by a number. The
bounds of exact results are computed here from the semantics page, independently of range analysis.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from dais_verif.campaigns.fuzzing.generate.shapes import MIXED, Shape
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import QUANTS, RELUS, Code
from dais_verif.spec.program.types import type_of_interval

__all__ = ["random_program", "random_rows", "random_type"]

Row = tuple[int, int, int, int, tuple[int, int, int]]
Term = tuple[int, int, int]

#: Values with more bits are quantised before they are used.
_WIDEST = 140
#: A sum gets a random type if its exact number of fractional bits is beyond plus or minus this.
_FARTHEST = 400


class Exact(NamedTuple):
    """The bounds of an exact result: ``lo..hi`` in units of ``2**-f``."""

    lo: int
    hi: int
    f: int

    def shifted(self, s: int) -> Exact:
        return self._replace(f=self.f - s)

    def negated(self) -> Exact:
        return Exact(-self.hi, -self.lo, self.f)

    def aligned(self, f: int) -> Exact:
        return Exact(self.lo << (f - self.f), self.hi << (f - self.f), f)


def random_type(rng: random.Random, widest: int = 70) -> FixedType:
    """Return a type of any width, also with negative ``i`` or ``f``; small types are more frequent."""
    width = rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 11, 16, 31, 32, 33, rng.randint(0, widest)))
    if rng.random() < 0.03:
        width = rng.choice((61, 62, 63, 64, 65, 128, 200))
    k, f = rng.getrandbits(1), rng.randint(-6, 10)
    if rng.random() < 0.05:
        f = rng.choice((-80, -64, -33, 33, 64, 80))
    return FixedType(k, width - k - f, f)


def random_shift(rng: random.Random) -> int:
    return rng.choice((0, 0, 0, 1, -1, 2, -2, 3, -4, 5, rng.randint(-70, 70)))


def far_shift(rng: random.Random) -> int:
    """Return a shift that may be far beyond the range of any type."""
    return random_shift(rng) if rng.random() < 0.97 else rng.choice((-4096, -300, -64, 64, 300, 4096))


def random_program(
    rng: random.Random,
    n_ops: int = 12,
    *,
    promise_keeping: bool = False,
    tables: bool = True,
    widest: int = 70,
    alir: bool = False,
    shape: Shape = MIXED,
) -> Program:
    """Return a valid program of ``n_ops`` ops (at least 1). A smaller ``n_ops`` gives a prefix of the same ops.

    ``promise_keeping``: no input breaks a promise. ``tables=False`` leaves out op 8, so that every layout can express
    the program. ``alir``: also use sums and shifts, which no layout of DAIS can express.
    ``shape``: the shape of the graph.
    """
    builder = _Builder(rng, promise_keeping, tables, widest, alir, shape)
    for _ in range(n_ops):
        builder.add_op()
    return builder.program()


class _Builder:
    def __init__(self, rng: random.Random, keeping: bool, tables: bool, widest: int, alir: bool, shape: Shape) -> None:
        self.rng, self.keeping, self.widest, self.shape = rng, keeping, widest, shape
        self.n_in = rng.randint(*shape.inputs)
        self.inp_shift = [random_shift(rng) for _ in range(self.n_in)]
        self.rows: list[Row] = []
        self.types: list[FixedType] = []
        self.tables: list[list[int]] = []
        self.terms: list[Term] = []
        self.codes = [
            *_RULES,
            *((Code.LOOKUP, Code.LOOKUP) if tables else ()),
            *((*[Code.SUM] * 5, *[Code.SHIFT] * 2) if alir else ()),
        ]

    def add_op(self) -> None:
        rng = self.rng
        if self.shape.reads_input(rng, len(self.types), self.n_in):
            self.append(Code.INPUT, rng.randrange(self.n_in), -1, self.meaningless(), random_type(rng, self.widest))
            return
        code = rng.choice(self.codes)
        if code == Code.LOOKUP:
            self.lookup()
        elif code in (*RELUS, *QUANTS):
            self.append(code, self.pick(), -1, self.meaningless(), random_type(rng, self.widest))
        elif code == Code.SHIFT:
            self.append(code, self.pick(), -1, far_shift(rng), random_type(rng, self.widest))
        elif code == Code.SUM:
            self.sum()
        else:
            _RULES[code](self, code)

    def append(self, code: int, id0: int, id1: int, data: int, kind: FixedType) -> None:
        self.rows.append((code, id0, id1, data, kind))
        self.types.append(kind)

    def pick(self) -> int:
        """Return an earlier op, selected by the shape."""
        return self.shape.pick(self.rng, len(self.types))

    def value(self, index: int) -> Exact:
        kind = self.types[index]
        return Exact(kind.raw_min, kind.raw_max, kind.f)

    def meaningless(self) -> int:
        return 0 if self.rng.random() < 0.8 else self.rng.getrandbits(64) - (1 << 63)

    def promise(self, code: int, id0: int, id1: int, data: int, exact: Exact, *, k: int | None = None) -> None:
        """Append a promise op with exact result ``exact``, of a type that is wide enough, slightly wrong, or random."""
        rng = self.rng
        kind = type_of_interval(*exact)
        if kind.width > _WIDEST:
            self.append(Code.QUANT, self.pick(), -1, 0, random_type(rng, self.widest))
            return
        kind = FixedType(kind.k, kind.i + rng.choice((0, 0, 1, 3)), kind.f + rng.choice((0, 0, 0, 1, 4)))
        if k is None and not kind.k and rng.random() < 0.3:
            kind = kind._replace(k=1)
        if not self.keeping and rng.random() < 0.35:
            kind = self.spoilt(kind)
        self.append(code, id0, id1, data, kind if k is None else self.with_sign(kind, k))

    def spoilt(self, kind: FixedType) -> FixedType:
        """Return ``kind`` without a few bits at either end, or a random type."""
        rng = self.rng
        i, f = kind.i - rng.choice((0, 1, 2, 5)), kind.f - rng.choice((0, 1, 2, 5))
        narrow = FixedType(rng.choice((kind.k, 0, 1)), i, f)
        return narrow if narrow.width >= 0 and rng.random() < 0.8 else random_type(rng, self.widest)

    def with_sign(self, kind: FixedType, k: int) -> FixedType:
        """Return ``kind`` with signedness ``k``; an added sign does not reduce the other bits."""
        return kind._replace(k=k) if k + kind.i + kind.f >= 0 else FixedType(k, -k - kind.f, kind.f)

    def add(self, code: int) -> None:
        a, b, s = self.pick(), self.pick(), random_shift(self.rng)
        x, y = self.value(a), self.value(b).shifted(s)
        self.promise(code, a, b, s, _sum(x, y.negated() if code == Code.SUB else y))

    def sum(self) -> None:
        """Append a sum with any number of terms, possibly with repeated operands, and a constant anywhere or alone."""
        rng, data = self.rng, 0
        count = rng.choice((1, 1, 2, 2, 3, 3, 3, 4, 6, rng.randint(5, 12)))
        terms = [(self.pick(), far_shift(rng), rng.getrandbits(1)) for _ in range(count)]
        if rng.random() < 0.2:  # the same operand twice, which may cancel
            terms.append((terms[0][0], terms[0][1], rng.getrandbits(1)))
        if rng.random() < 0.3:
            data = rng.choice((0, 1, -1, 5, -8, rng.randint(-1000, 1000), rng.getrandbits(64) - (1 << 63)))
            place = rng.randint(0, len(terms))
            terms[place : place + rng.getrandbits(1)] = [(-1, far_shift(rng), 0)]
        total = Exact(0, 0, 0)
        for op, shift, negative in terms:
            value = (self.value(op) if op >= 0 else Exact(data, data, 0)).shifted(shift)
            if value.lo or value.hi:
                value = value.negated() if negative else value
                total = value if total.lo == total.hi == 0 else _sum(total, value)
        too_wide = type_of_interval(*total).width > _WIDEST or abs(total.f) > _FARTHEST
        if too_wide and self.keeping:
            self.append(Code.SHIFT, self.pick(), -1, far_shift(rng), random_type(rng, self.widest))
            return
        first = len(self.terms)
        self.terms += terms
        if too_wide or total.lo == total.hi == 0:
            self.append(Code.SUM, first, len(terms), data, random_type(rng, self.widest))
        else:
            self.promise(Code.SUM, first, len(terms), data, total)

    def add_const(self, code: int) -> None:
        # The unit of the data word is the op's own 2**-f, so f is chosen first and must not change.
        rng, a = self.rng, self.pick()
        data = rng.choice((0, 1, -1, 5, -8, rng.randint(-1000, 1000), rng.getrandbits(64) - (1 << 63)))
        f = max(self.types[a].f, self.types[a].f + rng.choice((0, 0, 2)))
        exact = _sum(self.value(a), Exact(data, data, f))
        kind = type_of_interval(*exact)
        if exact.lo == exact.hi == 0:
            kind = FixedType(0, -f, f)
        if kind.width > _WIDEST or (not self.keeping and rng.random() < 0.3):
            kind = random_type(rng, self.widest)
            data = 0 if self.keeping else data
        if self.keeping and data == 0 and kind.f != f:
            self.append(Code.QUANT, a, -1, 0, kind)
        else:
            self.append(code, a, -1, data, kind)

    def const(self, code: int) -> None:
        rng, f = self.rng, self.rng.randint(-8, 8)
        data = rng.choice((0, 1, -1, 7, -8, rng.randint(-1000, 1000), rng.getrandbits(64) - (1 << 63)))
        kind = type_of_interval(data, data, f) if self.keeping or rng.random() < 0.8 else random_type(rng, self.widest)
        self.append(code, -1, -1, data, kind)

    def mux(self, code: int) -> None:
        s = random_shift(self.rng)
        data = s << 32 | self.pick()
        self.append(code, self.pick(), self.pick(), data, random_type(self.rng, self.widest))

    def mul(self, code: int) -> None:
        a, b = self.pick(), self.pick()
        x, y = self.value(a), self.value(b)
        products = [p * q for p in x[:2] for q in y[:2]]
        if max(p.bit_length() for p in products) > _WIDEST:
            b = a = min(range(len(self.types)), key=lambda j: self.types[j].width)
            x = y = self.value(a)
            products = [p * q for p in x[:2] for q in y[:2]]
        self.promise(code, a, b, self.meaningless(), Exact(min(products), max(products), x.f + y.f))

    def lookup(self) -> None:
        """Append a lookup in a table that covers the operand or, unless promises are kept, a part of it or nothing."""
        rng = self.rng
        small = [j for j, kind in enumerate(self.types) if kind.width <= (5 if self.keeping else 9)]
        if not small:
            self.append(Code.QUANT, self.pick(), -1, 0, FixedType(rng.getrandbits(1), 2, 0))
            return
        a = rng.choice(small)
        width, kind = self.types[a].width, random_type(rng, self.widest)
        lo, hi = max(kind.raw_min, -(1 << 31)), min(kind.raw_max, (1 << 31) - 1)
        size, offset = 1 << width, 0
        if (not self.keeping and rng.random() < 0.5) or size > 64:
            size, offset = rng.randint(0, 20), rng.randint(-3, 6)
        if self.tables and rng.random() < 0.3 and not self.keeping:
            number = rng.randrange(len(self.tables))
            table = self.tables[number]
            if all(kind.raw_min <= entry <= kind.raw_max for entry in table):
                self.append(Code.LOOKUP, a, -1, offset << 32 | number, kind)
                return
        self.tables.append([rng.choice((lo, hi, rng.randint(lo, hi))) for _ in range(size)])
        self.append(Code.LOOKUP, a, -1, offset << 32 | len(self.tables) - 1, kind)

    def bit_unary(self, code: int) -> None:
        a, data, k = self.pick(), self.rng.randrange(3), self.rng.getrandbits(1)
        if data:
            self.promise(code, a, -1, data, Exact(0, 1, 0))
            return
        t = self.value(a).negated() if code == Code.BIT_UNARY_NEG else self.value(a)
        if k:
            self.promise(code, a, -1, 0, Exact(-t.hi - 1, -t.lo - 1, t.f), k=1)
        else:
            self.promise(code, a, -1, 0, Exact(0, (1 << self.types[a].width) - 1, t.f), k=0)

    def bit_binary(self, code: int) -> None:
        rng, a, b = self.rng, self.pick(), self.pick()
        s, negate_a, negate_b = random_shift(rng), rng.getrandbits(1), rng.getrandbits(1)
        data = rng.randrange(3) << 56 | negate_b << 33 | negate_a << 32 | s & 0xFFFF_FFFF
        x, y = self.value(a), self.value(b).shifted(s)
        x, y = x.negated() if negate_a else x, y.negated() if negate_b else y
        f = max(x.f, y.f)
        ends = (*x.aligned(f)[:2], *y.aligned(f)[:2])
        top = 1 << max((v if v >= 0 else -1 - v).bit_length() for v in ends)
        self.promise(code, a, b, data, Exact(-top if min(ends) < 0 else 0, top - 1, f))

    def program(self) -> Program:
        rng, n_ops = self.rng, len(self.rows)
        outputs = []
        for _ in range(rng.randint(1, 4)):
            index = rng.choice((-1, n_ops - 1, rng.randrange(n_ops), rng.randrange(n_ops), rng.randrange(n_ops)))
            outputs.append((index, random_shift(rng), rng.getrandbits(1)))
        return Program.build(self.rows, outputs, inp_shift=self.inp_shift, tables=self.tables, terms=self.terms)


def _sum(a: Exact, b: Exact) -> Exact:
    f = max(a.f, b.f)
    a, b = a.aligned(f), b.aligned(f)
    return Exact(a.lo + b.lo, a.hi + b.hi, f)


_RULES: dict[int, Callable[[_Builder, int], None]] = {
    Code.ADD: _Builder.add,
    Code.SUB: _Builder.add,
    Code.RELU: lambda builder, code: None,
    Code.RELU_NEG: lambda builder, code: None,
    Code.QUANT: lambda builder, code: None,
    Code.QUANT_NEG: lambda builder, code: None,
    Code.ADD_CONST: _Builder.add_const,
    Code.CONST: _Builder.const,
    Code.MUX: _Builder.mux,
    Code.MUX_NEG: _Builder.mux,
    Code.MUL: _Builder.mul,
    Code.BIT_UNARY: _Builder.bit_unary,
    Code.BIT_UNARY_NEG: _Builder.bit_unary,
    Code.BIT_BINARY: _Builder.bit_binary,
}


def random_rows(rng: random.Random, program: Program, rows: int = 8) -> list[list[Any]]:
    """Return ``rows`` exact vectors with numbers at limits, in range, between grid points, out of range, tiny, huge."""
    readers: dict[int, list[FixedType]] = {}
    for op in program.ops:
        if op.code == Code.INPUT:
            readers.setdefault(op.id0, []).append(op.type)
    shifts = program.inp_shift.tolist()
    return [[_number(rng, readers.get(j), shifts[j]) for j in range(program.n_in)] for _ in range(rows)]


def _number(rng: random.Random, readers: list[FixedType] | None, shift: int) -> Any:
    if not readers or rng.random() < 0.05:
        return rng.choice((0, 1, -1, 0.5, -0.75, 1e300, -5e-324, 1 << 100, -(1 << 70), Fraction(-3, 1 << 90)))
    kind = rng.choice(readers)
    raw = rng.choice((kind.raw_min, kind.raw_max, 0, 1, -1, rng.randint(kind.raw_min, kind.raw_max)))
    if rng.random() < 0.2:
        raw += rng.choice((-1, 1, 1 << kind.width, -(1 << kind.width) - 1))
    quarters = 4 * raw + rng.choice((0, 0, 0, 1, 2, 3))
    value = quarters * Fraction(2) ** (-kind.f - 2 - shift)
    if rng.random() < 0.3 and abs(value) < 1 << 1000 and value == float(value):
        return float(value)
    return int(value) if value.denominator == 1 else value
