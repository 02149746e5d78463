"""The normal form of terms changes no value; NumPy and the solver evaluate terms as a plain computation does."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import z3

from dais_verif.prover import terms as T
from dais_verif.prover.solve.export import script
from dais_verif.prover.solve.smt import satisfy
from dais_verif.prover.terms import Term, const, eq, nodes, rebuild, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.prover.terms.node import BUILD

Values = dict[str, int]
Value = Callable[[Values], int]


def signed(value: int, width: int) -> int:
    return value - (1 << width) if width and value >> (width - 1) else value


class Grown:
    """A random term, and its value computed without any rule of the package."""

    def __init__(self, rng: random.Random, widest: int) -> None:
        self.rng, self.widest = rng, widest
        self.names = {f"x{n}": rng.randint(1, widest) for n in range(3)}

    def leaf(self, width: int) -> tuple[Term, Value]:
        rng = self.rng
        fitting = [name for name, w in self.names.items() if w == width]
        if fitting and rng.random() < 0.8:
            name = rng.choice(fitting)
            return var(width, name), lambda v: v[name]
        if rng.random() < 0.6:
            name = rng.choice(list(self.names))
            w = self.names[name]
            if w >= width:
                low = rng.choice((0, w - width, rng.randint(0, w - width)))
                return T.extract(var(w, name), low, width), lambda v: v[name] >> low & ((1 << width) - 1)
            return T.sext(var(w, name), width), lambda v: signed(v[name], w) % (1 << width)
        value = rng.choice((0, 1, (1 << width) - 1, 1 << (width - 1), rng.getrandbits(width)))
        return const(width, value), lambda v: value

    def term(self, width: int, depth: int) -> tuple[Term, Value]:
        if depth == 0:
            return self.leaf(width)
        rng = self.rng
        full = (1 << width) - 1
        kind = rng.choice(KINDS)
        if kind in ("add", "sub", "mul", "and", "or", "xor", "udiv", "urem", "shl", "lshr", "ashr"):
            (a, x), (b, y) = self.term(width, depth - 1), self.term(width, depth - 1)
            build = {"and": T.band, "or": T.bor, "xor": T.bxor}.get(kind) or getattr(T, kind)
            return build(a, b), lambda v: ARITHMETIC[kind](x(v), y(v), width) & full
        if kind in ("neg", "not"):
            a, x = self.term(width, depth - 1)
            return (T.neg if kind == "neg" else T.bnot)(a), lambda v: (-x(v) - (kind == "not")) & full
        if kind == "concat" and width > 1:
            cut = rng.randint(1, width - 1)
            (a, x), (b, y) = self.term(width - cut, depth - 1), self.term(cut, depth - 1)
            if rng.random() < 0.4:
                a, x = const(width - cut, 0), lambda v: 0
            elif rng.random() < 0.3:
                a = T.sext(T.top_bit(b), width - cut)
                return T.concat(a, b), lambda v: signed(y(v), cut) & full
            return T.concat(a, b), lambda v: x(v) << cut | y(v)
        if kind == "halves" and width > 1:
            return self.halves(width, depth)
        if kind == "extract":
            wide = width + rng.randint(0, 6)
            low = rng.choice((0, wide - width, rng.randint(0, wide - width)))
            a, x = self.term(wide, depth - 1)
            return T.extract(a, low, width), lambda v: x(v) >> low & full
        if kind in ("sext", "zext") and width > 1:
            narrow = rng.randint(1, width - 1)
            a, x = self.term(narrow, depth - 1)
            if kind == "zext":
                return T.zext(a, width), x
            return T.sext(a, width), lambda v: signed(x(v), narrow) & full
        if kind == "ite":
            (c, p), (a, x), (b, y) = self.term(1, depth - 1), self.term(width, depth - 1), self.term(width, depth - 1)
            return T.ite(c, a, b), lambda v: x(v) if p(v) else y(v)
        if kind == "lookup":
            w = rng.randint(1, 4)
            i, p = self.term(w, depth - 1)
            entries = [rng.getrandbits(width) for _ in range(rng.randint(1, 18))]
            return T.lookup(i, entries, width), lambda v: entries[p(v)] if p(v) < len(entries) else 0
        if kind in ("eq", "ult", "slt") and width == 1:
            w = rng.randint(1, self.widest)
            (a, x), (b, y) = self.term(w, depth - 1), self.term(w, depth - 1)
            return getattr(T, kind)(a, b), lambda v: COMPARISONS[kind](x(v), y(v), w)
        return self.term(width, depth - 1)

    def halves(self, width: int, depth: int) -> tuple[Term, Value]:
        """Return a sum in the form of adders that copy or negate the low bits of one operand, or a similar term."""
        rng = self.rng
        cut = rng.randint(1, width - 1)
        up = width - cut
        x, p = self.leaf(width)
        if rng.random() < 0.5:
            narrow = rng.randint(1, width)
            x, q = self.leaf(narrow)
            p = (lambda v: signed(q(v), narrow) % (1 << width)) if (signs := rng.random() < 0.5) else q
            x = T.sext(x, width) if signs else T.zext(x, width)
        start = cut if rng.random() < 0.8 else rng.randint(0, cut)
        below = 0 if rng.random() < 0.8 else rng.randint(0, width - cut)
        y, r = self.term(up, depth - 1)
        minus = rng.random() < 0.5
        borrow = minus and rng.random() < 0.8
        upper, lower = T.extract(x, start, up), T.extract(x, below, cut)
        parts = [T.neg(upper) if minus else upper, y]
        if borrow:
            parts.append(T.neg(T.zext(T.nonzero(lower), up)))
        low = T.neg(lower) if minus and rng.random() < 0.9 else lower
        turned = low is not lower or (minus and cut == 1)

        def value(v: Values) -> int:
            above, under = p(v) >> start, p(v) >> below & ((1 << cut) - 1)
            total = (-above if minus else above) + r(v) - (borrow and under != 0)
            return (total << cut | (-under if turned else under) & ((1 << cut) - 1)) & ((1 << width) - 1)

        return T.concat(T.add(*parts), low), value


#: Kinds that are most likely to break a rule are listed twice.
KINDS = [
    *("add", "sub", "neg", "mul", "udiv", "urem", "and", "or", "xor", "not", "shl", "lshr", "ashr"),
    *("concat", "extract", "sext", "zext", "ite", "eq", "ult", "slt", "lookup"),
    *("add", "neg", "sext", "zext", "concat", "extract", "halves", "halves"),
]

ARITHMETIC: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "udiv": lambda a, b, w: a // b if b else -1,
    "urem": lambda a, b, w: a % b if b else a,
    "shl": lambda a, b, w: a << b if b < w else 0,
    "lshr": lambda a, b, w: a >> b if b < w else 0,
    "ashr": lambda a, b, w: signed(a, w) >> min(b, w),
}
COMPARISONS: dict[str, Callable[[int, int, int], int]] = {
    "eq": lambda a, b, w: int(a == b),
    "ult": lambda a, b, w: int(a < b),
    "slt": lambda a, b, w: int(signed(a, w) < signed(b, w)),
}


def some_values(rng: random.Random, names: dict[str, int]) -> Values:
    return {
        name: rng.choice((0, 1, (1 << w) - 1, 1 << (w - 1), rng.getrandbits(w), rng.getrandbits(w)))
        for name, w in names.items()
    }


def campaign(seed: int, count: int) -> set[str]:
    rng = random.Random(seed)
    seen: set[str] = set()
    for _ in range(count):
        grown = Grown(rng, rng.choice((3, 6, 12, 40, 70)))
        term, value = grown.term(rng.randint(1, grown.widest), rng.randint(1, 5))
        seen |= {t.op for t in nodes(term)}
        rows = [some_values(rng, grown.names) for _ in range(12)]
        given = {var(w, name): np.array([row[name] for row in rows], dtype=object) for name, w in grown.names.items()}
        (found,) = evaluate([term], given)
        wanted = [value(row) for row in rows]
        assert [int(x) for x in np.broadcast_to(found, (12,))] == wanted, term
        assert rebuild(term, {}) is term, "a normal form is one"
    return seen


OPERATIONS = set(BUILD) - {"undefined"}


def test_no_rule_changes_a_value() -> None:
    assert campaign(1, 4_000) == OPERATIONS


@pytest.mark.slow
def test_no_rule_changes_a_value_of_many() -> None:
    assert campaign(2, 300_000) == OPERATIONS


def test_the_solver_reads_terms_as_numpy_does() -> None:
    rng = random.Random(3)
    seen: set[str] = set()
    for _ in range(400):
        grown = Grown(rng, rng.choice((3, 6, 12, 70)))
        term, value = grown.term(rng.randint(1, grown.widest), rng.randint(1, 4))
        seen |= {t.op for t in nodes(term)}
        row = some_values(rng, grown.names)
        fixed = [eq(var(w, name), const(w, row[name])) for name, w in grown.names.items()]
        assert satisfy([*fixed, eq(term, const(term.width, value(row)))], 10).verdict == "sat", term
        assert satisfy([*fixed, T.bnot(eq(term, const(term.width, value(row))))], 10).verdict == "unsat", term
    assert seen >= OPERATIONS - {"udiv", "urem"}


def test_terms_as_they_are_written_and_their_smt_lib() -> None:
    """Without any rule, a term has the same value, and z3, which reads its SMT-LIB text, agrees."""
    rng = random.Random(4)
    seen: set[str] = set()
    for number in range(600):
        grown = Grown(rng, rng.choice((3, 6, 12, 70)))
        with T.as_written():
            term, value = grown.term(rng.randint(1, grown.widest), rng.randint(1, 4))
        seen |= {t.op for t in nodes(term)}
        row = some_values(rng, grown.names)
        given = {var(w, name): np.array([row[name]], dtype=object) for name, w in grown.names.items()}
        (found,) = evaluate([term], given)
        assert int(found[0]) == value(row), term
        if number % 6 == 0:
            fixed = [eq(var(w, name), const(w, row[name])) for name, w in grown.names.items()]
            for wanted, answer in ((value(row), "unsat"), (value(row) ^ 1, "sat")):
                solver = z3.Solver()
                solver.add(z3.parse_smt2_string(script(term, const(term.width, wanted), fixed)))
                assert str(solver.check()) == answer, term
    assert seen >= OPERATIONS


def test_nothing_is_rewritten_where_terms_stay_as_they_are_written() -> None:
    x, zero = var(4, "x"), const(4, 0)
    with T.as_written():
        assert [t.op for t in (T.add(x, zero), T.neg(T.neg(x)), T.band(x, x), T.ite(const(1, 1), x, x))] == [
            "add",
            "neg",
            "and",
            "ite",
        ]
        assert T.extract(T.concat(x, x), 0, 4) is not x
        assert T.add(const(4, 3), const(4, 5)) is const(4, 8), "constants are computed: widths and indices are"
    assert T.add(x, zero) is x


def test_a_model_is_one() -> None:
    x, y = var(8, "x"), var(8, "y")
    answer = satisfy([eq(T.mul(x, y), const(8, 77)), T.ult(const(8, 1), x), T.ult(x, const(8, 70))], 10)
    assert answer.verdict == "sat"
    assert answer.model[x] * answer.model[y] % 256 == 77 and 1 < answer.model[x] < 70


@pytest.mark.parametrize("width", [1, 4, 9])
def test_equal_sums_are_one_object(width: int) -> None:
    a, b = var(width, "a"), var(width, "b")
    one = const(width, 1)
    assert T.add(a, b) is T.add(b, a)
    assert T.sub(T.add(a, b), b) is a
    assert T.add(T.bnot(a), one) is T.neg(a)
    assert T.sub(T.neg(a), one) is T.bnot(a)
    assert T.add(a, a) is T.mul(a, const(width, 2))
    assert T.add(a, a) is T.shl(a, const(4, 1))


def test_what_is_doubled_out_of_a_word_is_no_part_of_a_sum() -> None:
    a, b, c = var(1, "a"), var(1, "b"), var(4, "c")
    twice = [T.concat(T.add(a, b), const(3, 0))] * 2
    assert T.add(*twice) is const(4, 0)
    assert T.add(*twice, c) is c


#: Terms that look like sums in two halves or like a negated shifted value, but have another value.
NO_HALVES: dict[str, tuple[Callable[..., Term], Callable[..., int]]] = {
    "minus a value above other bits": (
        lambda a, b: T.add(b, T.concat(T.neg(T.extract(a, 0, 6)), const(2, 2))),
        lambda a, b: b + ((-a << 2) | 2),
    ),
    "minus a value above others and zeros": (
        lambda a, b: T.add(b, T.concat(T.neg(T.extract(a, 0, 3)), T.extract(b, 0, 3), const(2, 0))),
        lambda a, b: b + ((-a % 8 << 5) | (b % 8 << 2)),
    ),
    "a borrow, and low bits that are not negated": (
        lambda a, b: T.concat(
            T.add(b, T.neg(T.extract(T.sext(a, 10), 2, 8)), T.neg(T.zext(T.nonzero(T.extract(a, 0, 2)), 8))),
            T.extract(a, 0, 2),
        ),
        lambda a, b: ((b - (signed(a, 8) >> 2) - (a % 4 != 0)) << 2) | a % 4,
    ),
    "low bits that are negated, and no borrow": (
        lambda a, b: T.concat(T.add(b, T.neg(T.extract(T.sext(a, 10), 2, 8))), T.neg(T.extract(a, 0, 2))),
        lambda a, b: ((b - (signed(a, 8) >> 2)) << 2) | -a % 4,
    ),
    "low bits of another value": (
        lambda a, b: T.concat(T.add(b, T.extract(T.sext(a, 10), 2, 8)), T.extract(b, 0, 2)),
        lambda a, b: ((b + (signed(a, 8) >> 2)) << 2) | b % 4,
    ),
    "a part of a sum above other ones than zeros": (
        lambda a, b: T.extract(T.add(a, T.concat(T.extract(b, 0, 6), const(2, 3))), 2, 6),
        lambda a, b: (a + (b << 2 | 3)) % 256 >> 2,
    ),
}


@pytest.mark.parametrize("name", NO_HALVES)
def test_what_is_much_like_a_sum_in_halves_keeps_its_value(name: str) -> None:
    build, value = NO_HALVES[name]
    term = build(var(8, "a"), var(8, "b"))
    rows = [(x, y) for x in (*range(9), 63, 64, 127, 128, 200, 252, 255) for y in (0, 1, 2, 3, 85, 128, 254, 255)]
    given = {var(8, name): np.array([row[n] for row in rows], dtype=object) for n, name in enumerate("ab")}
    (found,) = evaluate([term], given)
    assert [int(x) for x in found] == [value(*row) % (1 << term.width) for row in rows]


def test_sums_that_cannot_overflow_are_one_in_any_width() -> None:
    a, b = var(8, "a"), var(8, "b")
    narrow = T.sext(T.add(T.sext(a, 9), T.sext(b, 9)), 14)
    assert narrow is T.add(T.sext(a, 14), T.sext(b, 14))
    unsigned = T.zext(T.add(T.zext(a, 9), T.zext(b, 9)), 14)
    assert unsigned is T.add(T.zext(a, 14), T.zext(b, 14))
    assert T.sext(T.add(a, b), 9) is not T.add(T.sext(a, 9), T.sext(b, 9)), "this one can"
    product = T.mul(T.sext(a, 16), T.zext(b, 16))
    assert T.extract(T.mul(T.sext(a, 40), T.zext(b, 40)), 0, 16) is product


def test_replicated_signs_are_sign_extensions() -> None:
    a = var(6, "a")
    sign = T.extract(a, 5, 1)
    assert T.concat(sign, sign, sign, a) is T.sext(a, 9)
    assert T.concat(T.extract(a, 3, 3), T.extract(a, 0, 3)) is a
    assert T.band(T.sext(a, 9), const(9, 63)) is T.zext(a, 9)


def test_what_is_undefined_is_the_same_for_the_same_reason_only() -> None:
    i, j = var(4, "i"), var(4, "j")
    assert T.undefined(8, "a word", i) is T.undefined(8, "a word", i)
    assert T.undefined(8, "a word", i) is not T.undefined(8, "a word", j)
