"""Small programs on which every claim of unreachable bins can be held against all inputs that there are."""

from __future__ import annotations

import itertools
import random

import numpy as np

from dais_verif.coverage import How, Measured
from dais_verif.program import Program
from dais_verif.program.numbers import Batch, Column
from dais_verif.program.ports import ports_of
from strategies import random_program

__all__ = ["all_inputs", "small_program", "wrong_claims"]


def small_program(rng: random.Random, bits: int = 10) -> Program:
    """A random program with at most so many bits of inputs, and at least one."""
    while True:
        program = random_program(rng, rng.choice((4, 8, 12, 20)), widest=rng.choice((3, 4, 6)))
        if 0 < ports_of(program).input_bits <= bits:
            return program


def all_inputs(program: Program) -> Batch:
    """Every combination of bits that the ports carry."""
    elements = ports_of(program).inputs
    rows = list(itertools.product(*(range(1 << element.width) for element in elements)))
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), len(elements)).T
    return Batch(len(rows), tuple(Column(column, e.lo) for column, e in zip(columns, elements, strict=True)))


def wrong_claims(found: Measured, hit: np.ndarray) -> list[str]:
    """Bins that are said to be unreachable and yet are ``hit``."""
    wrong = np.flatnonzero(hit & (found.how != How.NOT))
    return [f"{found.bins.text(number)} by {How(found.how[number]).name}" for number in wrong.tolist()]
