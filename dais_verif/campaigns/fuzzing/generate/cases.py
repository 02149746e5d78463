"""Generate the cases of a fuzzing run: each only depends on its number and the seed of the run."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from typing import NamedTuple

from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.campaigns.fuzzing.generate.shapes import SHAPES
from dais_verif.campaigns.fuzzing.shrinking.edits import rebuilt
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import Batch

__all__ = ["Made", "case_seed", "chosen", "drawn_shape", "made_case"]


def case_seed(seed: int, number: int) -> int:
    """Return the seed of case ``number`` of the run with ``seed``, which alone determines the case."""
    return int.from_bytes(hashlib.sha256(f"dais-verif fuzz {seed} {number}".encode()).digest()[:8], "little")


def chosen(seed: int, what: str, every: int) -> bool:
    """Return True if the case with ``seed`` is in the sample for ``what``, which has one in ``every`` cases."""
    digest = hashlib.sha256(f"{what} {seed}".encode()).digest()
    return int.from_bytes(digest[:8], "little") % every == 0


def drawn_shape(rng: random.Random) -> str:
    """Return the name of a case's shape, which must be the first number drawn from its generator."""
    return rng.choices(list(SHAPES), [one.frequency for one in SHAPES.values()])[0]


class Made(NamedTuple):
    """A case, with its number and seed, and the name of its shape."""

    number: int
    seed: int
    shape: str
    case: Case


def made_case(seed: int, number: int, *, plain: bool = False) -> Made:
    """Return case ``number`` of the run with ``seed``.

    ``plain``: a case for external tools: a DAIS program that keeps its promises, with types of about 16 bits, and
    vectors of doubles.
    """
    own = case_seed(seed, number)
    rng = random.Random(own)
    shape = drawn_shape(rng)
    program = random_program(
        rng,
        rng.choice(SHAPES[shape].sizes),
        promise_keeping=plain or rng.random() < 0.4,
        tables=rng.random() < 0.7,
        widest=12 if plain else rng.choice((4, 8, 16, 40, 70)),
        alir=not plain and rng.random() < 0.4,
        shape=SHAPES[shape],
    )
    rows = random_rows(rng, program, 8)
    if plain:
        rows = [[value if isinstance(value, float) else _double(value) for value in row] for row in rows]
    case = Case.of(program, Batch.of(rows, program.n_in))
    return Made(number, own, shape, _with_narrow_outputs(case) if plain else case)


def _with_narrow_outputs(case: Case) -> Case:
    """Return ``case`` with only those outputs that float64 holds; if there are none, with such an op as the output."""
    program = case.program
    kept = [output for output, kind in zip(program.outputs, program.output_types, strict=True) if _is_narrow(kind)]
    narrow = (op.index for op in reversed(program.ops) if _is_narrow(op.type))
    made = replace(case, whole=True)
    return rebuilt(made, outputs=kept or [(next(narrow, -1), 0, False)]) or case


def _is_narrow(kind: FixedType) -> bool:
    return kind.width <= 52 and abs(kind.f) < 500


def _double(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return 0.0
