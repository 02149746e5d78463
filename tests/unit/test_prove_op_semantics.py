"""The prover's semantics of every opcode equals the oracle's on all small types and on random large ones."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.op_semantics_held import (
    BINARY,
    SHIFTS,
    SMALL,
    TABLES,
    UNARY,
    Kind,
    check_a_constant_of_all_small_types,
    check_a_mux_on_all_small_types,
    check_an_input_is_a_slice_of_its_element,
    check_an_output_is_plus_or_minus_a_value,
    check_sums_of_small_types,
    everything,
    hold,
    program_of,
    random_terms,
    values_of,
)

from dais_verif.prover.op_semantics import interpret_op
from dais_verif.prover.terms import Term, nodes, var
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import OPCODES, Code
from dais_verif.spec.program.types import LIMIT


@pytest.mark.few(6)
@pytest.mark.parametrize("code", UNARY)
def test_an_op_of_one_operand_on_all_small_types(code: int) -> None:
    assert everything(code, UNARY[code], 1, SMALL) > 1000


@pytest.mark.parametrize("number", [600, pytest.param(100_000, marks=pytest.mark.slow)])
def test_sums_of_small_types(number: int) -> None:
    check_sums_of_small_types(number)


def test_a_constant_of_all_small_types() -> None:
    check_a_constant_of_all_small_types()


@pytest.mark.parametrize("code", BINARY)
def test_an_op_of_two_operands_on_all_small_types(code: int) -> None:
    """This test takes a sample of the types; the slow test takes all of them."""
    rng = random.Random(code)
    datas = rng.sample(BINARY[code], min(2, len(BINARY[code])))
    assert everything(code, datas, 2, rng.sample(SMALL, 2), 0.25) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("code", BINARY)
def test_an_op_of_two_operands_on_all_small_types_and_results(code: int) -> None:
    assert everything(code, BINARY[code], 2, SMALL) > 100_000


@pytest.mark.parametrize("code", [6, -6])
@pytest.mark.parametrize("share", [397, pytest.param(1, marks=pytest.mark.slow)])
def test_a_mux_on_all_small_types(code: int, share: int) -> None:
    check_a_mux_on_all_small_types(code, share)


@pytest.mark.parametrize("number", [400, pytest.param(3 * 24 * 24, marks=pytest.mark.slow)])
def test_an_input_is_a_slice_of_its_element(number: int) -> None:
    check_an_input_is_a_slice_of_its_element(number)


@pytest.mark.parametrize("kind", [kind for kind in SMALL if kind.width])
@pytest.mark.parametrize("negated", [False, True])
def test_an_output_is_plus_or_minus_a_value(kind: FixedType, negated: bool) -> None:
    check_an_output_is_plus_or_minus_a_value(kind, negated)


#: Terms of sums that read two ops: with signs, shifts, an op twice, and constants at either end.
SUMS = [
    [(0, 0, 0), (1, 0, 1)],
    [(0, 0, 1), (1, 1, 1), (0, -1, 0)],
    [(1, 0, 0), (-1, -1, 0), (0, 2, 1)],
    [(-1, 1, 0), (0, 0, 0), (1, 0, 0), (0, 0, 1)],
]

#: All types up to five bits, one of them twice: 37, a prime, so that lines of the plane over 37 numbers meet once.
FIVE = [FixedType(k, width - k - f, f) for k in (0, 1) for width in range(6) for f in (-1, 0, 1)]
FIVE.append(FIVE[-1])


@pytest.mark.parametrize("code", [code for code in OPCODES if code not in (-1, 5)])
@pytest.mark.parametrize("share", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_types_to_five_bits_pairwise(code: int, share: int) -> None:
    """Any two of operands, condition, result and data take all pairs of values, as lines of a plane meet once."""
    muxes = [s << 32 | 2 for s in SHIFTS]
    datas = {6: muxes, -6: muxes, Code.SUM: [-3, 1, 2], **UNARY, **BINARY}[code]
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
        terms = SUMS[(a + b) % len(SUMS)] if code == Code.SUM else []
        ids = (0, len(terms)) if terms else [*range(len(program_shape(code))), -1, -1][:2]
        data = data if code != Code.SUM or any(op < 0 for op, _, _ in terms) else 0
        rows.append((code, *ids, data, tuple(result)))
        program = Program.build(rows, [], inp_shift=[0] * len(kinds), tables=TABLES, terms=terms)
        kinds = [kinds[i] for i in dict.fromkeys(program.ops[-1].operands)]
        raws = list(itertools.product(*map(values_of, kinds)))
        compared += hold(program, len(kinds), rng.sample(raws, min(64, len(raws))))
    assert compared > 5_000 // share


def random_cases(rng: random.Random) -> Iterator[tuple[Program, int, list[list[int]]]]:
    """Yield programs of one op of random types, up to hundreds of bits, with its index and rows of operand values."""
    while True:
        code = rng.choice([code for code in OPCODES if code != -1])
        arity = len(program_shape(code))
        widest = rng.choice((6, 12, 33, 70, 200))
        kinds = [random_kind(rng, widest) for _ in range(3 if abs(code) == 6 else arity)]
        result, data = random_kind(rng, widest + 8), random_data(rng, code)
        if code == 8:
            result = FixedType(1, 70 - result.f, result.f)
        rows: list[tuple[int, int, int, int, Kind]] = [(-1, j, -1, 0, tuple(k)) for j, k in enumerate(kinds)]
        shifts = [0, rng.choice((0, 1, -1, 4, -7, rng.randint(-90, 90)))]
        terms = random_terms(rng, arity, shifts) if code == Code.SUM else []
        ids = (0, len(terms)) if terms else [*range(arity), -1, -1][:2]
        data = 0 if terms and all(op >= 0 for op, _, _ in terms) else data
        rows.append((code, *ids, data, tuple(result)))
        tables = [[rng.getrandbits(62) - (1 << 61) for _ in range(rng.choice((1, 3, 16, 37)))]]
        program = Program.build(rows, [], inp_shift=[0] * len(kinds), tables=tables, terms=terms)
        read = dict.fromkeys(program.ops[-1].operands)
        yield program, len(kinds), [[random_raw(rng, kinds[i]) for i in read] for _ in range(8)]


def program_shape(code: int) -> range:
    return range({"TERMS": 2, "BINARY": 2, "UNARY": 1, "NONE": 0}[OPCODES[code].pattern.name])


def random_kind(rng: random.Random, widest: int) -> FixedType:
    k, width, f = rng.getrandbits(1), rng.randint(0, widest), rng.randint(-10, 10)
    return FixedType(k, width - k - f, f)


def random_data(rng: random.Random, code: int) -> int:
    shift = rng.choice((0, 0, 1, -1, 3, -5, rng.randint(-90, 90)))
    if code in (0, 1, Code.SHIFT):
        return shift
    if code in (4, 5, Code.SUM):
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
        compared += hold(program, index, raws)
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


@pytest.mark.parametrize("forgotten", ["sign", "shift", "constant", "second reading"])
def test_the_comparison_sees_a_wrong_sum(forgotten: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from dais_verif.prover import op_semantics as module

    right = module._sum

    def wrong(s: module._Scope) -> module.Integer:
        kept = [
            t._replace(
                negative=t.negative and forgotten != "sign",
                shift=0 if forgotten == "shift" else t.shift,
            )
            for t in s.op.terms
        ]
        if forgotten == "constant":
            kept = [t for t in kept if t.op >= 0] or kept
        op = s.op
        if forgotten == "second reading":
            first = {t.op: t for t in reversed(kept)}
            kept = [first[t.op] for t in kept]
        s.op = replace(op, terms=tuple(kept))
        return right(s)

    monkeypatch.setitem(module._RULES, Code.SUM, wrong)
    with pytest.raises(AssertionError, match=r"\((sum|neg|add_term)\)"):
        check_sums_of_small_types(200)


def test_a_sum_is_one_addition_of_all_its_terms() -> None:
    kind = FixedType(1, 7, 0)
    rows = [(-1, j, -1, 0, tuple(kind)) for j in range(5)]
    terms = [(j, j - 2, j & 1) for j in range(5)]
    program = Program.build([*rows, (Code.SUM, 0, 5, 0, (1, 14, 2))], [], inp_shift=[0] * 5, terms=terms)
    found = interpret_op(program, program.ops[-1], [var(8, f"m{j}") for j in range(5)]).value
    sums = [t for t in nodes(found) if t.op == "add"]
    assert len(sums) == 1 and len(sums[0].args) == 5


def test_what_a_sum_takes_away_from_itself_is_nothing() -> None:
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (-1, 1, -1, 0, (1, 7, 0))]
    terms = [(0, 1, 0), (1, 0, 0), (0, 1, 1)]
    program = Program.build([*rows, (Code.SUM, 0, 3, 0, (1, 7, 0))], [], inp_shift=[0, 0], terms=terms)
    x, y = var(8, "x"), var(8, "y")
    found = interpret_op(program, program.ops[-1], [x, y, x])
    assert found.value is y
    assert found.kept.op == "const" and found.kept.value == 1


def test_terms_stay_small() -> None:
    """A sum of two values is one addition and two extensions, whatever the shift."""
    kind = FixedType(1, 7, 0)
    program = program_of(0, 3, [kind, kind], [FixedType(1, 11, 0)])
    found: Term = interpret_op(program, program.ops[2], [var(8, "a"), var(8, "b")]).value
    assert [t.op for t in nodes(found)].count("add") == 1
    assert len(nodes(found)) <= 7
