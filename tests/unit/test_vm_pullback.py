"""The pullback is the vector-Jacobian product: it equals reverse mode bit for bit, JAX, and finite differences."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from support.said import raises

from dais_verif.base.errors import EngineError, InputError, ViolationError
from dais_verif.golden import run
from dais_verif.golden.vm import Pull, accept_instructions, compile_forward_and_backward
from dais_verif.golden.vm import pullback as rules
from dais_verif.spec.program import OPCODES, FixedType, Program
from dais_verif.spec.program.opcodes import Code, high_int32
from dais_verif.spec.program.types import type_of_interval

ROWS = 5


class Smooth:
    """Random programs whose types hold every exact result, so quantisation changes nothing; without ops 8, 9 and 10."""

    def __init__(self, rng: random.Random, n_ops: int, codes: tuple[int, ...]) -> None:
        self.rng, self.n_in = rng, rng.randint(1, 3)
        self.rows: list[tuple[int, int, int, int, FixedType]] = []
        self.bounds: list[tuple[int, int, int]] = []
        self.terms: list[tuple[int, int, int]] = []
        for j in range(self.n_in):
            self.input(j)
        while len(self.rows) < n_ops:
            self.add(rng.choice(codes))
        shifts = [rng.randint(-2, 2) for _ in range(self.n_in)]
        outputs = [(rng.randrange(-1, n_ops), rng.randint(-2, 2), rng.getrandbits(1)) for _ in range(4)]
        self.program = Program.build(self.rows, [(n_ops - 1, 0, 0), *outputs], inp_shift=shifts, terms=self.terms)

    def input(self, j: int) -> None:
        self.rows.append((-1, j, -1, 0, FixedType(1, 3, 3)))
        self.bounds.append((-64, 63, 3))

    def put(self, code: int, id0: int, id1: int, data: int, lo: int, hi: int, f: int) -> None:
        """Append the op if a double holds its value with bits to spare."""
        if max(abs(lo), abs(hi)).bit_length() > 40 or not -30 < f < 30:
            return
        kind = type_of_interval(lo, hi, f)
        if code in (-2, -3, 2, 3) or kind.width == 0:
            kind = FixedType(kind.k, max(kind.i, -f), f)
        self.rows.append((code, id0, id1, data, kind))
        self.bounds.append((lo, hi, f))

    def add(self, code: int) -> None:
        rng, n = self.rng, len(self.rows)
        a, b, c, s = rng.randrange(n), rng.randrange(n), rng.randrange(n), rng.randint(-3, 3)
        if rng.random() < 0.2:
            b = a
        (lo_a, hi_a, f_a), (lo_b, hi_b, f_b) = self.bounds[a], self.bounds[b]
        f_b -= s
        f = max(f_a, f_b)
        aligned = [lo_a << (f - f_a), hi_a << (f - f_a), lo_b << (f - f_b), hi_b << (f - f_b)]
        match code:
            case -1:
                self.input(rng.randrange(self.n_in))
            case 0:
                self.put(0, a, b, s, aligned[0] + aligned[2], aligned[1] + aligned[3], f)
            case 1:
                self.put(1, a, b, s, aligned[0] - aligned[3], aligned[1] - aligned[2], f)
            case 2:
                self.put(2, a, -1, 0, 0, max(hi_a, 0), f_a)
            case -2:
                self.put(-2, a, -1, 0, 0, max(-lo_a, 0), f_a)
            case 3:
                self.put(3, a, -1, 0, lo_a, hi_a, f_a)
            case -3:
                self.put(-3, a, -1, 0, -hi_a, -lo_a, f_a)
            case 4:
                self.put(4, a, -1, 5, lo_a + 5, hi_a + 5, f_a)
            case 5:
                self.put(5, -1, -1, -7, -7, -7, 2)
            case 6 | -6:
                if code < 0:
                    aligned[2:] = [-aligned[3], -aligned[2]]
                self.put(code, a, b, s << 32 | c, min(aligned[0], aligned[2]), max(aligned[1], aligned[3]), f)
            case 7:
                products = [p * q for p in (lo_a, hi_a) for q in (lo_b, hi_b)]
                self.put(7, a, b, 0, min(products), max(products), f_a + f_b + s)
            case Code.SUM:
                self.sum(a)
            case Code.SHIFT:
                self.put(12, a, -1, s, lo_a, hi_a, f_a - s)

    def sum(self, a: int) -> None:
        """Append a sum of up to five terms, with ``a`` once or twice, and perhaps a constant."""
        rng, first, n = self.rng, len(self.terms), len(self.rows)
        read = [a, *(rng.choice((a, rng.randrange(n))) for _ in range(rng.randint(0, 4)))]
        terms = [(op, rng.choice((0, rng.randint(-3, 3))), rng.getrandbits(1)) for op in read]
        data = 5 if rng.random() < 0.4 else 0
        if data:
            terms.insert(rng.randint(0, len(terms)), (-1, rng.randint(-3, 3), 0))
        bounds = [self.bounds[op] if op >= 0 else (data, data, 0) for op, _, _ in terms]
        f = max(point - shift for (_, _, point), (_, shift, _) in zip(bounds, terms, strict=True))
        low = high = 0
        for (lo, hi, point), (_, shift, negative) in zip(bounds, terms, strict=True):
            lo, hi = (-hi, -lo) if negative else (lo, hi)
            low, high = low + (lo << f - point + shift), high + (hi << f - point + shift)
        before = len(self.rows)
        self.put(11, first, len(terms), data, low, high, f)
        if len(self.rows) > before:
            self.terms += terms


LINEAR = (-1, 0, 1, 2, -2, 3, 3, -3, 4, 5, 6, -6, *[Code.SUM] * 3, Code.SHIFT)
ALL = (*LINEAR, 7, 7)


def inputs(rng: random.Random, program: Program, rows: int = ROWS) -> np.ndarray:
    """Return values that every ``input`` op represents exactly."""
    raw = np.array([[rng.randint(-64, 63) for _ in range(program.n_in)] for _ in range(rows)], dtype=np.float64)
    return np.ldexp(raw, -3 - program.inp_shift)


def msb(program: Program, index: int, value: Any) -> Any:
    """Return the top bit of op ``index`` from its real value."""
    kind = program.ops[index].type
    if kind.width == 0:
        return value < value
    return value < 0 if kind.k else value >= 2.0 ** (kind.i - 1)


def evaluate(
    program: Program, xs: Any, choose: Callable[[Any, Any, Any], Any], relu: Callable[[Any], Any]
) -> list[Any]:
    """Return the outputs, with quantisation as the identity, for any numbers with ``+``, ``-`` and ``*``."""

    def two(n: int) -> Any:
        return Fraction(2) ** n if isinstance(xs[0], Fraction) else 2.0**n

    values: list[Any] = []
    moves: list[bool] = []  # whether an input can change it
    for op in program.ops:
        moves.append(op.code == -1 or any(moves[i] for i in op.operands[: 2 if op.code in (6, -6) else None]))
        a, b = (values[i] if 0 <= i < len(values) else None for i in (op.id0, op.id1))
        match op.code:
            case -1:
                value = xs[op.id0] * two(int(program.inp_shift[op.id0]))
            case 0:
                value = a + b * two(op.data)
            case 1:
                value = a - b * two(op.data)
            case 2 | -2:
                value = relu(-a if op.code < 0 else a)
            case 3 | -3:
                value = -a if op.code < 0 else a
            case 4:
                value = a + op.data * two(-op.type.f)
            case 5:
                value = op.data * two(-op.type.f)
            case 6 | -6:
                other = (-b if op.code < 0 else b) * two(high_int32(op.data))
                value = choose(msb(program, op.condition, values[op.condition]), a, other)
            case 7:
                value = a * b
            case Code.SUM:  # from the last term to the first, so reverse mode visits them in order
                alone = sum(i >= 0 and moves[i] for i, _, _ in op.terms) == 1
                value = 0
                for i, shift, negative in reversed(op.terms):
                    part = values[i] if i >= 0 else op.data
                    part = part if alone and shift == 0 else part * two(shift)
                    value = (-part if negative else part) + value
            case Code.SHIFT:
                value = a * two(op.data)
        values.append(value)
    return [
        values[index] * two(shift) * (-1 if negated else 1) if index >= 0 else 0 * two(0)
        for index, shift, negated in program.outputs
    ]


def gradient(program: Program, x: Any, g: Any = None, **options: bool) -> np.ndarray:
    """Return the gradient from one forward run and one pullback, both with all checks."""
    compiled = compile_forward_and_backward(program, **options)
    accept_instructions(compiled.forward, x, opt_level=1)
    return accept_instructions(compiled.backward, g, opt_level=1).values


class Traced:
    """A number whose gradient reverse mode finds: one contribution after the other, from the last operation on.

    ``cell`` is where its gradient is added up; numbers that differ by a constant share theirs.
    """

    trace: ClassVar[list[tuple[int, list[tuple[int, Callable[[Any], Any]]]]]] = []

    __array_ufunc__ = None  # arrays leave operators to this class

    def __init__(self, value: Any, *reads: tuple[Any, Callable[[Any], Any]]) -> None:
        self.value, self.cell = value, len(self.trace)
        self.trace.append((self.cell, [(number.cell, rule) for number, rule in reads if isinstance(number, Traced)]))

    def _beside(self, value: Any) -> Traced:
        other = object.__new__(Traced)
        other.value, other.cell = value, self.cell
        return other

    def __add__(self, other: Any) -> Traced:
        if not isinstance(other, Traced):
            return self._beside(self.value + other)
        return Traced(self.value + other.value, (self, lambda g: g), (other, lambda g: g))

    __radd__ = __add__

    def __neg__(self) -> Traced:
        return Traced(-self.value, (self, lambda g: -g))

    def __sub__(self, other: Any) -> Traced:
        if not isinstance(other, Traced):
            return self._beside(self.value - other)
        return Traced(self.value - other.value, (self, lambda g: g), (other, lambda g: -g))

    def __rsub__(self, other: Any) -> Traced:
        return -self + other

    def __mul__(self, other: Any) -> Traced:
        if not isinstance(other, Traced):
            return Traced(self.value * other, (self, lambda g: g * other))
        # d(x * y) = dx * y + x * dy, and reverse mode visits the second term first.
        return Traced(self.value * other.value, (other, lambda g: g * self.value), (self, lambda g: g * other.value))

    __rmul__ = __mul__

    def __lt__(self, other: Any) -> Any:
        return self.value < plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= plain(other)


def plain(number: Any) -> Any:
    return number.value if isinstance(number, Traced) else number


def chosen(condition: Any, a: Any, b: Any) -> Any:
    value = np.where(condition, plain(a), plain(b))
    if not isinstance(a, Traced) and not isinstance(b, Traced):
        return value
    return Traced(value, (a, lambda g: np.where(condition, g, 0.0)), (b, lambda g: np.where(condition, 0.0, g)))


def positive(number: Any) -> Any:
    if not isinstance(number, Traced):
        return np.maximum(number, 0.0)
    return Traced(np.maximum(number.value, 0.0), (number, lambda g: np.where(number.value > 0, g, 0.0)))


def reverse_mode(program: Program, x: Any, g: Any) -> tuple[Any, Any]:
    """Return the outputs and the gradient, computed in doubles in the order of reverse mode."""
    Traced.trace.clear()
    xs = [Traced(x[:, j]) for j in range(program.n_in)]
    outputs = evaluate(program, xs, chosen, positive)
    found: dict[int, Any] = {}
    for j, output in enumerate(outputs):
        if isinstance(output, Traced):
            found[output.cell] = g[:, j]
    for cell, reads in reversed(Traced.trace):
        if cell in found:
            for operand, rule in reads:
                part = rule(found[cell])
                found[operand] = found[operand] + part if operand in found else part
    zero = np.zeros(len(x))
    values = np.stack([np.broadcast_to(plain(output), len(x)) for output in outputs], axis=1)
    return values, np.stack([found.get(number.cell, zero) for number in xs], axis=1)


#: The fast suite has the first seeds.
SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= 15)) for seed in range(30)]


def random_case(seed: int) -> tuple[Program, np.ndarray]:
    rng = random.Random(seed)
    program = Smooth(rng, rng.randint(4, 40 + seed % 60), ALL).program
    return program, inputs(rng, program)


def assert_equals_reverse_mode(seed: int) -> None:
    """Assert equality except for the sign of zero: a float product can be -0, a fixed-point value cannot."""
    program, x = random_case(seed)
    g = np.random.default_rng(seed).standard_normal((ROWS, program.n_out))
    outputs, expected = reverse_mode(program, x, g)
    assert np.array_equal(run(program, x), outputs), "quantisation was meant to change nothing"
    assert np.array_equal(gradient(program, x, g), expected)


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", SEEDS)
def test_equals_reverse_mode_bit_for_bit(seed: int) -> None:
    assert_equals_reverse_mode(seed)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_equals_reverse_mode_on_2_000_programs(chunk: int) -> None:
    for seed in range(1000 + 100 * chunk, 1100 + 100 * chunk):
        assert_equals_reverse_mode(seed)


@pytest.fixture(scope="module")
def jax() -> Any:
    """Return JAX in float64; without JAX, skip the test, or fail it in CI."""
    try:
        import jax
    except ImportError:
        message = "jax is not installed; pip install jax"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_equals_jax(jax: Any, seed: int) -> None:
    """JAX states no order of additions, and its versions differ: with small integers as gradients, no sum rounds."""
    program, x = random_case(seed)
    g = np.random.default_rng(seed).integers(-4, 5, (ROWS, program.n_out)).astype(np.float64)

    def function(*xs: Any) -> list[Any]:
        outputs = evaluate(program, xs, jax.numpy.where, jax.nn.relu)
        return [jax.numpy.broadcast_to(output, ROWS) for output in outputs]

    outputs, pull = jax.vjp(function, *(x[:, j] for j in range(program.n_in)))
    assert np.array_equal(run(program, x), np.stack(outputs, axis=1))
    expected = np.stack(pull([g[:, j] for j in range(program.n_out)]), axis=1)
    assert np.array_equal(gradient(program, x, g), expected)


def test_equals_exact_finite_differences_without_products() -> None:
    """Points with different left and right differences, at a kink of a relu or a jump of a mux, are skipped."""
    h, compared = Fraction(1, 1 << 300), 0
    for seed in range(60):
        rng = random.Random(seed)
        program = Smooth(rng, rng.randint(4, 14), LINEAR).program
        x = inputs(rng, program)
        g = [rng.randint(-4, 4) for _ in range(program.n_out)]
        found = gradient(program, x, g)
        for row in range(ROWS):
            at = [Fraction(value) for value in x[row]]

            def total(j: int, step: Fraction, at: list[Fraction] = at, program: Program = program, g: Any = g) -> Any:
                moved = [value + step * (i == j) for i, value in enumerate(at)]
                outputs = evaluate(program, moved, lambda c, a, b: a if c else b, lambda v: max(v, Fraction(0)))
                return sum(weight * output for weight, output in zip(g, outputs, strict=True))

            for j in range(program.n_in):
                right, left = (total(j, h) - total(j, Fraction(0))) / h, (total(j, Fraction(0)) - total(j, -h)) / h
                if left == right:
                    assert Fraction(found[row, j]) == right, f"seed {seed}, row {row}, input {j}"
                    compared += 1
    assert compared > 400


X, Y = (-1, 0, -1, 0, (1, 7, 2)), (-1, 1, -1, 0, (1, 7, 2))
WIDE = (1, 20, 8)


@pytest.mark.parametrize(
    ("ops", "x", "expected"),
    [
        ([(0, 0, 1, 3, WIDE)], [1, 1], [1, 8]),
        ([(1, 0, 1, -1, WIDE)], [1, 1], [1, -0.5]),
        ([(0, 0, 0, 1, WIDE)], [1, 1], [3, 0]),
        ([(2, 0, -1, 0, WIDE)], [0.25, 0], [1, 0]),
        ([(2, 0, -1, 0, WIDE)], [0, 0], [0, 0]),
        ([(2, 0, -1, 0, WIDE)], [-0.25, 0], [0, 0]),
        ([(-2, 0, -1, 0, WIDE)], [-0.25, 0], [-1, 0]),
        ([(-2, 0, -1, 0, WIDE)], [0, 0], [0, 0]),
        ([(-2, 0, -1, 0, WIDE)], [0.25, 0], [0, 0]),
        ([(3, 0, -1, 0, (1, 1, 0))], [5.75, 0], [1, 0]),  # floored and wrapped: the gradient passes unchanged
        ([(-3, 0, -1, 0, (1, 1, 0))], [5.75, 0], [-1, 0]),
        ([(2, 0, -1, 0, (0, 1, 0))], [5.75, 0], [1, 0]),  # gated by the sign, whatever the quantised value is
        ([(4, 0, -1, 3, WIDE)], [1, 0], [1, 0]),
        ([(12, 0, -1, 3, (1, 1, 0))], [5.75, 0], [8, 0]),
        ([(12, 0, -1, -2, WIDE)], [5.75, 0], [0.25, 0]),
        ([(5, -1, -1, 3, WIDE)], [1, 0], [0, 0]),
        ([(6, 0, 1, 1 | 2 << 32, WIDE)], [3, -1], [1, 0]),
        ([(6, 0, 1, 1 | 2 << 32, WIDE)], [3, 0], [0, 4]),
        ([(-6, 0, 1, 1 | -1 << 32, WIDE)], [3, 1], [0, -0.5]),
        ([(7, 0, 1, 0, WIDE)], [3, -5.25], [-5.25, 3]),
        ([(7, 0, 0, 0, WIDE)], [3, 1], [6, 0]),
        ([(3, 0, -1, 0, (0, 2, 0)), (8, 2, -1, 0, (1, 7, 0))], [1, 1], [0, 0]),
        ([(9, 0, -1, 0, WIDE)], [1, 1], [0, 0]),
        ([(-9, 0, -1, 1, WIDE)], [1, 1], [0, 0]),
        ([(10, 0, 1, 0, WIDE)], [1, 1], [0, 0]),
        ([(10, 0, 0, 0, WIDE), (0, 2, 1, 1, WIDE)], [1, 1], [0, 2]),  # an op without a gradient does not block others
    ],
)
def test_one_op(ops: list[Any], x: list[float], expected: list[float]) -> None:
    program = Program.build([X, Y, *ops], [(len(ops) + 1, 0, 0)], inp_shift=[0, 0], tables=[[1, 2, 4, 8]])
    assert gradient(program, [x]).tolist() == [expected]


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([(0, 0, 1)], [-1, 0]),
        ([(0, 2, 0), (1, -1, 1)], [4, -0.5]),
        ([(0, 2, 0), (1, 0, 0), (0, 0, 1), (1, 1, 0)], [3, 3]),
        ([(0, 3, 0), (0, 3, 1)], [0, 0]),
        ([(-1, 4, 0), (1, 0, 0)], [0, 1]),
        ([(-1, 0, 0)], [0, 0]),
        ([(0, -1, 0), (1, 0, 0), (2, 4, 0)], [0.5, 1]),  # a term that no input can change has no gradient
    ],
)
def test_one_sum(terms: list[tuple[int, int, int]], expected: list[float]) -> None:
    data = 3 if terms[0][0] < 0 else 0
    ops = [X, Y, (5, -1, -1, 3, WIDE), (11, 0, len(terms), data, WIDE)]
    program = Program.build(ops, [(3, 0, 0)], inp_shift=[0, 0], terms=terms)
    assert gradient(program, [[1, 1]]).tolist() == [expected]


def test_a_sum_shares_the_gradient_of_what_it_only_adds_to() -> None:
    ops = [X, (11, 0, 2, 3, WIDE), (11, 2, 1, 0, WIDE), (12, 2, -1, 3, WIDE)]
    program = Program.build(ops, [(3, 0, 0)], inp_shift=[0], terms=[(-1, -9, 0), (0, 0, 0), (1, 0, 1)])
    listed = compile_forward_and_backward(program).backward
    assert [row.comment for row in listed] == ["g%3 = seed 0", "g%2 = g%3<<3", "g%0 = -g%2", "grad 0 = g%0"]


def test_shifts_and_signs_of_inputs_and_outputs() -> None:
    """Gradients are right if two ops read input 0, and outputs are 4 times op 0, minus half of op 1, and constant 0."""
    program = Program.build([X, X, Y], [(0, 2, 0), (1, -1, 1), (-1, 0, 0)], inp_shift=[3, 0, 5])
    assert gradient(program, [[1, 1, 1]]).tolist() == [[8 * (4 - 0.5), 0, 0]]
    assert gradient(program, [[1, 1, 1]] * 2, [[1, 0, 9], [0, 1, 9]]).tolist() == [[32, 0, 0], [-4, 0, 0]]


def test_every_opcode_has_a_rule() -> None:
    assert set(rules.RULES) == set(OPCODES)


def test_the_schedule_does_not_matter() -> None:
    """Fusion, the order of the forward run and its engine do not change any bit of a gradient."""
    for seed in range(30):
        rng = random.Random(seed)
        program = Smooth(rng, 40, ALL).program
        x, g = inputs(rng, program), np.random.default_rng(seed).standard_normal((ROWS, program.n_out))
        expected = gradient(program, x, g)
        for fuse, locality in ((False, False), (False, True), (True, False)):
            found = gradient(program, x, g, fuse=fuse, optimize_locality=locality)
            assert found.tobytes() == expected.tobytes()
        compiled = compile_forward_and_backward(program)
        accept_instructions(compiled.forward, x, engine="numpy")
        assert accept_instructions(compiled.backward, g).values.tobytes() == expected.tobytes()


def test_contributions_are_added_outputs_last_to_first_then_ops_last_to_first() -> None:
    program = Program.build(
        [X, (0, 0, 0, 0, WIDE), (7, 0, 1, 0, WIDE), (3, 0, -1, 0, WIDE)],
        [(3, 0, 0), (2, 0, 0)],
        inp_shift=[0, 0],
    )
    listed = compile_forward_and_backward(program).backward
    assert [row.comment for row in listed] == [
        "g%2 = seed 1",
        "g%0 = seed 0",
        "g%1 = g%2 * %0",
        "g%0 += g%2 * %1",
        "g%0 += g%1",
        "g%0 += g%1",
        "grad 0 = g%0",
    ]


def test_values_beyond_doubles_are_rounded_or_infinite() -> None:
    wide = (1, 70, 0)
    program = Program.build(
        [(-1, 0, -1, 0, wide), (-1, 1, -1, 0, (1, 1100, 0)), (7, 0, 1, 0, (1, 1200, 0))],
        [(2, 0, 0)],
        inp_shift=[0, 0],
    )
    assert gradient(program, [[(1 << 69) + 1, 3]]).tolist() == [[3, 2.0**69]]
    assert gradient(program, [[1, 1 << 1050]]).tolist() == [[float("inf"), 1]]
    assert gradient(program, [[1, -1 << 1050]]).tolist() == [[float("-inf"), 1]]


SQUARE = Program.build([X, (7, 0, 0, 0, WIDE)], [(1, 0, 0)], inp_shift=[0])


def test_backward_before_forward_is_refused() -> None:
    compiled = compile_forward_and_backward(SQUARE)
    with raises(InputError):
        accept_instructions(compiled.backward)
    accept_instructions(compiled.forward, [[3]])
    assert accept_instructions(compiled.backward).values.tolist() == [[6]]


def test_backward_after_a_forward_run_that_failed_is_refused() -> None:
    narrow = Program.build([X, (7, 0, 0, 0, (1, 4, 4))], [(1, 0, 0)], inp_shift=[0])
    compiled = compile_forward_and_backward(narrow)
    accept_instructions(compiled.forward, [[1]], opt_level=1)
    with pytest.raises(ViolationError):
        accept_instructions(compiled.forward, [[100]], opt_level=1)
    with raises(InputError):
        accept_instructions(compiled.backward)


def test_no_backward_if_none_was_wanted() -> None:
    compiled = compile_forward_and_backward(SQUARE, need_backward=False)
    assert compiled.backward is None and compiled.leaves == () and len(compiled.allocation.saved) == 0
    with raises(InputError):
        accept_instructions(compiled.backward)


@pytest.mark.parametrize(
    ("g", "message"),
    [
        ([1, 2], r"shape \(2,\).*\(1,\) or \(2, 1\)"),
        ([[1]], r"shape \(1, 1\)"),
        ("x", ""),
    ],
)
def test_a_gradient_of_the_wrong_shape_is_refused(g: Any, message: str) -> None:
    compiled = compile_forward_and_backward(SQUARE)
    accept_instructions(compiled.forward, [[3], [4]])
    with raises(EngineError, match=message):
        accept_instructions(compiled.backward, g)


def test_what_a_compilation_says_of_its_pullback() -> None:
    compiled = compile_forward_and_backward(SQUARE)
    assert compiled.seed.tolist() == [1.0]
    assert compiled.leaves == (0,)
    assert compiled.allocation.saved.tolist() == [0]
    assert [Pull(code) for code in compiled.backward.columns.code] == [Pull.SEED, Pull.MUL, Pull.MUL, Pull.GRAD]


def test_a_program_without_inputs_or_outputs_has_an_empty_pullback() -> None:
    program = Program.build([X], [], inp_shift=[0])
    assert gradient(program, [[1], [2]]).tolist() == [[0], [0]]
    program = Program.build([(5, -1, -1, 1, WIDE)], [(0, 0, 0)])
    assert gradient(program, np.zeros((2, 0))).shape == (2, 0)
