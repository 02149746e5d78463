"""The fast engine equals the oracle: on random programs, in every form of vectors, on every instruction set."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fast_cases import Way, beyond, campaign, exact, isas, problems, random_vectors, safe_ops, vectors

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.golden import Golden, oracle
from dais_verif.golden.fast import FastProgram
from dais_verif.spec.program import OPCODES, Program, load
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.ranges import PromiseStatus, analyse

pytestmark = pytest.mark.usefixtures("kernel")

Row = tuple[int, int, int, int, tuple[int, int, int]]

#: The least share of random programs that the kernel takes; the others have inputs or outputs of more than 64 bits.
SHARE = 0.75


@pytest.mark.parametrize("chunk", [pytest.param(chunk, marks=[pytest.mark.slow] * (chunk >= 2)) for chunk in range(6)])
def test_equals_the_oracle_on_random_programs(chunk: int) -> None:
    covered = campaign(range(chunk * 500, chunk * 500 + 500))
    assert covered["programs"] >= 500 * SHARE
    assert all(covered[f"opcode {code}"] for code in OPCODES)
    assert all(covered[name] for name in isas())
    assert all(covered[kind] for kind in ("exact", "doubles", "doubles to integers", "int8", "int16", "int32", "int64"))
    assert all(covered[f"{jobs} jobs"] for jobs in (1, 2, 3))
    assert all(covered[f"{some} broken promise, check {check}"] for some in ("a", "no") for check in (False, True))
    assert all(covered[f"{rows} rows"] for rows in (1, 31, 32, 33, 70))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(50))
def test_equals_the_oracle_on_100_000_programs(chunk: int) -> None:
    first, covered = 1_000_000 * (chunk + 1), Counter[str]()
    while covered["programs"] < 2000:
        covered += campaign(range(first, first + 100))
        first += 100


# ------------------------------------------------------------------ shapes that are rare among random programs


def everywhere(program: Program, *given: Any, fuse: bool = True) -> None:
    """Compare the engine with the oracle on ``given`` vectors, in row code and in planes, on every instruction set."""
    made = FastProgram(program, fuse=fuse)
    for each in given:
        found = vectors(program, each)
        some = np.arange(len(found.broken))
        for isa, check, rows in product(isas(), (False, True), (some, np.resize(some, 32 + len(some)))):
            assert not problems(made, found, rows, Way(isa, check, raw=True))


def sums(rng: random.Random, leaves: int) -> Program:
    """Return a tree of sums and differences with shifts, in types that hold every sum, so that the kernel fuses it."""
    rows: list[Row] = []
    open_ends: list[tuple[int, int, int, int]] = []  # op, lowest and highest raw value, fractional bits
    for j in range(leaves):
        k, width, f = rng.getrandbits(1), rng.randint(0, 6), rng.randint(-2, 2)
        rows.append((-1, j, -1, 0, (k, width - k - f, f)))
        low = -(1 << width - 1) if k and width else 0
        open_ends.append((j, low, low + (1 << width) - 1, f))
    while len(open_ends) > 1:
        a, b = (open_ends.pop(rng.randrange(len(open_ends))) for _ in range(2))
        code, shift = rng.randint(0, 1), rng.randint(-3, 3)
        f = max(a[3], b[3] - shift)
        x, y = ([end << f - each[3] + s for end in each[1:3]] for each, s in ((a, 0), (b, shift)))
        low, high = (x[0] - y[1], x[1] - y[0]) if code else (x[0] + y[0], x[1] + y[1])
        integer = max(low.bit_length(), high.bit_length()) + rng.choice((0, 0, 2)) - f
        rows.append((code, a[0], b[0], shift, (1, integer, f)))
        open_ends.append((len(rows) - 1, low, high, f))
    return Program.build(rows, [(len(rows) - 1, 0, rng.getrandbits(1))], inp_shift=[0] * leaves)


@pytest.mark.parametrize("leaves", range(2, 14))
def test_fused_sums(leaves: int) -> None:
    rng = random.Random(leaves)
    for _ in range(12):
        program = sums(rng, leaves)
        everywhere(program, random_vectors(rng, program)[0])
        everywhere(program, random_vectors(rng, program)[1], fuse=False)


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("terms", range(2, 8))
def test_sums_of_terms_that_are_all_as_large_as_can_be(terms: int, k: int) -> None:
    """Sums are exact if every term is at an end of its range; the first terms are added, the others subtracted."""
    corners = (-4, 3) if k else (0, 7)
    given = np.array([*product(corners, repeat=terms)], dtype=np.int8).T.copy()
    for negative in range(terms):
        rows: list[Row] = [(-1, j, -1, 0, (k, 3 - k, 0)) for j in range(terms)]
        for j in range(1, terms):
            rows.append((int(j >= terms - negative), len(rows) - 1 if j > 1 else 0, j, 0, (1, 6, 0)))
        everywhere(Program.build(rows, [(len(rows) - 1, 0, 0)], inp_shift=[0] * terms), given)


def test_sums_are_fused_unless_told_not_to() -> None:
    program = sums(random.Random(0), 13)
    assert FastProgram(program).facts.runs < FastProgram(program, fuse=False).facts.runs


@pytest.mark.parametrize("widest", [3, 5, 7])
def test_every_input_of_small_programs(widest: int) -> None:
    """All bit patterns of the ports are run, and no op that is called safe ever breaks its promise."""
    taken = 0
    for seed in range(120):
        rng = random.Random(f"{widest} {seed}")
        program = random_program(rng, rng.choice((4, 10)), widest=widest)
        patterns = every_input(program, 7)
        if patterns is None or beyond(program):
            continue
        made, found = FastProgram(program), vectors(program, patterns)
        for check in (False, True):
            assert not any(safe_ops(made, check)[op] for op in found.broken_ops), seed
            assert not problems(made, found, np.arange(patterns.shape[1]), Way(rng.choice(isas()), check)), seed
        taken += 1
    assert taken > 20


@pytest.mark.few(6)
@pytest.mark.parametrize("code", [0, 1, 2, -2, 3, -3, 4, 6, -6, 7, 9, -9, 10])
def test_exact_results_of_about_64_bits(code: int) -> None:
    """Results are right if exact ones do not fit a machine integer, of whose bits the types hold only a few."""
    rng = random.Random(code)
    for _ in range(40):
        k, shift = rng.getrandbits(1), rng.choice((0, 1, -7, 23, 30, 32, 33, 53, 54, 61, 63))
        width = rng.choice((8, 29, 31, 32, 33, 54, 60, 61, 62))
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if k else (0, (1 << width) - 1)
        data = {4: (1 << abs(shift)) - 1, 6: shift << 32, 9: 0, 10: 1 << 32 | shift & 0xFFFF_FFFF}
        id1 = 1 if code in (0, 1, 6, -6, 7, 10) else -1
        for top in (7, width + abs(shift) - 1, 2 * width - 1):
            kinds = [(1, top, 7 - top), (0, top, 8 - top)]
            rows: list[Row] = [(-1, j, -1, 0, (k, width - k, 0)) for j in (0, 1)]
            rows += [(code, 0, id1, data.get(abs(code), shift if code in (0, 1) else 0), kind) for kind in kinds]
            corners = np.array([*product((low, high, low + 1, 1 << width // 2), repeat=2)], dtype=np.int64).T.copy()
            made = FastProgram(Program.build(rows, [(2, 0, 0), (3, 0, 0)], inp_shift=[0, 0]))
            found = vectors(made.program, corners)
            for check, count in product((False, True), (16, 33)):
                problem = problems(made, found, np.arange(count) % 16, Way(isas()[0], check))
                assert not problem, (k, width, shift, top, problem)


def lookup(width: int, k: int, offset: int, table: list[int], kind: tuple[int, int, int]) -> Program:
    rows = [(-1, 0, -1, 0, (k, width - k, 0)), (8, 0, -1, offset << 32, kind)]
    return Program.build(rows, [(1, 0, 0)], inp_shift=[0], tables=[table])


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("width", [0, 1, 8, 9, 16, 17, 24, 31])
@pytest.mark.parametrize("place", [0.0, 0.3, 1.0])
def test_lookups_by_up_to_31_bits(width: int, k: int, place: float) -> None:
    """Lookups are right wherever a table of 5 entries lies in its operand's range, also partly beyond either end."""
    low, offset = (-(1 << width - 1) if k and width else 0), round(place * (1 << width)) - 2
    near = [low + offset + step for step in range(-2, 8)]
    far = [low, low + (1 << width) - 1, 0]
    given = [[value] for value in near + far if low <= value < low + (1 << width)]
    everywhere(lookup(width, k, offset, [3, -4, 5, -60, 7], (1, 6, 0)), np.array(given, dtype=np.int32).T.copy())


@pytest.mark.parametrize("kind", [(1, 40, 0), (0, 63, 0), (1, 63, 0), (1, 30, 20)])
def test_tables_of_large_numbers(kind: tuple[int, int, int]) -> None:
    top = (1 << min(kind[1] + kind[2], 62)) - 1
    table = [0, top, top - 1, -top if kind[0] else 1, 1 << 32, 5]
    everywhere(lookup(3, 0, 0, table, kind), np.arange(8, dtype=np.int8).reshape(1, 8))


def test_entries_of_tables_are_extended_to_wider_types() -> None:
    rows = [
        (-1, 0, -1, 0, (0, 2, 0)),
        (8, 0, -1, 0, (1, 99, 0)),
        (8, 0, -1, 0, (1, 99, 0)),
        (0, 1, 2, 62, (1, 120, -62)),
    ]
    program = Program.build(rows, [(3, 0, 0)], inp_shift=[0], tables=[[-5, 3, 0, -(1 << 62)]])
    everywhere(program, np.arange(4, dtype=np.int8).reshape(1, 4))


@pytest.mark.parametrize("wide", [(31, 32), (62, 3), (64, 64), (100, 37), (40, 200)])
@pytest.mark.parametrize("signs", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_products_of_any_width(wide: tuple[int, int], signs: tuple[int, int]) -> None:
    """Products of any width are right; operands wider than any input are sums of an input and its shifted copy."""
    kinds = [(k, width - k, 0) for k, width in zip(signs, wide, strict=True)]
    rows: list[Row] = [(-1, j, -1, 0, (k, min(i, 64 - k), 0)) for j, (k, i, _) in enumerate(kinds)]
    rows += [(0, j, j, max(kinds[j][1] - 64, 0), (kinds[j][0], kinds[j][1] + 1, 0)) for j in (0, 1)]
    total = sum(wide)
    rows.append((7, 2, 3, 0, (1, total + 2, 0)))
    rows += [(3, 4, -1, 0, (1, 63 - f, f)) for f in range(0, -total, -60)]
    program = Program.build(rows, [(op, 0, 0) for op in range(5, len(rows))], inp_shift=[0, 0])
    corners = [-(1 << 63), (1 << 63) - 1, -1, 0, 1, 0x5555_5555_5555_5555]
    everywhere(program, np.array([*product(corners, corners)], dtype=np.int64).T.copy())


@pytest.mark.parametrize(("n_in", "n_out"), [(0, 0), (0, 3), (3, 0), (1, 1), (7, 9), (8, 8), (40, 65), (600, 1)])
def test_any_number_of_inputs_and_outputs(n_in: int, n_out: int) -> None:
    rows: list[Row] = [(-1, j, -1, 0, (1, 5, 2)) for j in range(n_in)] or [(5, -1, -1, -7, (1, 5, 2))]
    outputs = [((5 * j) % (len(rows) + 1) - 1, j % 3, j % 2) for j in range(n_out)]
    program = Program.build(rows, outputs, inp_shift=[0] * n_in)
    numbers = np.random.default_rng(0)
    doubles = numbers.integers(-200, 200, (5, n_in)) / 8
    everywhere(program, doubles, numbers.integers(-128, 128, (n_in, 5)).astype(np.int8))


@pytest.mark.few(4)
@pytest.mark.parametrize("bits", [8, 16, 24, 32, 53, 64])
def test_outputs_that_no_cache_holds(bits: int) -> None:
    """Outputs of at most ``bits`` bits, mostly unaligned, are written as the narrowest integers or as doubles."""
    rows: list[Row] = [(-1, 0, -1, 0, (1, 63, 0))]
    rows += [(3, 0, -1, 0, (1, width - 1, 0)) for width in (bits, 5, bits - 1, bits - 3, bits // 2)]
    program = Program.build(rows, [(op, 0, 0) for op in range(1, len(rows))], inp_shift=[0])
    x = np.random.default_rng(bits).integers(-(1 << 63), (1 << 63) - 1, (1, 37))
    made = FastProgram(program)
    given = [vectors(program, x)] + ([vectors(program, x.T.astype(np.float64))] if bits <= 53 else [])
    for each in given:
        size = 8 if each.given.dtype == np.float64 else np.dtype(made.narrowest).itemsize
        many = np.arange((17 << 20) // (size * program.n_out) | 1) % 37
        for jobs, isa in enumerate(isas(), 1):
            assert not problems(made, each, many, Way(isa, False, jobs))


def test_few_ops_of_very_many_inputs() -> None:
    """A program runs that reads only the last of very many inputs: the engine keeps values per op, not per input."""
    n_in = 200_000
    program = Program.build([(-1, n_in - 1, -1, 0, (1, 7, 0))], [(0, 0, 0)], inp_shift=[0] * n_in)
    x = np.zeros((n_in, 2), dtype=np.int8)
    x[-1] = 7, -8
    assert Golden(program, engine="fast").run_planar(x).tolist() == [[7, -8]]


# ------------------------------------------------------------------ which promises are checked at run time


def test_most_promises_of_real_programs_are_proved(corpus: Path) -> None:
    """At least 99 % of all promises are proved, and none that exact interval arithmetic does not prove."""
    proved = promised = 0
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        program = load(folder / "prog.v1.bin")
        safe = safe_ops(FastProgram(program), check=True)
        promises = [op.index for op in program.ops if op.spec.promise]
        by_kernel = {index for index in promises if safe[index]}
        assert by_kernel <= set(analyse(program).promises(PromiseStatus.SAFE)), folder.name
        assert len(by_kernel) >= 0.75 * len(promises), folder.name
        proved, promised = proved + len(by_kernel), promised + len(promises)
    assert proved >= 0.99 * promised


@pytest.mark.parametrize("chunk", [pytest.param(chunk, marks=[pytest.mark.slow] * (chunk >= 2)) for chunk in range(4)])
def test_no_proof_is_off_by_one(chunk: int) -> None:
    """A promise that some input breaks is never called safe, even by one unit.

    To every op of a small program a constant is added that takes the op's largest or smallest value to the end of a
    type, or one unit beyond the end; the promise is that the sum stays within that type.
    """
    proved = 0
    for seed in range(chunk * 150, chunk * 150 + 150):
        rng = random.Random(seed)
        program = random_program(rng, rng.choice((3, 6)), widest=3)
        patterns = every_input(program, 6)
        if patterns is None:
            continue
        rows = rows_of(program)
        traces = [oracle.trace(program, row, violations=[]) for row in exact(program, patterns)]
        for op in (op for op in program.ops if op.type.width <= 30):
            raw = [int(values[op.index] * oracle.two(op.type.f)) for values in traces]
            for beyond_end in (0, 1):
                for constant in ((1 << 40) - 1 - max(raw) + beyond_end, -(1 << 40) - min(raw) - beyond_end):
                    rows.append((4, op.index, -1, constant, (1, 40 - op.type.f, op.type.f)))
        tight = Program.build(
            rows, program.outputs, inp_shift=program.inp_shift.tolist(), tables=[[*table] for table in program.tables]
        )
        if beyond(tight):
            continue
        found, safe = vectors(tight, patterns), safe_ops(FastProgram(tight), check=True)
        assert not any(safe[op] for op in found.broken_ops), seed
        proved += int(safe[program.n_ops :].sum())
    assert proved > 100


def rows_of(program: Program) -> list[Row]:
    return [(op.code, op.id0, op.id1, op.data, op.type) for op in program.ops]


def every_input(program: Program, bits: int) -> np.ndarray | None:
    """Return all bit patterns of the input port as planar integers, or None if it has more than ``bits`` bits."""
    widths = [element.width for element in ports_of(program).inputs]
    if sum(widths) > bits:
        return None
    return np.array([*product(*(range(1 << width) for width in widths))], dtype=np.int16).T.copy()


def test_a_result_that_is_cut_proves_nothing() -> None:
    """Unchecked code computes only those bits of a sum that its type holds; the fact that they fit proves nothing."""
    kind = (1, 7, 0)
    rows = [(-1, 0, -1, 0, kind), (0, 0, 0, 0, kind), (4, 0, -1, 1, kind), (7, 0, 0, 0, kind)]
    made = FastProgram(Program.build(rows, [(1, 0, 0), (2, 0, 0), (3, 0, 0)], inp_shift=[0]))
    assert not any(safe_ops(made, check).any() for check in (False, True))
    assert not made.facts.safe.any()


def test_gates_are_never_cut_and_prove_what_they_hold_unchecked() -> None:
    """Gates on two unsigned numbers of different formats are proved to fit, except the one whose type lacks a bit.

    The numbers have different widths and fractional bits.
    """
    rows: list[Row] = [(-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 3, 3))]
    rows += [(10, 0, 1, gate << 56, (0, 4, 3)) for gate in (0, 1, 2)] + [(10, 0, 1, 2 << 56, (0, 3, 3))]
    rows += [(9, 0, -1, data, (k, 4, 0)) for data, k in ((0, 0), (0, 1), (1, 0), (2, 0))] + [(-9, 0, -1, 2, (0, 1, 0))]
    program = Program.build(rows, [(op, 0, 0) for op in range(2, len(rows))], inp_shift=[0, 0])
    made = FastProgram(program)
    for check in (False, True):
        assert np.flatnonzero(~safe_ops(made, check)[2:]).tolist() == [3]
    everywhere(program, np.array([*product(range(16), range(64))], dtype=np.int8).T.copy())
