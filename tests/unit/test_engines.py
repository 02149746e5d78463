"""The batch engine equals the oracle on every value and every violation, for any program and vectors."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from support.places import ALIR
from support.said import as_recorded
from support.strategies import batches
from support.tier import examples

from dais_verif.base.errors import ViolationError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import oracle, run, run_raw
from dais_verif.golden.batch import compile_program
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.numbers import Batch

FAST = settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def violation_of(program: Program, batch: Batch, engine: Any) -> str | None:
    """Return the message about the first broken promise: row, op, operands and exact result."""
    try:
        run_raw(program, batch, engine=engine, check=True)
    except ViolationError as error:
        return str(error)
    return None


def assert_engines_agree(program: Program, rows: list[list[Any]]) -> None:
    """Assert that all ops of all rows, the outputs, and the first violation are equal."""
    batch = Batch.of(rows, program.n_in)
    values = compile_program(program).trace(batch)
    for row in range(batch.rows):
        expected = oracle.trace(program, batch.row(row), violations=[])
        for op, exact in zip(program.ops, expected, strict=True):
            column = values[op.index]
            assert column is not None
            assert int(column[row]) * Fraction(2) ** -op.type.f == exact, f"{op} {op.type}, row {row}"
    fast, slow = (run_raw(program, batch, engine=engine, check=False) for engine in ("numpy", "exact"))
    assert [column.tolist() for column in fast] == [column.tolist() for column in slow]
    assert violation_of(program, batch, "numpy") == violation_of(program, batch, "exact")


@given(batches())
@FAST
def test_engines_agree_on_random_programs(case: tuple[Program, list[list[Any]]]) -> None:
    assert_engines_agree(*case)


@given(batches(alir=True))
@FAST
def test_engines_agree_on_random_programs_of_alir(case: tuple[Program, list[list[Any]]]) -> None:
    assert_engines_agree(*case)


@given(batches(promise_keeping=True) | batches(promise_keeping=True, alir=True))
@settings(FAST, max_examples=examples(200))
def test_promise_keeping_programs_never_violate(case: tuple[Program, list[list[Any]]]) -> None:
    program, rows = case
    assert violation_of(program, Batch.of(rows, program.n_in), "exact") is None
    assert_engines_agree(program, rows)


@pytest.mark.slow
@pytest.mark.parametrize("alir", [False, True], ids=["dais", "alir"])
@pytest.mark.parametrize("chunk", range(10))
def test_engines_agree_on_20_000_programs(chunk: int, alir: bool) -> None:
    for seed in range(chunk * 1000, chunk * 1000 + 1000):
        rng = random.Random(seed)
        program = random_program(rng, rng.randint(1, 30), promise_keeping=seed % 4 == 0, alir=alir)
        rows = random_rows(rng, program, 6)
        try:
            assert_engines_agree(program, rows)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_rows_in_many_chunks_are_numbered_from_the_first() -> None:
    """A violation in the third chunk of both engines is reported with its row number in the whole batch, 5000."""
    program = Program.build([(-1, 0, -1, 0, (0, 4, 0)), (4, 0, -1, 1, (0, 4, 0))], [(1, 0, 0)], inp_shift=[0])
    x = np.zeros((6000, 1))
    x[5000] = 15
    messages = {violation_of(program, Batch.of(x, 1), engine) for engine in ("numpy", "exact")}
    assert len(messages) == 1
    as_recorded(str(messages.pop()))


def test_the_lowest_row_is_reported_before_the_lowest_op() -> None:
    """If row 0 breaks the promise of op 3, and row 1 that of op 1, the violation in row 0 is reported."""
    program = Program.build(
        [(-1, 0, -1, 0, (0, 4, 0)), (4, 0, -1, 1, (0, 4, 0)), (5, -1, -1, 1, (0, 1, 0)), (1, 1, 2, 1, (0, 4, 0))],
        [(3, 0, 0)],
        inp_shift=[0],
    )
    batch = Batch.of([[0], [15]], 1)
    for engine in ("numpy", "exact"):
        as_recorded(str(violation_of(program, batch, engine)))


def test_one_op_is_evaluated_from_values_that_no_input_leads_to() -> None:
    """Ranges prove that op 1 is at most 3, hence that op 2 cannot wrap.

    If other values are put in place of op 1, op 2 wraps all the same.
    """
    u4 = (0, 4, 0)
    program = Program.build(
        [(-1, 0, -1, 0, (0, 2, 0)), (3, 0, -1, 0, u4), (4, 1, -1, 4, u4)], [(2, 0, 0)], inp_shift=[0]
    )
    values = [None, np.array([0, 3, 11, 12, 15]), None]
    assert compile_program(program).evaluate(2, values, 5).tolist() == [4, 7, 15, 0, 3]


def test_a_sum_shifted_far_beyond_its_type_is_exact() -> None:
    """Terms shifted by 4000 bits cancel exactly, and a term of zero bits adds nothing."""
    rows = [
        (-1, 0, -1, 0, (1, 7, 0)),
        (3, 0, -1, 0, (0, 0, 0)),
        (11, 0, 5, 3, (1, 7, 0)),
        (12, 2, -1, -4096, (1, 0, 0)),
    ]
    terms = [(0, 4000, 0), (0, 0, 0), (1, -4096, 1), (0, 4000, 1), (-1, 1, 0)]
    program = Program.build(rows, [(2, 0, 0), (3, 0, 1)], inp_shift=[0], terms=terms)
    batch = Batch.of([[5], [-128], [121], [122]], 1)
    for engine in ("numpy", "exact"):
        assert [column.tolist() for column in run_raw(program, batch, engine=engine, check=False)] == [
            [11, -122, 127, -128],
            [0, 1, 0, 1],
        ]
        as_recorded(str(violation_of(program, batch, engine)))


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("name", [f"a{n:02}" for n in range(1, 11)])
def test_real_models_of_alir(name: str, engine: Any) -> None:
    (folder,) = ALIR.glob(f"{name}_*")
    (path,) = folder.glob("alir.json*")
    x, expected = np.load(folder / "inputs.npy"), np.load(folder / "expected.npy")
    assert np.array_equal(run(load(path), x, engine=engine), expected)


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("spec", [2, 3])
def test_older_files_of_alir(spec: int, engine: Any) -> None:
    x, expected = (np.load(ALIR / "legacy" / f"v{spec}.{name}.npy") for name in ("inputs", "expected"))
    assert np.array_equal(run(load(ALIR / "legacy" / f"v{spec}.json.gz"), x, engine=engine), expected)


def folders(corpus: Path) -> list[Path]:
    return sorted(path for path in corpus.iterdir() if path.is_dir())


def test_engines_agree_with_the_corpus(corpus: Path) -> None:
    """The batch engine is checked on every row, the oracle on the first row."""
    for folder in folders(corpus):
        program = load(folder / "prog.v1.bin")
        x, expected = np.load(folder / "inputs.npy"), np.load(folder / "expected.npy")
        assert np.array_equal(run(program, x), expected), folder.name
        assert np.array_equal(run(program, x[:1], engine="exact"), expected[:1]), folder.name
