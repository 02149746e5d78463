"""The golden engines as functions of one signature: program, one exact vector and ``check``, to exact outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from support.fast_cases import beyond, forced, isas

from dais_verif import run
from dais_verif.base.errors import ViolationError
from dais_verif.golden import fast, oracle, run_raw
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch

from .row import Row

__all__ = ["ENGINES", "problems", "reals", "takes"]

Engine = Callable[[Program, Sequence[Fraction], bool], list[Fraction]]


def _oracle(program: Program, inputs: Sequence[Fraction], check: bool) -> list[Fraction]:
    return oracle.evaluate(program, inputs, check=check)


def _numpy(program: Program, inputs: Sequence[Fraction], check: bool) -> list[Fraction]:
    return reals(program, run_raw(program, Batch.of([list(inputs)], program.n_in), engine="numpy", check=check))[0]


def _doubles(program: Program, inputs: Sequence[Fraction], check: bool) -> list[Fraction]:
    """Call ``run`` as users do: float64 in, float64 out, engine ``auto``."""
    vector = np.array([[float(value) for value in inputs]], dtype=np.float64).reshape(1, program.n_in)
    return [Fraction(value) for value in run(program, vector, check=check)[0].tolist()]


def _fast(isa: str, rows: int) -> Engine:
    """Return the fast engine with the instructions of ``isa``, run on ``rows`` copies of the vector."""

    def engine(program: Program, inputs: Sequence[Fraction], check: bool) -> list[Fraction]:
        with forced(isa):
            raw = run_raw(program, Batch.of([list(inputs)] * rows, program.n_in), engine="fast", check=check)
        assert all((column == column[0]).all() for column in raw), "the same vector gives different outputs"
        return reals(program, [column[:1] for column in raw])[0]

    return engine


ENGINES: dict[str, Engine] = {"oracle": _oracle, "numpy": _numpy, "doubles": _doubles}
if not fast.why_not():
    # A few rows are run op by op, more rows bit by bit.
    ENGINES |= {f"fast {isa}, {rows} rows": _fast(isa, rows) for isa in isas() for rows in (1, 33)}


def reals(program: Program, raw: Sequence[np.ndarray]) -> list[list[Fraction]]:
    """Return the outputs of ``run_raw`` as exact real values, one list per vector."""
    columns = [
        [int(value) * Fraction(2) ** -kind.f for value in column]
        for column, kind in zip(raw, program.output_types, strict=True)
    ]
    return [list(values) for values in zip(*columns, strict=True)]


def takes(name: str, row: Row) -> bool:
    """Return whether this engine can run ``row``: doubles must hold its numbers, and the fast kernel has limits."""
    return not (name == "doubles" and not _fits_doubles(row)) and not (name.startswith("fast") and beyond(row.program))


def _fits_doubles(row: Row) -> bool:
    return all(_is_double(number) for one in row.cases for number in one.inputs + one.gives)


def _is_double(number: Fraction) -> bool:
    try:
        return Fraction(float(number)) == number
    except OverflowError:
        return False


def problems(row: Row, engine: Engine) -> list[str]:
    """Return one line per difference between ``engine`` and ``row``; the list is empty if there are none."""
    found = []
    for number, one in enumerate(row.cases):
        where = f"{row}, case {number}, inputs {_show(one.inputs)}"
        outputs = tuple(engine(row.program, one.inputs, False))
        if outputs != one.gives:
            found.append(f"{where}: gives {_show(outputs)}, must give {_show(one.gives)}")
        try:
            checked = tuple(engine(row.program, one.inputs, True))
        except ViolationError as error:
            if one.breaks is None:
                found.append(f"{where}: must not be a violation, but: {error}")
            elif f"violation at op {one.breaks} (" not in str(error):
                found.append(f"{where}: must be a violation at op {one.breaks}, but: {error}")
            continue
        if one.breaks is not None:
            found.append(f"{where}: must be a violation at op {one.breaks}, but gives {_show(checked)}")
        elif checked != one.gives:
            found.append(f"{where}: gives {_show(checked)} when checked, must give {_show(one.gives)}")
    return found


def _show(values: Sequence[Fraction]) -> str:
    return ", ".join(map(str, values)) or "none"
