"""The comparison of the fast engine with the oracle finds wrong engines, for which mutated programs stand in."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from support.fast_cases import Way, beyond, isas, problems, random_vectors, vectors

from dais_verif.base.errors import ProgramError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.golden.fast import FastProgram
from dais_verif.spec.program import Op, Program

pytestmark = pytest.mark.usefixtures("kernel")

Row = tuple[int, int, int, int, tuple[int, int, int]]


def another_opcode(rng: random.Random, op: Op) -> Row:
    others = {0: 1, 1: 0, 2: 3, 3: 2, 4: 4, 7: 7}
    return (others.get(op.code, -op.code), op.id0, op.id1, op.data, op.type)


def another_operand(rng: random.Random, op: Op) -> Row:
    return (op.code, rng.randrange(max(op.index, 1)), op.id1, op.data, op.type)


def another_data_word(rng: random.Random, op: Op) -> Row:
    return (op.code, op.id0, op.id1, op.data + rng.choice((1, -1, 1 << 32, 1 << 56)), op.type)


def another_type(rng: random.Random, op: Op) -> Row:
    k, i, f = op.type
    k, i, f = rng.choice(((1 - k, i, f), (k, i + 1, f), (k, i - 1, f), (k, i, f + 1), (k, i, f - 1)))
    return (op.code, op.id0, op.id1, op.data, (k, i, f))


MUTATIONS: list[Callable[[random.Random, Op], Row]] = [another_opcode, another_operand, another_data_word, another_type]


@pytest.mark.few(2)
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutated_program_is_told_apart_wherever_the_oracle_tells_it_apart(
    mutation: Callable[[random.Random, Op], Row],
) -> None:
    """On the vectors of a program, the code of its mutant is found wrong if and only if the oracle's results differ."""
    seen = Counter[bool]()
    for seed in range(250):
        rng = random.Random(f"{mutation.__name__} {seed}")
        program = random_program(rng, 8, widest=16)
        number = rng.randrange(program.n_ops)
        rows: list[Row] = [(op.code, op.id0, op.id1, op.data, op.type) for op in program.ops]
        rows[number] = mutation(rng, program.ops[number])
        try:
            mutant = Program.build(
                rows, program.outputs, inp_shift=program.inp_shift.tolist(), tables=[[*t] for t in program.tables]
            )
        except ProgramError:
            continue
        if beyond(program) or beyond(mutant):
            continue
        given, made = random_vectors(rng, program)[0], FastProgram(mutant)
        right, other = vectors(program, given), vectors(mutant, given)
        for check, count in ((False, 3), (True, 3), (False, 40), (True, 40)):
            different = bool((right.raw != other.raw).any())
            if check:
                first = [int(np.append(each.broken, True).argmax()) for each in (right, other)]
                different = first[0] != first[1] or (first[0] == 3 and different)
            way = Way(rng.choice(isas()), check, raw=True)
            assert bool(problems(made, right, np.arange(count) % 3, way)) == different, seed
            seen[different] += 1
    assert min(seen[True], seen[False]) > 40
