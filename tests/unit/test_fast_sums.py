"""The fast engine equals the oracle for sums of any number of terms, fused or not, and for shifts."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from support.fast_cases import Way, forced, isas, planar_vectors, problems, random_vectors, safe_ops, vectors
from support.places import ALIR

from dais_verif.golden import Golden, oracle
from dais_verif.golden.coverage_probes import CoverageProbes
from dais_verif.golden.fast import FastProgram
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import Code

pytestmark = pytest.mark.usefixtures("kernel")

Row = tuple[int, int, int, int, tuple[int, int, int]]
Term = tuple[int, int, int]
ROWS = (1, 33, 70)


def everywhere(program: Program, *given: object, fuse: bool = True) -> FastProgram:
    """Compare the engine with the oracle in row code and in planes, checked or not, with every instruction set."""
    made = FastProgram(program, fuse=fuse)
    for each in given:
        found = vectors(program, each)
        for check in (False, True):
            assert not set(np.flatnonzero(safe_ops(made, check)).tolist()) & found.broken_ops
        some = np.arange(len(found.broken))
        for isa, check, rows in product(isas(), (False, True), (some, np.resize(some, 32 + len(some)))):
            assert not problems(made, found, rows, Way(isa, check, raw=True))
    return made


class Tree:
    """A tree of sums that are each read once, in types that hold every sum, so that the kernel fuses it."""

    def __init__(self, rng: random.Random, leaves: int) -> None:
        self.rng, self.rows, self.terms = rng, list[Row](), list[Term]()
        #: Op, lowest and highest raw value, fractional bits.
        self.open = [self.leaf(j) for j in range(leaves)]
        while len(self.open) > 1:
            self.open.append(self.sum())
        self.program = Program.build(
            self.rows, [(self.open[0][0], 0, rng.getrandbits(1))], inp_shift=[0] * leaves, terms=self.terms
        )

    def leaf(self, j: int) -> tuple[int, int, int, int]:
        k, width, f = self.rng.getrandbits(1), self.rng.randint(0, 6), self.rng.randint(-2, 2)
        self.rows.append((-1, j, -1, 0, (k, width - k - f, f)))
        low = -(1 << width - 1) if k and width else 0
        return j, low, low + (1 << width) - 1, f

    def sum(self) -> tuple[int, int, int, int]:
        rng, first = self.rng, len(self.terms)
        taken = [self.open.pop(rng.randrange(len(self.open))) for _ in range(min(rng.randint(1, 4), len(self.open)))]
        terms = [(op, lo, hi, f, rng.randint(-3, 3), rng.getrandbits(1)) for op, lo, hi, f in taken]
        data = rng.choice((0, 0, 1, -1, 5, -88, 1000)) if rng.random() < 0.4 else 0
        if data:
            terms.insert(rng.randint(0, len(terms)), (-1, data, data, 0, rng.randint(-3, 3), 0))
        point = max(f - shift for _, _, _, f, shift, _ in terms)
        low = high = 0
        for op, lo, hi, f, shift, negative in terms:
            self.terms.append((op, shift, negative))
            up = point - (f - shift)
            low += (-hi if negative else lo) << up
            high += (-lo if negative else hi) << up
        integer = max(low.bit_length(), high.bit_length()) + rng.choice((0, 0, 2)) - point
        self.rows.append((Code.SUM, first, len(terms), data, (1, integer, point)))
        return len(self.rows) - 1, low, high, point


@pytest.mark.parametrize("leaves", range(1, 14))
def test_trees_of_sums(leaves: int) -> None:
    rng, fused = random.Random(leaves), 0
    for _ in range(15):
        program = Tree(rng, leaves).program
        given = random_vectors(rng, program)
        made, plain = everywhere(program, given[0], given[1]), everywhere(program, given[1], fuse=False)
        fused += made.facts.runs < plain.facts.runs
    assert fused or leaves < 3


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8])
def test_terms_that_are_all_as_large_as_can_be(count: int, k: int) -> None:
    """Sums are exact if every term is at an end of its range, and any number of terms is subtracted."""
    corners = (-4, 3) if k else (0, 7)
    given = np.array([*product(corners, repeat=count)], dtype=np.int8).T.copy()
    for negative in {0, 1, count // 2, count - 1, count}:
        for shift in (0, 1):
            rows: list[Row] = [(-1, j, -1, 0, (k, 3 - k, 0)) for j in range(count)]
            rows.append((Code.SUM, 0, count, 0, (1, 13, 0)))
            terms = [(j, shift * j, int(j >= count - negative)) for j in range(count)]
            everywhere(Program.build(rows, [(count, 0, 0)], inp_shift=[0] * count, terms=terms), given[:, -256:].copy())


@pytest.mark.parametrize("count", [6, 7, 11, 12, 40, 300])
def test_many_terms(count: int) -> None:
    """Sums of more terms than one chain takes are right.

    The sums of chains are terms of the next chain; signs are random, all plus, or all minus.
    """
    rng = random.Random(count)
    for signs in ([rng.getrandbits(1) for _ in range(count)], [0] * count, [1] * count):
        for kind in ((1, 14, 3), (1, 5, 1), (0, 9, 0)):
            rows: list[Row] = [(-1, j, -1, 0, (j & 1, 4, 1)) for j in range(4)]
            rows.append((Code.SUM, 0, count, -77, kind))
            terms = [(rng.randint(0, 3), rng.randint(-2, 3), sign) for sign in signs]
            terms[rng.randrange(count)] = (-1, rng.randint(-2, 3), 0)
            program = Program.build(rows, [(4, 0, 0)], inp_shift=[0] * 4, terms=terms)
            everywhere(program, planar_vectors(rng, program, 5))


@pytest.mark.parametrize("data", [0, 1, -1, 7, -64, (1 << 62) + 1, (1 << 63) - 1, -(1 << 63)])
def test_constants(data: int) -> None:
    """Constants are right, alone and beside an operand, in types that hold the sum and in types that do not."""
    for shift, kind in product((-70, -63, -3, 0, 5), ((1, 70, 5), (1, 3, 4), (0, 4, 0))):
        rows: list[Row] = [
            (-1, 0, -1, 0, (1, 3, 2)),
            (Code.SUM, 0, 2, data, kind),
            (Code.SUM, 2, 1, data, kind),
            *[(3, op, -1, 0, (1, 60 - f, f)) for op in (1, 2) for f in (3, -20)],
        ]
        terms = [(0, 0, 0), (-1, shift, 0), (-1, shift, 0)]
        program = Program.build(rows, [(op, 0, 0) for op in range(3, 7)], inp_shift=[0], terms=terms)
        everywhere(program, np.array([[-32, -1, 0, 1, 31]], dtype=np.int8))


@pytest.mark.parametrize("shift", [-4096, -65, -8, -1, 0, 1, 8, 62, 65, 4096])
@pytest.mark.parametrize("k", [0, 1])
def test_shifts(shift: int, k: int) -> None:
    """Values are quantised after the shift, to types that lie above, below or at the shifted bits."""
    near = max(min(shift, 4000), -4000)
    kinds = [(1, 4, 2), (0, 3, 0), (1, 3 + near, -near), (0, 2 + near, 1 - near), (1, -1 + near, 3 - near)]
    rows: list[Row] = [(-1, 0, -1, 0, (k, 5 - k, 2)), *[(Code.SHIFT, 0, -1, shift, kind) for kind in kinds]]
    program = Program.build(rows, [(op, 0, 0) for op in range(1, len(rows))], inp_shift=[0])
    everywhere(program, np.arange(-64, 64, dtype=np.int8).reshape(1, -1))


def test_what_cancels_is_not_said_to_be_unsafe_or_wrong() -> None:
    """A sum with one op in several terms, such as x + x - 2x, which is 0, is neither wrong nor called unsafe."""
    rows: list[Row] = [(-1, 0, -1, 0, (1, 7, 0)), (Code.SUM, 0, 3, 0, (0, 0, 0)), (Code.SUM, 3, 4, 0, (1, 8, 0))]
    terms = [(0, 0, 0), (0, 0, 0), (0, 1, 1), (0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0)]
    program = Program.build(rows, [(1, 0, 0), (2, 0, 0)], inp_shift=[0], terms=terms)
    everywhere(program, np.arange(-128, 128, dtype=np.int16).reshape(1, -1))


def test_what_is_seen_of_sums_and_shifts() -> None:
    """Probes report which bits were 0 or 1 and which values were 0 or positive, as the oracle does."""
    rng = random.Random(5)
    for leaves in range(1, 7):
        tree = Tree(rng, leaves)
        last = len(tree.rows) - 1
        rows = [*tree.rows, (Code.SHIFT, last, -1, -2, (1, 2, 0)), (Code.SHIFT, last, -1, 3, (0, 4, -1))]
        outputs = [(op, 0, 0) for op in range(len(rows))]
        program = Program.build(rows, outputs, inp_shift=[0] * leaves, terms=tree.terms)
        probes, batch = CoverageProbes(program), Batch.of(rng_rows(leaves), leaves)
        seen = probes.nothing()
        probes.see(batch, seen)
        assert probes.engine == "fast"
        traces = [oracle.trace(program, batch.row(row)) for row in range(batch.rows)]
        for op in program.ops:
            width, at = op.type.width, probes.places.at[op.index]
            raw = [int(trace[op.index] * oracle.two(op.type.f)) for trace in traces]
            bits = [[value >> bit & 1 for value in raw] for bit in range(width)]
            expected = [0 in bit for bit in bits] + [1 in bit for bit in bits] + [0 in raw, max(raw) > 0]
            assert not width or seen[at : at + 2 * width + 2].tolist() == expected


def rng_rows(leaves: int) -> np.ndarray:
    return np.random.default_rng(leaves).integers(-9, 9, (50, leaves))


@pytest.mark.parametrize("name", [pytest.param(path.name, id=path.name) for path in sorted(ALIR.glob("a*"))])
def test_real_models(name: str) -> None:
    """Models that alkaid traced give their known exact outputs."""
    (file,) = (ALIR / name).glob("alir.json*")
    program = load(file)
    x, expected = np.load(ALIR / name / "inputs.npy"), np.load(ALIR / name / "expected.npy")
    golden = Golden(program)
    assert golden.engine == "fast"
    assert np.array_equal(golden.run(x), expected)
    for isa in isas():
        with forced(isa):
            for rows in ROWS:
                assert np.array_equal(golden.run(x[:rows]), expected[:rows])


@pytest.mark.parametrize("column", ["op", "shift", "negative"])
def test_a_changed_term_is_told_apart(column: str) -> None:
    """The code of a program with one changed term is found wrong if and only if the oracle finds a difference."""
    seen = {True: 0, False: 0}
    for seed in range(120):
        rng = random.Random(f"{column} {seed}")
        tree = Tree(rng, rng.randint(2, 7))
        terms = [list(term) for term in tree.terms]
        number = rng.choice([j for j, term in enumerate(terms) if term[0] >= 0])
        place = ("op", "shift", "negative").index(column)
        terms[number][place] = (
            rng.choice((rng.randrange(len(tree.program.inp_shift)), 0))
            if place == 0
            else (terms[number][1] + rng.choice((-1, 1)) if place == 1 else 1 - terms[number][2])
        )
        mutant = Program.build(
            tree.rows, tree.program.outputs, inp_shift=tree.program.inp_shift.tolist(), terms=[(*t,) for t in terms]
        )
        given = random_vectors(rng, mutant)[0]
        right, other, made = vectors(tree.program, given), vectors(mutant, given), FastProgram(mutant)
        for count in (3, 40):
            different = bool((right.raw != other.raw).any())
            way = Way(rng.choice(isas()), check=False, raw=True)
            assert bool(problems(made, right, np.arange(count) % 3, way)) == different, seed
            seen[different] += 1
    assert min(seen.values()) > 10
