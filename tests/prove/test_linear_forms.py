"""Values with the same normal form are equal, and values that are equal by arithmetic alone have the same form."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.folded_layers import folded, frame_of, layer_weights, multiplied, shifted
from support.places import FSM

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.compile.kernels.blocks import BlockBuilder, Value
from dais_verif.golden import oracle
from dais_verif.prover.arithmetic import linear as linear_forms
from dais_verif.prover.arithmetic.linear import LinearForms
from dais_verif.prover.equivalence import compare_programs
from dais_verif.prover.shared_inputs import Node
from dais_verif.record.proof import Method
from dais_verif.spec.program import FixedType, Program, assemble
from dais_verif.spec.program.opcodes import Code


def with_inputs(program: Program, count: int) -> Program:
    return replace(program, inp_shift=np.resize(program.inp_shift, count))


def random_pair(rng: random.Random) -> tuple[Program, Program]:
    """Return two programs with the same inputs and with all opcodes; in half of the cases promises are kept."""
    widest = rng.choice((3, 4, 6, 12, 70))
    pair = [
        random_program(
            rng, rng.choice((12, 25, 60)), widest=widest, alir=rng.random() < 0.6, promise_keeping=rng.random() < 0.5
        )
        for _ in range(2)
    ]
    n_in = max(program.n_in for program in pair)
    return with_inputs(pair[0], n_in), with_inputs(pair[1], n_in)


def random_row(rng: random.Random, count: int) -> list[Fraction]:
    def number() -> Fraction:
        raw = rng.choice((0, 1, -1, rng.randint(-200, 200), rng.getrandbits(70) - (1 << 69)))
        return raw * Fraction(2) ** rng.randint(-8, 4)

    return [number() for _ in range(count)]


@pytest.mark.parametrize(
    ("first", "count"), [(0, 60), pytest.param(1000, 2000, marks=pytest.mark.slow)], ids=["few", "many"]
)
@pytest.mark.parametrize("short", [0, 32])
def test_what_has_one_form_is_equal_to_the_oracle(
    short: int, first: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ops of random programs with the same form are equal, and no value exceeds the bounds of its form.

    The ops are of one program or of two. ``short``: with 0, a sum reuses the forms of its operands wherever possible.
    """
    monkeypatch.setattr(linear_forms, "_SHORT", short)
    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        rng = random.Random(seed)
        pair = random_pair(rng)
        forms = LinearForms(pair)
        rows = [random_row(rng, pair[0].n_in) for _ in range(12)]
        values = [[oracle.trace(program, row, violations=[]) for row in rows] for program in pair]
        classes: dict[object, tuple[Node, list[Fraction]]] = {}
        for side, program in enumerate(pair):
            for op in program.ops:
                node, column = Node(side, op.index), [row[op.index] for row in values[side]]
                if node not in forms._gone:
                    form = forms._forms[side][op.index]
                    raw = [value * Fraction(2) ** form.f for value in column]
                    assert all(form.lo <= value <= form.hi for value in raw), (seed, node)
                    assert form.terms or set(raw) == {form.constant}, (seed, node)
                other, known = classes.setdefault(forms.key(node), (node, column))
                assert known == column, (seed, other, node)
                seen["equal"] += other != node
                seen["of many values"] += other != node and len(set(column)) > 2
    assert seen["equal"] > 5 * count and seen["of many values"] > count // 4


def one(text: str) -> Program:
    return assemble(text)


READ = "input x, y, z\nx = s6.0 input x\ny = s6.0 input y\nz = s6.0 input z\n"
UNSIGNED = "input x, y, z\nx = u4.0 input x\ny = u4.0 input y\nz = u4.0 input z\n"
EQUAL = {
    "wrapped on the way": (
        UNSIGNED + "a = u4.0 x + y\nb = u4.0 a + z\noutput b = b",
        UNSIGNED + "a = u5.0 y + z\nb = u6.0 a + x\nc = u4.0 quant(b)\noutput c = c",
    ),
    "wrapped, signed and not": (
        UNSIGNED + "a = s4.0 x - y\nb = u4.0 quant(a)\nc = u4.0 b + y\noutput c = c",
        UNSIGNED + "output x = x",
    ),
    "what is a multiple leaves the floor": (
        READ + "a = s9.0 x + y<<2\nb = s7.-2 quant(a)\noutput b = b>>2",
        READ + "f = s4.-2 quant(x)\nb = s7.0 y + f>>2\noutput b = b",
    ),
    "relu is a choice": (
        READ + "a = s7.0 x - y\nr = u6.0 relu(a)\nb = s8.0 r + y\noutput b = b",
        READ + "a = s7.0 x - y\nb = s6.0 msb(a) ? y : x\noutput b = b",
    ),
    "the other way round": (
        READ + "a = s7.0 x - y\nb = s6.0 msb(a) ? x : y\noutput b = b",
        READ + "d = s7.0 y - x\nc = s8.0 d - 1\na = s8.0 c + 0\nb = s6.0 msb(a) ? y : x\noutput b = b",
    ),
    "half a step below 0": (
        READ + "a = s7.0 x + x\nb = s8.0 a + 1\nc = s6.0 msb(b) ? y : z\noutput c = c",
        READ + "c = s6.0 msb(x) ? y : z\noutput c = c",
    ),
    "products multiplied out": (
        READ + "a = s7.0 x + y\nb = s13.0 a * z\noutput b = b",
        READ + "p = s12.0 z * x\nq = s12.0 y * z\nb = s13.0 p + q\noutput b = b",
    ),
    "not is minus one minus": (
        READ + "a = s6.0 not(x)\nb = s7.0 a + 1\noutput b = b",
        READ + "a = s7.0 quant(-x)\noutput a = a",
    ),
    "shifts of outputs": (
        READ + "a = s9.0 x + x<<2\noutput a = -a>>1",
        READ + "a = s9.1 quant(x)\nn = s9.1 quant(-a)\nb = s11.1 n + n<<2\noutput b = b>>1",
    ),
}  # fmt: skip
DIFFERENT = {
    "wrapped, then used wider": (
        UNSIGNED + "a = u4.0 x + y\nb = u6.0 a + z\noutput b = b",
        UNSIGNED + "a = u5.0 y + z\nb = u6.0 a + x\noutput b = b",
    ),
    "one value that does not fit": (
        READ + "a = s6.0 quant(-x)\noutput a = a",
        READ + "a = s7.0 quant(-x)\noutput a = a",
    ),
    "two floors are not one": (
        READ + "f = s5.-1 quant(x)\ng = s5.-1 quant(y)\na = s7.-1 f + g\noutput a = a",
        READ + "s = s7.0 x + y\na = s6.-1 quant(s)\noutput a = a",
    ),
    "floored after the negation": (
        READ + "f = s5.-1 quant(x)\na = s6.-1 quant(-f)\noutput a = a",
        READ + "a = s6.-1 quant(-x)\noutput a = a",
    ),
    "below and at 0": (
        READ + "a = s7.0 x - y\nb = s6.0 msb(a) ? z : y\noutput b = b",
        READ + "d = s7.0 x - y\na = s8.0 d - 1\nb = s6.0 msb(a) ? z : y\noutput b = b",
    ),
    "a form that another op has, too": (
        READ + "a = s8.0 x + y\nq = s8.0 quant(a)\nb = s9.0 q + z\nc = s10.0 a + b\noutput a = a\noutput c = c",
        READ + "a = s8.0 x + y\nb = s9.0 a + z\nd = s10.0 b + 0\nc = s10.0 a + b\noutput d = d\noutput c = c",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.parametrize("short", [0, 32])
def test_equal_by_arithmetic(name: str, short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_forms, "_SHORT", short)
    a, b = map(one, EQUAL[name])
    forms = LinearForms((a, b))
    assert forms.output(0, 0) == forms.output(1, 0)
    found = compare_programs(a, b)
    assert found.equal == (True,) and found.methods == {Method.IDENTICAL: 1}
    for row in (random_row(random.Random(seed), 3) for seed in range(200)):
        left, right = (oracle.outputs_of(p, oracle.trace(p, row, violations=[])) for p in (a, b))
        assert left == right


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("short", [0, 32])
def test_not_equal(name: str, short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the prover finds a difference, the oracle confirms it."""
    monkeypatch.setattr(linear_forms, "_SHORT", short)
    a, b = map(one, DIFFERENT[name])
    found = compare_programs(a, b)
    assert found.witness is not None
    left, right = (oracle.outputs_of(p, oracle.trace(p, found.witness, violations=[])) for p in (a, b))
    assert left != right


@pytest.mark.few(2)
@pytest.mark.parametrize("times", [2, 8, 64])
def test_a_layer_of_64_folded(times: int, tmp_path: Path) -> None:
    """A folded layer equals shifts and adds in a tree.

    The folded layer multiplies by words of a memory and sums over cycles; the other uses shifts and adds of signed
    digits.
    """
    weights = layer_weights(64, 64)
    record = dais_verif.diff(folded(weights, times), shifted(weights), frame=frame_of(times, 64, tmp_path), prove=True)
    assert record.verdict is Verdict.PASS and record.frame is not None and record.frame.stalled
    assert record.proof is not None and record.proof.methods == {"identical": 64}


def other_weight(weights: list[list[int]]) -> list[list[int]]:
    return [[w + (r == 3 and j == 5) for j, w in enumerate(row)] for r, row in enumerate(weights)]


def test_faults_of_a_folded_layer(tmp_path: Path) -> None:
    """Two faults of a folded layer are found: a wrong weight, and sums that are not cleared before the second frame."""
    weights = layer_weights(16, 16)
    frame = frame_of(4, 16, tmp_path)
    record = dais_verif.diff(folded(weights, 4), shifted(other_weight(weights)), frame=frame, prove=True)
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.difference is not None
    assert record.difference.output == 3
    record = dais_verif.diff(folded(weights, 4, cleared=False), multiplied(weights), frame=frame, prove=True)
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.frame is not None and record.frame.frame == 1


@pytest.mark.parametrize("count", [6, 64])
def test_a_sum_too_narrow_for_its_largest_value_differs(count: int) -> None:
    """A sum that is too narrow for a single input vector in 2^500 differs; the vector is computed without a solver."""
    row = random.Random(1).choices((7, -3, 5, 6, -7, 2), k=count)
    program = shifted([row])
    largest = sum(127 * w if w > 0 else -128 * w for w in row)
    kinds = [list(kind) for kind in zip(*(column.tolist() for column in program.columns[4:]), strict=True)]
    for i, equal in ((largest.bit_length(), True), (largest.bit_length() - 1, False)):
        kinds[program.outputs[0][0]][1] = i
        rows = zip(*(column.tolist() for column in program.columns[:4]), kinds, strict=True)
        narrow = Program.build(
            [(code, a, b, data, (k, i, f)) for code, a, b, data, (k, i, f) in rows],
            program.outputs,
            inp_shift=[0] * count,
        )
        found = compare_programs(multiplied([row]), narrow)
        assert found.equal == (equal,) and not found.methods[Method.SMT]


def test_a_machine_of_alkaid_equals_the_layer_that_alkaid_traced(tmp_path: Path) -> None:
    """Sums of constant products in a machine equal shared shifts and adds in a program, cut to the same output type."""
    frame = tmp_path / "frame.toml"
    frame.write_text(
        'cycles = 8\ninputs = [{ signal = "x", cycle = 0 }]\noutputs = [{ signal = "y", cycle = 8 }]\nheld.rst = 0\n'
    )
    folder = FSM / "f05_dense_folded"
    record = dais_verif.diff(folder / "fsm.json.gz", folder / "at_once.alir.json", frame=frame, prove=True)
    assert record.verdict is Verdict.PASS and record.proof is not None and record.proof.methods == {"identical": 8}
    program = dais_verif.load(folder / "at_once.alir.json")
    op = next(op for op in program.ops if op.code == Code.SUB)
    code = program.columns.code.copy()
    code[op.index] = Code.ADD
    wrong = replace(program, columns=program.columns._replace(code=code))
    record = dais_verif.diff(folder / "fsm.json.gz", wrong, frame=frame, prove=True, unchecked=True)
    assert record.verdict is Verdict.PROGRAMS_DIFFER


def chain(terms: int) -> Program:
    ops = [(-1, j, -1, 0, (1, 7, 0)) for j in range(terms)]
    for j in range(1, terms):
        ops.append((0, len(ops) - 1 if j > 1 else 0, j, j % 3, (1, 24, 0)))
    return Program.build(ops, [(len(ops) - 1, 0, 0)], inp_shift=[0] * terms)


def test_the_cost_of_a_chain_is_that_of_its_terms() -> None:
    """Each sum extends the form of the sum before it, so the cost is linear in the number of terms."""
    work = [LinearForms((chain(n), chain(n)))._atoms.work for n in (500, 1000, 2000)]
    assert work[2] - work[1] < 2.2 * (work[1] - work[0])


def chosen_of(rng: random.Random, inputs: list[FixedType]) -> Program:
    """Return a program of maxima and minima in either order, clamps, and choices that are none of these."""
    b = BlockBuilder()
    values = [*map(b.input, inputs), b.constant(rng.choice((1, 2, 3, -1)), rng.choice((0, 1)))]
    while len(values) < 14:
        x, y = rng.choice(values), rng.choice(values)
        x = -x if rng.random() < 0.3 else x
        difference = b.add(x, -y)
        if rng.random() < 0.4:
            difference = b.add(difference, b.constant(rng.choice((1, -1)), rng.choice((0, 1, 2))))
        if rng.random() < 0.3:
            values.append(b.add(x, y))
        elif difference.op is None or difference.signed[0] >= 0 or difference.negative:
            values.append(b.relu(x))
        else:
            values.append(b.select(difference, *rng.sample([x, y], 2)))
        if values[-1].op is None or values[-1].type.width > 12:
            values.pop()
            values.append(b.maximum(x, y) if b.maximum(x, y).op is not None else b.constant(1, 0))
    return b.build(values)


def rounded_of(rng: random.Random, inputs: list[FixedType]) -> Program:
    """Return a program of floors and wraps of sums with constants, whose dropped bits decide the carry."""
    b = BlockBuilder()
    values = [*map(b.input, inputs), b.constant(rng.choice((1, 2, 3, -1)), rng.choice((0, 1)))]
    while len(values) < 14:
        x, y = (value << rng.choice((0, 0, 1, -1)) for value in rng.choices(values, k=2))
        total = b.sum([x, -y if rng.random() < 0.5 else y, b.constant(rng.choice((1, 3, 2, -1, 7)), rng.randint(1, 3))])
        total = x if rng.random() < 0.3 else total
        if total.op is not None and total.type.width <= 12:
            kind = total.type
            f = max(kind.f - rng.randint(0, 3), -kind.i)
            values.append(b.cast(total, FixedType(kind.k, kind.i - rng.randint(0, kind.i + f > 0), f)))
    return b.build(values)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("made", [chosen_of, rounded_of])
def test_what_has_one_form_is_equal_for_all_inputs(
    made: Callable[[random.Random, list[FixedType]], Program], seed: int
) -> None:
    """Outputs with the same form are equal for all inputs, including ties of conditions and bits dropped by floors."""
    rng = random.Random(seed)
    inputs = [FixedType(rng.randint(0, 1), rng.randint(1, 2), rng.randint(0, 1)) for _ in range(3)]
    pair = (made(rng, inputs), made(rng, inputs))
    forms = LinearForms(pair)
    each = [[raw * 2.0**-kind.f for raw in range(kind.raw_min, kind.raw_max + 1)] for kind in inputs]
    given = np.array(list(product(*each)))
    found: dict[object, np.ndarray] = {}
    compared = 0
    for side, program in enumerate(pair):
        outputs = dais_verif.run(program, given)
        for number in range(program.n_out):
            key = forms.output(side, number)
            compared += key in found
            assert np.array_equal(found.setdefault(key, outputs[:, number]), outputs[:, number])
    assert compared


def test_a_value_is_rounded_alike_on_any_grid() -> None:
    """Rounding to even has one form on any grid with a step that breaks the ties; with one step more it differs."""
    b = BlockBuilder()
    x = b.input(FixedType(1, 4, 3))

    def rounded(f: int, steps: int) -> Value:
        """Return the floor of ``x + 1/2 + (odd - steps) * 2**-f``; ``odd`` is 1 where the floor of x is odd, else 0."""
        below = b.cast(x, FixedType(1, 4, 0))
        odd = b.cast(below, FixedType(0, 1, 0))
        return b.cast(b.sum([x, b.constant((1 << f - 1) - steps, f), odd << -f]), FixedType(1, 5, 0))

    program = b.build([rounded(3, 1), rounded(4, 1), rounded(6, 1), rounded(3, 2), rounded(4, 3), rounded(4, 2)])
    forms = LinearForms((program, program))
    to_even, finer, finest, less, less_finer, never = (forms.output(0, number) for number in range(6))
    assert to_even == finer == finest
    assert less == less_finer
    assert len({to_even, less, never}) == 3
    given = np.arange(-128, 128)[:, None] / 8
    values = dais_verif.run(program, given)
    assert np.array_equal(values[:, 0], np.rint(given[:, 0]))
    assert len({tuple(column) for column in values.T}) == 3


def test_the_larger_of_two_has_one_form_in_either_order() -> None:
    """The larger of two values has one form in either order, even if the choice is made one step earlier."""
    program = assemble(
        "input x, y\na = s7.2 input x\nb = s8.2 input y\nd = s9.2 a - b\ne = s9.2 b - a\nearly = s10.2 e - 0.25\n"
        "p = s8.2 msb(d) ? b : a\nq = s8.2 msb(e) ? a : b\nr = s8.2 msb(early) ? a : b\nt = s8.2 msb(early) ? b : a\n"
        "output p = p\noutput q = q\noutput r = r\noutput t = t\n"
    )
    forms = LinearForms((program, program))
    larger, same, too, smaller = (forms.output(0, number) for number in range(4))
    assert larger == same and smaller != larger
    assert larger == too  # where both are equal, either may be chosen
