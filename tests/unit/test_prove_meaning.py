"""The prover's meaning of every opcode is the oracle's, on all small types and on random large ones."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from dais_verif.golden.oracle import RULES, Context, _Outside, quantise, two
from dais_verif.program import FixedType, Program
from dais_verif.program.opcodes import OPCODES
from dais_verif.program.ports import ports_of
from dais_verif.program.types import LIMIT
from dais_verif.prover.op_semantics import bits_of, interpret_op, interpret_output
from dais_verif.prover.terms import Term, nodes, var
from dais_verif.prover.terms.evaluate import evaluate

Kind = tuple[int, int, int]

SMALL: list[FixedType] = [
    FixedType(k, width - k - f, f) for k in (0, 1) for width in range(4) for f in (-1, 0, 1)
]  # fmt: skip
TABLES = [[0, 1, 0, 1, 1, 0, 0, 1], [1], []]


def values_of(kind: FixedType) -> range:
    return range(kind.raw_min, kind.raw_max + 1)


def program_of(code: int, data: int, kinds: Sequence[FixedType], results: Sequence[FixedType]) -> Program:
    """One op of ``code`` a type of ``results`` over inputs of types ``kinds``."""
    rows: list[tuple[int, int, int, int, Kind]] = [(-1, j, -1, 0, tuple(kind)) for j, kind in enumerate(kinds)]
    for result in results:
        ids = (0, 1) if len(kinds) > 1 else (0, -1) if kinds else (-1, -1)
        rows.append((code, *ids, data, tuple(result)))
    return Program.build(rows, [], inp_shift=[0] * len(kinds), tables=TABLES)


def hold(program: Program, index: int, raws: Sequence[Sequence[int]]) -> int:
    """Compare op ``index`` with the oracle on ``raws``, a row of raw operand values each; return how many."""
    op = program.ops[index]
    kinds = [program.ops[i].type for i in op.operands]
    operands = [var(bits_of(kind), f"m{n}") for n, kind in enumerate(kinds)]
    found = interpret_op(program, op, operands)
    assert found.value.width == bits_of(op.type) and found.kept.width == 1
    given = {
        term: np.array([row[n] % (1 << term.width) for row in raws], dtype=object) for n, term in enumerate(operands)
    }
    patterns, kept = evaluate([found.value, found.kept], given)
    constant = [len(x) == 1 for x in (patterns, kept)]
    for place, row in enumerate(raws):
        buffer = [Fraction(0)] * program.n_ops
        for i, raw in zip(op.operands, row, strict=True):
            buffer[i] = raw * two(-program.ops[i].type.f)
        try:
            exact: Fraction | None = RULES[op.code](Context(program, op, buffer, buffer))
        except _Outside:
            exact = None
        right = quantise(exact, op.type) if exact is not None else Fraction(0)
        raw = right * two(op.type.f)
        assert raw.denominator == 1
        text = f"{op} {op.type} data {op.data:#x} of {[str(k) for k in kinds]} = {row}"
        assert int(patterns[0 if constant[0] else place]) == raw.numerator % (1 << bits_of(op.type)), text
        if op.spec.promise:
            assert bool(kept[0 if constant[1] else place]) == (exact == right), text
    return len(raws)


def everything(code: int, datas: Sequence[int], arity: int, results: Sequence[FixedType], share: float = 1.0) -> int:
    """``code`` with all ``datas`` on operands of all small types, or a share of them, and all their values."""
    compared = 0
    combinations = list(itertools.product(SMALL, repeat=arity))
    for kinds in random.Random(code).sample(combinations, int(share * len(combinations))):
        raws = list(itertools.product(*map(values_of, kinds)))
        for data in datas:
            fitting = [r for r in results if code != 8 or all(r.raw_min <= v <= r.raw_max for v in TABLES[data & 3])]
            program = program_of(code, data, kinds, fitting)
            for index in range(arity, program.n_ops):
                compared += hold(program, index, raws)
    return compared


UNARY = {
    2: [0],
    -2: [0],
    3: [0],
    -3: [0],
    4: [-3, -1, 0, 2, 5],
    8: [offset << 32 | table for offset in (-2, 0, 1, 3) for table in range(3)],
    9: [0, 1, 2],
    -9: [0, 1, 2],
}
SHIFTS = (-1, 0, 1)
BINARY = {
    0: list(SHIFTS),
    1: list(SHIFTS),
    7: [0],
    10: [o << 56 | n << 32 | s & 0xFFFFFFFF for o in range(3) for n in range(4) for s in SHIFTS],
}


@pytest.mark.parametrize("code", UNARY)
def test_an_op_of_one_operand_on_all_small_types(code: int) -> None:
    assert everything(code, UNARY[code], 1, SMALL) > 1000


def test_a_constant_of_all_small_types() -> None:
    assert everything(5, range(-9, 10), 0, SMALL) == 19 * 24


@pytest.mark.parametrize("code", BINARY)
def test_an_op_of_two_operands_on_all_small_types(code: int) -> None:
    """A sample of the types; all of them in the slow test."""
    rng = random.Random(code)
    datas = rng.sample(BINARY[code], min(2, len(BINARY[code])))
    assert everything(code, datas, 2, rng.sample(SMALL, 2), 0.25) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("code", BINARY)
def test_an_op_of_two_operands_on_all_small_types_and_results(code: int) -> None:
    assert everything(code, BINARY[code], 2, SMALL) > 100_000


def mux_cases(share: int) -> Iterator[tuple[int, tuple[FixedType, ...], FixedType]]:
    """All small types of both arms and condition, every ``share``-th of them, with all shifts and one result each.

    Results take turns, so that each occurs with all pairs of the three.
    """
    for number, (a, b, c) in enumerate(itertools.product(range(len(SMALL)), repeat=3)):
        for n, shift in enumerate(SHIFTS):
            if (number + n) % share == 0:
                yield shift, (SMALL[a], SMALL[b], SMALL[c]), SMALL[(a + b + c + 8 * n) % len(SMALL)]


@pytest.mark.parametrize("code", [6, -6])
@pytest.mark.parametrize("share", [397, pytest.param(1, marks=pytest.mark.slow)])
def test_a_mux_on_all_small_types(code: int, share: int) -> None:
    compared = 0
    for shift, kinds, result in mux_cases(share):
        rows = [(-1, j, -1, 0, tuple(kind)) for j, kind in enumerate(kinds)]
        rows.append((code, 0, 1, shift << 32 | 2, tuple(result)))
        compared += hold(Program.build(rows, [], inp_shift=[0] * 3), 3, list(itertools.product(*map(values_of, kinds))))
    assert compared > 1_900_000 // share  # shares are not of quite the same size


@pytest.mark.parametrize("number", [400, pytest.param(3 * 24 * 24, marks=pytest.mark.slow)])
def test_an_input_is_a_slice_of_its_element(number: int) -> None:
    cases = list(itertools.product((-1, 0, 2), SMALL, SMALL))
    for shift, first, second in random.Random(0).sample(cases, number):
        rows = [(-1, 0, -1, 0, tuple(first)), (-1, 0, -1, 0, tuple(second))]
        program = Program.build(rows, [], inp_shift=[shift])
        (element,) = ports_of(program).inputs
        for op in program.ops:
            operands = [var(element.width, "inp")] if element.width else []
            value = interpret_op(program, op, operands, element).value
            raws = range(-(1 << element.width), 1 << element.width)
            given = {term: np.array([raw % (1 << element.width) for raw in raws]) for term in operands}
            (patterns,) = evaluate([value], given)
            for place, raw in enumerate(raws):
                real = raw * two(element.lo) * two(shift)
                right = quantise(real, op.type) * two(op.type.f)
                assert int(patterns[place % len(patterns)]) == right.numerator % (1 << bits_of(op.type))


@pytest.mark.parametrize("kind", [kind for kind in SMALL if kind.width])
@pytest.mark.parametrize("negated", [False, True])
def test_an_output_is_plus_or_minus_a_value(kind: FixedType, negated: bool) -> None:
    program = Program.build([(-1, 0, -1, 0, tuple(kind))], [(0, 2, negated)], inp_shift=[0])
    (width,) = (element.width for element in ports_of(program).outputs)
    operand = var(kind.width, "m")
    term = interpret_output(kind, operand, negated)
    assert term.width == width
    raws = list(values_of(kind))
    (patterns,) = evaluate([term], {operand: np.array([raw % (1 << kind.width) for raw in raws])})
    assert [int(p) for p in patterns] == [(-raw if negated else raw) % (1 << width) for raw in raws]


#: All types to five bits, and one of them again: rows of a plane over as many numbers, which is a prime.
FIVE = [FixedType(k, width - k - f, f) for k in (0, 1) for width in range(6) for f in (-1, 0, 1)]
FIVE.append(FIVE[-1])


@pytest.mark.parametrize("code", [code for code in OPCODES if code not in (-1, 5)])
@pytest.mark.parametrize("share", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_types_to_five_bits_pairwise(code: int, share: int) -> None:
    """Each two of operands, condition, result and data take all pairs of values: lines of a plane meet once."""
    datas = {6: [s << 32 | 2 for s in SHIFTS], -6: [s << 32 | 2 for s in SHIFTS], **UNARY, **BINARY}[code]
    rng, order = random.Random(code), len(FIVE)
    compared = 0
    for number, (a, b) in enumerate(itertools.product(range(order), repeat=2)):
        if number % share:
            continue
        result, condition = (FIVE[(a + n * b) % order] for n in (1, 2))
        data = datas[(a + 3 * b) % order % len(datas)]
        kinds = [FIVE[a], FIVE[b], condition][: 3 if abs(code) == 6 else len(program_shape(code))]
        if code == 8:
            result = FixedType(0, max(result.width, 1) - result.f, result.f)
        rows = [(-1, j, -1, 0, tuple(kind)) for j, kind in enumerate(kinds)]
        rows.append((code, *[*range(len(program_shape(code))), -1, -1][:2], data, tuple(result)))
        program = Program.build(rows, [], inp_shift=[0] * len(kinds), tables=TABLES)
        raws = list(itertools.product(*map(values_of, kinds)))
        compared += hold(program, len(kinds), rng.sample(raws, min(64, len(raws))))
    assert compared > 5_000 // share


def random_cases(rng: random.Random) -> Iterator[tuple[Program, int, list[list[int]]]]:
    """Ops of random types and shifts, up to hundreds of bits, with a few values: corners and others."""
    while True:
        code = rng.choice([code for code in OPCODES if code != -1])
        arity = len(program_shape(code))
        widest = rng.choice((6, 12, 33, 70, 200))
        kinds = [random_kind(rng, widest) for _ in range(3 if abs(code) == 6 else arity)]
        result, data = random_kind(rng, widest + 8), random_data(rng, code)
        if code == 8:
            result = FixedType(1, 70 - result.f, result.f)
        rows: list[tuple[int, int, int, int, Kind]] = [(-1, j, -1, 0, tuple(k)) for j, k in enumerate(kinds)]
        ids = [*range(arity), -1, -1][:2]
        rows.append((code, *ids, data, tuple(result)))
        tables = [[rng.getrandbits(62) - (1 << 61) for _ in range(rng.choice((1, 3, 16, 37)))]]
        program = Program.build(rows, [], inp_shift=[0] * len(kinds), tables=tables)
        yield program, len(kinds), [[random_raw(rng, kind) for kind in kinds] for _ in range(8)]


def program_shape(code: int) -> range:
    return range({"BINARY": 2, "UNARY": 1, "NONE": 0}[OPCODES[code].pattern.name])


def random_kind(rng: random.Random, widest: int) -> FixedType:
    k, width, f = rng.getrandbits(1), rng.randint(0, widest), rng.randint(-10, 10)
    return FixedType(k, width - k - f, f)


def random_data(rng: random.Random, code: int) -> int:
    shift = rng.choice((0, 0, 1, -1, 3, -5, rng.randint(-90, 90)))
    if code in (0, 1):
        return shift
    if code in (4, 5):
        return rng.getrandbits(rng.choice((1, 8, 63))) - rng.getrandbits(rng.choice((1, 8, 63)))
    if abs(code) == 6:
        return shift << 32 | 2
    if code == 8:
        return rng.randint(-20, 20) << 32
    if abs(code) == 9:
        return rng.randrange(3)
    return rng.randrange(3) << 56 | rng.randrange(4) << 32 | shift & 0xFFFFFFFF if code == 10 else 0


def random_raw(rng: random.Random, kind: FixedType) -> int:
    corners = (kind.raw_min, kind.raw_max, 0, min(1, kind.raw_max), max(-1, kind.raw_min))
    return rng.choice((*corners, *(rng.randint(kind.raw_min, kind.raw_max) for _ in range(4))))


def campaign(seed: int, vectors: int) -> None:
    compared = 0
    seen: set[int] = set()
    for program, index, raws in random_cases(random.Random(seed)):
        operands = program.ops[index].operands
        compared += hold(program, index, [row[: len(operands)] for row in raws])
        seen.add(program.ops[index].code)
        if compared >= vectors:
            break
    assert seen == set(OPCODES) - {-1}


def test_random_types_shifts_and_values() -> None:
    campaign(1, 6_000)


@pytest.mark.slow
def test_a_million_random_vectors() -> None:
    campaign(2, 1_000_000)


def test_the_widest_types() -> None:
    widest = FixedType(1, LIMIT - 1, 0)
    program = Program.build(
        [(-1, 0, -1, 0, tuple(widest)), (-1, 1, -1, 0, tuple(widest)), (0, 0, 1, LIMIT, (1, 99, 0))],
        [],
        inp_shift=[0, 0],
    )
    raws = [[widest.raw_min, widest.raw_max], [-1, -1], [widest.raw_max, widest.raw_min]]
    assert hold(program, 2, raws) == 3


def test_the_comparison_sees_a_wrong_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    from dais_verif.prover import op_semantics as module

    def forgets_the_negation(s: module._Scope) -> module.Integer:
        return s.a

    monkeypatch.setitem(module._RULES, -3, forgets_the_negation)
    with pytest.raises(AssertionError, match="quant_neg"):
        everything(-3, [0], 1, SMALL)


def test_terms_stay_small() -> None:
    """A sum of two values is an addition and two extensions, whatever the shift."""
    kind = FixedType(1, 7, 0)
    program = program_of(0, 3, [kind, kind], [FixedType(1, 11, 0)])
    found: Term = interpret_op(program, program.ops[2], [var(8, "a"), var(8, "b")]).value
    assert [t.op for t in nodes(found)].count("add") == 1
    assert len(nodes(found)) <= 7
