"""``diff --prove`` proves equal programs equal and finds an input that distinguishes others; brute force agrees."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.door import command
from support.said import as_recorded
from support.strategies import programs
from support.tier import examples

from dais_verif.golden import oracle
from dais_verif.prover.equivalence import Equivalence, compare_programs
from dais_verif.record.proof import Method
from dais_verif.spec.program import Program, load, write_binary
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.ports import ports_of


def network(style: str, width: int, fan: int, seed: int, *, layers: int = 2) -> Program:
    """Return a network whose layers sum ``fan`` shifted values and cut the sums to 7 bits.

    ``style``: trees, chains in another order, or ALIR's own sums. The sums are too small to wrap.
    """
    choice, order = random.Random(seed), random.Random(style)
    rows: list[Any] = [(-1, j, -1, 0, (1, 7, 0)) for j in range(width)]
    of_sums: list[tuple[int, int, int]] = []

    def add(*row: Any) -> int:
        rows.append(row)
        return len(rows) - 1

    total = (1, 15, 0)
    layer = list(range(width))
    for _ in range(layers):
        following = []
        for _ in range(width):
            terms = [(choice.choice(layer), choice.randint(0, 3)) for _ in range(fan)]
            zero = add(5, -1, -1, 0, (0, 1, 0)) if style != "sum" else -1
            if style == "sum":
                order.shuffle(terms)
                first = len(of_sums)
                of_sums += [(index, shift, 0) for index, shift in terms]
                last = add(Code.SUM, first, fan, 0, total)
            elif style == "chain":
                order.shuffle(terms)
                last = zero
                for index, shift in terms:
                    last = add(0, last, index, shift, total)
            else:
                sums = [add(0, zero, index, shift, total) for index, shift in terms]
                while len(sums) > 1:
                    pairs = itertools.zip_longest(sums[::2], sums[1::2])
                    sums = [a if b is None else add(0, a, b, 0, total) for a, b in pairs]
                last = sums[0]
            following.append(add(3, add(2, last, -1, 0, (0, 15, 0)), -1, 0, (0, 7, 0)))
        layer = following
    return Program.build(rows, [(index, 0, 0) for index in layer], inp_shift=[0] * width, terms=of_sums)


@pytest.mark.parametrize(("first", "second"), [("chain", "sum"), ("sum", "tree"), ("sum", "chain")])
def test_sums_of_twelve_terms_are_the_chains_and_trees_that_add_them(first: str, second: str) -> None:
    """Chains, trees and ALIR sums of the same terms are proved equal, although their partial sums differ."""
    a, b = network(first, 6, 12, 1), network(second, 6, 12, 1)
    found = compare_programs(a, b)
    assert found.proved == list(range(6))


def test_a_sum_with_one_other_term_is_told_from_the_chain() -> None:
    a, b = network("chain", 6, 12, 1), network("sum", 6, 12, 1)
    shift = b.terms.shift.copy()
    shift[40] += 1
    wrong = replace(b, terms=b.terms._replace(shift=shift))
    found = compare_programs(a, wrong)
    assert found.witness is not None
    assert outputs(a, found.witness) != outputs(wrong, found.witness)


def outputs(program: Program, vector: tuple[Fraction, ...]) -> list[Fraction]:
    return oracle.outputs_of(program, oracle.trace(program, list(vector), violations=[]))


def check_witness(a: Program, b: Program, found: Equivalence) -> None:
    assert found.witness is not None
    assert outputs(a, found.witness) != outputs(b, found.witness)


@given(programs(widest=6))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_program_is_equal_to_itself(case: tuple[Program, random.Random]) -> None:
    program, _ = case
    found = compare_programs(program, program)
    assert all(found.equal) and found.witness is None


@pytest.mark.parametrize("count", [40, pytest.param(150, marks=pytest.mark.slow)])
def test_brute_force_agrees(count: int) -> None:
    """Brute force agrees on programs that differ in the data or an operand of one op; a few of them are equal."""

    @given(programs(widest=4), st.integers(0, 1 << 30))
    @settings(
        max_examples=examples(count),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    def agrees(case: tuple[Program, random.Random], seed: int) -> None:
        program, _ = case
        chance = random.Random(seed)
        columns = [column.copy() for column in program.columns]
        index = chance.randrange(program.n_ops)
        op = program.ops[index]
        if op.code in (0, 1) and abs(op.data) < 8:
            columns[3][index] += chance.choice([-1, 1])
        elif op.operands and op.id0 > 0 and op.code not in (8, 9, -9):
            columns[1][index] = chance.randrange(index)
        else:
            assume(op.code in (4, 5))
            columns[3][index] ^= 1
        changed = Program.build(
            [(*row[:4], tuple(row[4:])) for row in zip(*(column.tolist() for column in columns), strict=True)],
            program.outputs,
            inp_shift=program.inp_shift.tolist(),
            tables=[table.tolist() for table in program.tables],
        )
        elements = ports_of(program).inputs
        assume(ports_of(changed).inputs == elements and sum(element.width for element in elements) <= 9)
        found = compare_programs(program, changed)
        values = [[Fraction(raw) * oracle.two(e.lo) for raw in range(1 << e.width)] for e in elements]
        differs = any(outputs(program, vector) != outputs(changed, vector) for vector in itertools.product(*values))
        assert not found.undecided or differs
        assert differs == (found.witness is not None)
        if differs:
            check_witness(program, changed, found)

    agrees()


def test_sums_in_another_order() -> None:
    found = compare_programs(network("tree", 8, 6, 1), network("chain", 8, 6, 1))
    assert all(found.equal) and len(found.equal) == 8
    assert found.methods == {Method.IDENTICAL: 8}


def test_another_weight_is_told_apart() -> None:
    a, b = network("tree", 6, 5, 1), network("chain", 6, 5, 2)
    check_witness(a, b, compare_programs(a, b))


def test_a_difference_that_simulation_does_not_meet() -> None:
    """A difference at one of 2^24 values, which random simulation does not meet, is found."""
    rows: list[Any] = [(-1, 0, -1, 0, (0, 24, 0))]
    odd = 0xABCDEF
    bits = [(10, 0, 1, 2 << 56, (0, 24, 0)), (9, 2, -1, 1, (0, 1, 0))]
    a = Program.build([*rows, (5, -1, -1, odd, (0, 24, 0)), *bits], [(3, 0, 0), (3, 0, 0)], inp_shift=[0])
    b = Program.build([*rows, (5, -1, -1, 1, (0, 1, 0))], [(1, 0, 0), (1, 0, 0)], inp_shift=[0])
    found = compare_programs(a, b)
    assert found.witness == (Fraction(odd),)
    assert found.equal == (False, None), "the first difference ends the search"


def factors() -> tuple[Program, Program]:
    """Return two programs whose equivalence check requires factoring.

    The first computes whether a * b is the product of two primes; neither prime fits the type of a, and the result is
    always 0. The second returns 0.
    """
    product = 16_777_213 * 16_777_199
    rows: list[Any] = [(-1, 0, -1, 0, (0, 23, 0)), (-1, 1, -1, 0, (0, 30, 0))]
    found = [(7, 0, 1, 0, (0, 53, 0)), (5, -1, -1, product, (0, 53, 0)), (10, 2, 3, 2 << 56, (0, 53, 0))]
    answer = [(9, 4, -1, 1, (0, 1, 0)), (9, 5, -1, 0, (0, 1, 0))]
    a = Program.build([*rows, *found, *answer], [(6, 0, 0)], inp_shift=[0, 0])
    return a, Program.build([*rows, (5, -1, -1, 0, (0, 1, 0))], [(2, 0, 0)], inp_shift=[0, 0])


def test_what_takes_too_long_is_undecided() -> None:
    found = compare_programs(*factors(), timeout=0.2)
    assert found.undecided == [0] and found.witness is None


@pytest.mark.parametrize("name", ["p03_fir16", "p05_softmax_lut", "p06_matmul_2in", "p10_bitops", "p12_quant_modes"])
def test_real_programs_in_reverse(name: str, corpus: Path) -> None:
    """The corpus programs are proved equal to themselves with their ops in another order."""
    program = load(corpus / name / "prog.v1.bin")
    place: dict[int, int] = {}
    rows: list[Any] = []
    depth: list[int] = []
    for op in program.ops:
        depth.append(1 + max((depth[i] for i in op.operands), default=0))
    for op in sorted(program.ops, key=lambda op: (depth[op.index], -op.index)):
        place[op.index] = len(rows)
        data = op.data
        if abs(op.code) == 6:
            data = (data >> 32 << 32) | place[op.condition]
        ids = [op.id0 if op.code == -1 else place.get(op.id0, op.id0), place.get(op.id1, op.id1)]
        rows.append((op.code, *ids, data, op.type))
    outs = [(place.get(index, index), shift, negated) for index, shift, negated in program.outputs]
    tables = [table.tolist() for table in program.tables]
    other = Program.build(rows, outs, inp_shift=program.inp_shift.tolist(), tables=tables)
    assert other.hash != program.hash
    found = compare_programs(program, other)
    assert all(found.equal) and len(found.equal) == program.n_out


class TestVerb:
    def files(self, folder: Path, *given: Program) -> list[Path]:
        paths = [folder / f"{name}.bin" for name in "ab"]
        for path, program in zip(paths, given, strict=True):
            path.write_bytes(write_binary(program, "v1"))
        return paths

    def test_equal(self, tmp_path: Path) -> None:
        paths = self.files(tmp_path, network("tree", 4, 4, 1), network("chain", 4, 4, 1))
        ran = command("diff", *paths, "--prove", "--json")
        facts = json.loads(ran.stdout)
        assert (ran.returncode, facts["verdict"]) == (0, "PASS")
        as_recorded(facts["message"])
        assert facts["proof"]["proved"] == [0, 1, 2, 3]

    def test_a_witness_that_the_golden_model_confirms(self, tmp_path: Path) -> None:
        rows: list[Any] = [(-1, 0, -1, 0, (0, 24, 0)), (5, -1, -1, 0x123456, (0, 24, 0))]
        a = Program.build(
            [*rows, (10, 0, 1, 2 << 56, (0, 24, 0)), (9, 2, -1, 1, (0, 1, 0))], [(3, 0, 0)], inp_shift=[0]
        )
        b = Program.build([rows[0], (5, -1, -1, 1, (0, 1, 0))], [(1, 0, 0)], inp_shift=[0])
        ran = command("diff", *self.files(tmp_path, a, b), "--prove", "--json")
        facts = json.loads(ran.stdout)
        assert (ran.returncode, facts["verdict"]) == (1, "PROGRAMS_DIFFER")
        assert facts["difference"]["witness"] == [str(0x123456)]

    def test_outputs_without_a_bit_are_no_proof(self, tmp_path: Path) -> None:
        rows: list[Any] = [(-1, 0, -1, 0, (0, 8, 0)), (3, 0, -1, 0, (0, 0, 0))]
        a, b = (Program.build(rows, outputs, inp_shift=[0]) for outputs in ([(1, 0, 0)], [(-1, 0, 0)]))
        for first, second in ((a, b), (a, a)):
            ran = command("diff", *self.files(tmp_path, first, second), "--prove", "--json")
            facts = json.loads(ran.stdout)
            assert (ran.returncode, facts["verdict"], facts["proof"]) == (6, "NOT_RUN", None)
            as_recorded(facts["message"])

    def test_undecided_is_unknown(self, tmp_path: Path) -> None:
        ran = command("diff", *self.files(tmp_path, *factors()), "--prove", "--timeout", 0.2, "--json")
        facts = json.loads(ran.stdout)
        assert (ran.returncode, facts["verdict"]) == (6, "UNKNOWN")
        assert "undecided: output 0" in facts["message"]
