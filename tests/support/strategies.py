"""Hypothesis strategies for the package's random programs, which shrink towards fewer ops."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.spec.program import Program

__all__ = ["batches", "programs"]


@st.composite
def programs(draw: Any, **options: Any) -> tuple[Program, random.Random]:
    """Draw a program and the generator for its vectors. It shrinks to fewer ops, which stay the same."""
    n_ops = draw(st.integers(1, 16))
    seed = draw(st.integers(0, (1 << 32) - 1))
    return random_program(random.Random(seed), n_ops, **options), random.Random(seed ^ 0x5EED)


@st.composite
def batches(draw: Any, rows: int = 8, **options: Any) -> tuple[Program, list[list[Any]]]:
    """Draw a program and exact vectors for it."""
    program, rng = draw(programs(**options))
    return program, random_rows(rng, program, rows)
