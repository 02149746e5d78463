"""Blocks as programs: values are exact, in the smallest types that cannot overflow, and are computed only once."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from support.said import raises

from dais_verif.base.errors import ProgramError
from dais_verif.compile.kernels.blocks import BlockBuilder, Value, digits_of, dot, scaled
from dais_verif.golden.oracle import evaluate
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import SUMS
from dais_verif.spec.program.ranges import PromiseStatus, analyse

S4 = FixedType(1, 3, 0)


def quantised(value: Fraction, kind: FixedType) -> Fraction:
    """Return ``value`` in another type: floored, and high bits cut off."""
    raw = (value * 2**kind.f).__floor__() % (1 << kind.width)
    return Fraction(raw - (1 << kind.width if kind.k and raw > kind.raw_max else 0)) / 2**kind.f


def sums(program: Program) -> int:
    return sum(op.code in SUMS for op in program.ops)


class TestExpressions:
    @given(st.randoms(use_true_random=False))
    def test_random_expressions_are_exact_and_cannot_overflow(self, rng: random.Random) -> None:
        builder = BlockBuilder()
        kinds = [FixedType(rng.randint(0, 1), rng.randint(0, 3), rng.randint(0, 2)) for _ in range(3)]
        given = [Fraction(rng.randint(kind.raw_min, kind.raw_max)) / Fraction(2) ** kind.f for kind in kinds]
        known: list[tuple[Value, Fraction]] = [(builder.input(kind), x) for kind, x in zip(kinds, given, strict=True)]
        constant = rng.randint(-9, 9)
        known.append((builder.constant(constant, 1), Fraction(constant, 2)))
        for _ in range(rng.randint(1, 9)):
            (a, x), (b, y) = rng.choice(known), rng.choice(known)
            kind = FixedType(rng.randint(0, 1), rng.randint(0, 3), rng.randint(0, 2))
            n = rng.randint(-3, 3)
            known.append(
                rng.choice(
                    [
                        lambda a=a, b=b, x=x, y=y: (builder.add(a, b), x + y),
                        lambda a=a, b=b, x=x, y=y: (builder.add(a, -b), x - y),
                        lambda a=a, b=b, x=x, y=y: (builder.multiply(a, b), x * y),
                        lambda a=a, x=x: (builder.relu(a), max(x, Fraction(0))),
                        lambda a=a, b=b, x=x, y=y: (builder.maximum(a, b), max(x, y)),
                        lambda a=a, b=b, x=x, y=y: (builder.minimum(a, b), min(x, y)),
                        lambda a=a, x=x, n=n: (builder.at_most(a, builder.constant(n, 1)), min(x, Fraction(n, 2))),
                        lambda a=a, x=x, n=n: (a << n, x * Fraction(2) ** n),
                        lambda a=a, x=x: (-a, -x),
                        lambda a=a, x=x, kind=kind: (builder.cast(a, kind), quantised(x, kind)),
                    ]
                )()
            )
        program = builder.build([value for value, _ in known])
        assert evaluate(program, given) == [x for _, x in known]
        assert analyse(program).worst is PromiseStatus.SAFE
        for (value, x), kind in zip(known, program.output_types, strict=True):
            lo, hi = value.signed
            assert lo <= x * Fraction(2) ** (value.f - value.shift) <= hi
            assert value.op is None or (kind.raw_min <= x * Fraction(2) ** kind.f <= kind.raw_max)

    def test_a_cast_has_the_type_that_is_asked_for(self) -> None:
        builder = BlockBuilder()
        x = builder.input(S4)
        kinds = [FixedType(1, 2, 1), FixedType(0, 6, 3), FixedType(1, 1, -1)]
        values = [builder.cast(one, kind) for kind in kinds for one in (x, x << 2, -(x << -1), Value())]
        assert builder.build(values).output_types == tuple(kind for kind in kinds for _ in range(4))

    def test_a_type_ends_with_the_limit(self) -> None:
        builder = BlockBuilder()
        x = builder.input(FixedType(1, 12, 2))
        assert builder.at_most(builder.relu(x), builder.constant(6, 0)).type == FixedType(0, 3, 2)
        assert builder.at_most(x, builder.constant(1 << 12, 0)) == x
        assert builder.at_most(x, builder.constant(-(1 << 13), 0)).type == FixedType(1, 13, 0)

    def test_a_constant_that_no_op_holds(self) -> None:
        with raises(ProgramError):
            BlockBuilder().constant(1 << 63, 0)


class TestSharing:
    def test_a_sum_is_computed_once_however_it_is_written(self) -> None:
        builder = BlockBuilder()
        x, y = builder.input(S4), builder.input(S4)
        same = [builder.add(x, -y), builder.add(-y, x), -builder.add(y, -x), builder.add(y << 3, -(x << 3)) << -3]
        program = builder.build(same)
        assert sums(program) == 1
        assert evaluate(program, [Fraction(3), Fraction(-4)]) == [7, 7, 7, -7]

    def test_constants_share_their_odd_parts(self) -> None:
        builder = BlockBuilder()
        x = builder.input(S4)
        program = builder.build([scaled(builder, x, c) for c in (5, -5, 20, 640)])
        assert sums(program) == 1
        assert evaluate(program, [Fraction(-3)]) == [-15, 15, -60, -1920]

    def test_powers_of_two_are_free(self) -> None:
        builder = BlockBuilder()
        x = builder.input(S4)
        assert builder.build([scaled(builder, x, c) for c in (1, 4, -8, 0)]).n_ops == 1


class TestLinear:
    @given(st.integers(-(1 << 70), 1 << 70))
    def test_signed_digits(self, number: int) -> None:
        digits = list(digits_of(number))
        assert sum(digit << at for at, digit in digits) == number
        assert all(b - a >= 2 for (a, _), (b, _) in pairwise(digits))

    def test_no_form_has_fewer_digits(self) -> None:
        fewest = {0: 0}
        for count in range(1, 5):
            more = {
                n + sign * (1 << at) for n, c in fewest.items() if c == count - 1 for at in range(9) for sign in (1, -1)
            }
            fewest |= {n: count for n in more if n not in fewest}
        assert all(len(list(digits_of(n))) == fewest[n] for n in range(128))

    @given(
        st.lists(st.tuples(st.integers(-8, 7), st.integers(-100, 100)), max_size=6),
        st.integers(-9, 9),
        st.integers(-2, 3),
    )
    def test_dot(self, pairs: list[tuple[int, int]], bias: int, f: int) -> None:
        builder = BlockBuilder()
        x = [builder.input(S4) for _ in pairs]
        program = builder.build([dot(builder, x, [c for _, c in pairs], f, builder.constant(bias, 2))])
        expected = sum(Fraction(m * c) for m, c in pairs) / Fraction(2) ** f + Fraction(bias, 4)
        assert evaluate(program, [Fraction(m) for m, _ in pairs]) == [expected]
        assert analyse(program).worst is PromiseStatus.SAFE
