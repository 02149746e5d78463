"""The engines of the golden model against its oracle: every output of every vector, and the first broken promise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.counts import counted
from dais_verif.errors import InputError
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.golden import fast, oracle
from dais_verif.golden.batch import compile_program
from dais_verif.golden.fast import FastProgram
from dais_verif.golden.vm import compile_forward_and_backward
from dais_verif.golden.vm.machine import NumpyExecutor
from dais_verif.golden.vm.verify import first_fault
from dais_verif.program.numbers import Batch, Column

__all__ = ["batch_engine", "fast_engine", "machine_engine"]

Columns = Sequence[Sequence[int]]
Rows = NDArray[np.intp]


class Expected(NamedTuple):
    """The oracle's unchecked raw outputs, one column per output, and the first row and op that break a promise."""

    outputs: Columns
    violation: tuple[int, int] | None


@lru_cache(maxsize=2)  # several pairs judge the same case, and the oracle takes longer than the engines
def expected(case: Case) -> Expected:
    """Return the oracle's results for ``case``."""
    program = case.program
    columns: list[list[int]] = [[] for _ in range(program.n_out)]
    first = None
    for number, row in enumerate(case.rows):
        violations: list[oracle.Violation] = []
        values = oracle.trace(program, row, violations=violations)
        if violations and first is None:
            first = number, violations[0].op.index
        for column, value, kind in zip(columns, oracle.outputs_of(program, values), program.output_types, strict=True):
            column.append(int(value * oracle.two(kind.f)))
    return Expected(columns, first)


def batch_engine(case: Case) -> Disagreement | None:
    """Compare the numpy engine, checked and unchecked, with the oracle."""
    compiled, right = compile_program(case.program), expected(case)
    for check in (False, True):
        found, violation = compiled.run(case.batch, check=check)
        wrong = _wrong(right, [column.tolist() for column in found], violation if check else None, check)
        if wrong:
            return Disagreement("numpy", *wrong)
    return None


def machine_engine(case: Case) -> Disagreement | None:
    """Compare the virtual machine with the oracle, with and without fusion and locality; verify its instructions."""
    right = expected(case)
    for way in (True, False):
        made = compile_forward_and_backward(case.program, fuse=way, optimize_locality=way)
        fault = first_fault(made.forward) or (first_fault(made.backward) if made.backward is not None else None)
        if fault is not None:
            return Disagreement("vm", "fault in a sequence", str(fault))
        for check in (False, True):
            outcome = NumpyExecutor(made.forward).run(case.batch, check=check)
            found = [column.tolist() for column in outcome.outputs]
            wrong = _wrong(right, found, outcome.violation if check else None, check)
            if wrong:
                return Disagreement("vm", *wrong)
    return None


def fast_engine(case: Case) -> Disagreement | None:
    """Compare the C kernel with the oracle in every instruction set of this machine, also with repeated rows."""
    if fast.why_not() or fast.beyond(case.program) or not case.rows:
        raise NotJudged("the C kernel was not built, or does not support the program")
    right = expected(case)
    for fuse, locality in ((True, True), (False, False)):
        try:
            made = FastProgram(case.program, fuse=fuse, locality=locality)
            made.code(True)
        except InputError as error:  # the kernel does not support the program
            raise NotJudged(str(error)) from None
        for isa in _isas():
            for rows in (len(case.rows), 37):
                wrong = _of_kernel(made, right, case.batch, isa, np.arange(rows) % len(case.rows))
                if wrong:
                    return Disagreement("fast", *wrong)
    return None


def _isas() -> list[str]:
    return fast.isas()


def _picked(batch: Batch, rows: Rows) -> Batch:
    return Batch(len(rows), tuple(Column(column.mantissa[rows], column.exponent) for column in batch.columns))


def _of_kernel(made: FastProgram, right: Expected, batch: Batch, isa: str, rows: Rows) -> tuple[str, str] | None:
    many = batch if len(rows) == batch.rows else _picked(batch, rows)
    for check in (False, True):
        found, broken = made.run_batch(many, check=check, isa_name=isa)
        first = right.violation[0] if check and right.violation is not None else None
        if broken != first:
            return "violation", f"{isa}: the first row that breaks a promise is {broken}, must be {first}"
        if broken is None:
            columns = [[column[row] for row in rows.tolist()] for column in right.outputs]
            wrong = _wrong_output(columns, [column.tolist() for column in found])
            if wrong:
                return "output", f"{isa}, {counted(len(rows), 'row')}: {wrong}"
    return None


def _wrong(right: Expected, found: Columns, violation: object, check: bool) -> tuple[str, str] | None:
    if check:
        if violation != right.violation:
            return "violation", f"the first (row, op) that breaks a promise is {violation}, must be {right.violation}"
        if right.violation is not None:
            return None
    wrong = _wrong_output(right.outputs, found)
    return ("output", wrong) if wrong else None


def _wrong_output(right: Columns, found: Columns) -> str:
    for output, (wanted, got) in enumerate(zip(right, found, strict=True)):
        for row, (a, b) in enumerate(zip(wanted, got, strict=True)):
            if a != b:
                return f"output {output} of row {row} is {b}, must be {a} (raw)"
    return ""
