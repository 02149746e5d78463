"""Compare the prover's op semantics with the oracle, on all small types."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from dais_verif.golden.oracle import RULES, Context, _Outside, quantise, two
from dais_verif.prover.op_semantics import bits_of, interpret_op, interpret_output
from dais_verif.prover.terms import var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.ports import ports_of

__all__ = [
    "BINARY",
    "SMALL",
    "UNARY",
    "check_a_constant_of_all_small_types",
    "check_a_mux_on_all_small_types",
    "check_an_input_is_a_slice_of_its_element",
    "check_an_output_is_plus_or_minus_a_value",
    "check_sums_of_small_types",
    "everything",
    "random_terms",
]


Kind = tuple[int, int, int]

SMALL: list[FixedType] = [
    FixedType(k, width - k - f, f) for k in (0, 1) for width in range(4) for f in (-1, 0, 1)
]  # fmt: skip

TABLES = [[0, 1, 0, 1, 1, 0, 0, 1], [1], []]


def values_of(kind: FixedType) -> range:
    return range(kind.raw_min, kind.raw_max + 1)


def program_of(code: int, data: int, kinds: Sequence[FixedType], results: Sequence[FixedType]) -> Program:
    """Return a program with one op of ``code`` per type of ``results``, over inputs of types ``kinds``."""
    rows: list[tuple[int, int, int, int, Kind]] = [(-1, j, -1, 0, tuple(kind)) for j, kind in enumerate(kinds)]
    for result in results:
        ids = (0, 1) if len(kinds) > 1 else (0, -1) if kinds else (-1, -1)
        rows.append((code, *ids, data, tuple(result)))
    return Program.build(rows, [], inp_shift=[0] * len(kinds), tables=TABLES)


def hold(program: Program, index: int, raws: Sequence[Sequence[int]]) -> int:
    """Compare op ``index`` with the oracle on ``raws``, rows of raw values of its operands; return the number of rows.

    An operand that the op reads several times has one value in a row.
    """
    op = program.ops[index]
    read = list(dict.fromkeys(op.operands))  # a sum may have one operand several times
    kinds = [program.ops[i].type for i in read]
    operands = [var(bits_of(kind), f"m{n}") for n, kind in enumerate(kinds)]
    found = interpret_op(program, op, [operands[read.index(i)] for i in op.operands])
    assert found.value.width == bits_of(op.type) and found.kept.width == 1
    given = {
        term: np.array([row[n] % (1 << term.width) for row in raws], dtype=object) for n, term in enumerate(operands)
    }
    patterns, kept = evaluate([found.value, found.kept], given)
    constant = [len(x) == 1 for x in (patterns, kept)]
    for place, row in enumerate(raws):
        buffer = [Fraction(0)] * program.n_ops
        for i, raw in zip(read, row, strict=True):
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
    """Compare ``code`` with all ``datas``, on all small operand types (or a ``share``) and all their values."""
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
    Code.SHIFT: [-3, -1, 0, 1, 2],
}

SHIFTS = (-1, 0, 1)

BINARY = {
    0: list(SHIFTS),
    1: list(SHIFTS),
    7: [0],
    10: [o << 56 | n << 32 | s & 0xFFFFFFFF for o in range(3) for n in range(4) for s in SHIFTS],
}


def check_sums_of_small_types(number: int, seed: int = 0) -> None:
    """Compare ``number`` random sums of one to five terms: operands of small types, some used twice, and constants."""
    rng = random.Random(seed)
    compared, doubled, constant = 0, 0, 0
    for _ in range(number):
        kinds = [rng.choice(SMALL) for _ in range(rng.randint(1, 3))]
        terms = random_terms(rng, len(kinds), (-2, -1, 0, 0, 1, 2))
        rows: list[tuple[int, int, int, int, Kind]] = [(-1, j, -1, 0, tuple(kind)) for j, kind in enumerate(kinds)]
        data = rng.randint(-6, 6) if any(op < 0 for op, _, _ in terms) else 0
        kind = FixedType(rng.getrandbits(1), rng.randint(1, 4), rng.randint(-1, 3))
        rows.append((Code.SUM, 0, len(terms), data, tuple(rng.choice((kind, kind, rng.choice(SMALL))))))
        program = Program.build(rows, [], inp_shift=[0] * len(kinds), terms=terms)
        read = list(dict.fromkeys(program.ops[-1].operands))
        raws = list(itertools.product(*(values_of(kinds[i]) for i in read)))
        compared += hold(program, len(kinds), raws)
        doubled += len(read) < len(program.ops[-1].operands)
        constant += data != 0
    assert compared > 5 * number and doubled > number // 5 and constant > number // 8


def random_terms(rng: random.Random, operands: int, shifts: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return one to five random terms over ``operands`` operands; one of them may be the constant."""
    count = rng.randint(1, 5)
    terms = [(rng.randrange(operands), rng.choice(shifts), rng.getrandbits(1)) for _ in range(count)]
    if rng.random() < 0.3:
        terms[rng.randrange(count)] = (-1, rng.choice(shifts), 0)
    return terms


def check_a_constant_of_all_small_types() -> None:
    assert everything(5, range(-9, 10), 0, SMALL) == 19 * 24


def mux_cases(share: int) -> Iterator[tuple[int, tuple[FixedType, ...], FixedType]]:
    """Yield every ``share``-th combination of shift and small types of both arms and condition, with a result type.

    Result types take turns, so that each occurs with all pairs of the three.
    """
    for number, (a, b, c) in enumerate(itertools.product(range(len(SMALL)), repeat=3)):
        for n, shift in enumerate(SHIFTS):
            if (number + n) % share == 0:
                yield shift, (SMALL[a], SMALL[b], SMALL[c]), SMALL[(a + b + c + 8 * n) % len(SMALL)]


def check_a_mux_on_all_small_types(code: int, share: int) -> None:
    compared = 0
    for shift, kinds, result in mux_cases(share):
        rows = [(-1, j, -1, 0, tuple(kind)) for j, kind in enumerate(kinds)]
        rows.append((code, 0, 1, shift << 32 | 2, tuple(result)))
        compared += hold(Program.build(rows, [], inp_shift=[0] * 3), 3, list(itertools.product(*map(values_of, kinds))))
    assert compared > 1_900_000 // share  # shares are not of quite the same size


def check_an_input_is_a_slice_of_its_element(number: int) -> None:
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


def check_an_output_is_plus_or_minus_a_value(kind: FixedType, negated: bool) -> None:
    program = Program.build([(-1, 0, -1, 0, tuple(kind))], [(0, 2, negated)], inp_shift=[0])
    (width,) = (element.width for element in ports_of(program).outputs)
    operand = var(kind.width, "m")
    term = interpret_output(kind, operand, negated)
    assert term.width == width
    raws = list(values_of(kind))
    (patterns,) = evaluate([term], {operand: np.array([raw % (1 << kind.width) for raw in raws])})
    assert [int(p) for p in patterns] == [(-raw if negated else raw) % (1 << width) for raw in raws]
