"""The engines of the golden model against its oracle: every output of every vector, and the first broken promise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError
from dais_verif.base.text import counted
from dais_verif.campaigns.fuzzing.case import Case, Row
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.coverage.bins import bins_of
from dais_verif.coverage.count import count_batch
from dais_verif.coverage.unreachable import by_ranges
from dais_verif.golden import fast, oracle
from dais_verif.golden.batch import compile_program
from dais_verif.golden.coverage_probes import CoverageProbes
from dais_verif.golden.fast import FastProgram
from dais_verif.golden.vm import compile_forward_and_backward
from dais_verif.golden.vm.check_sequence import first_fault
from dais_verif.golden.vm.machine import NumpyExecutor
from dais_verif.spec.program import LAYOUTS, Program, assemble, parse, write_binary
from dais_verif.spec.program.conversion import as_it_was, notes_of, to_alir, to_da4ml, to_dais
from dais_verif.spec.program.json_writers import alir_json, da4ml_json
from dais_verif.spec.program.listing import listing
from dais_verif.spec.program.numbers import Batch, Column
from dais_verif.spec.program.ranges import PromiseStatus, analyse

__all__ = [
    "batch_engine",
    "binary_layouts",
    "fast_engine",
    "json_forms",
    "machine_engine",
    "ranges",
    "text_form",
    "unreachable_bins",
]


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


# Every form of a program against the program: text, the binary layouts, ALIR and da4ml's JSON, read back.


#: The number of vectors on which different programs that must compute the same are compared.
_ROWS = 4


def text_form(case: Case) -> Disagreement | None:
    """Compare a program with the one read back from its text, and the texts of both."""
    text = listing(case.program)
    back = assemble(text)
    if back.hash != case.program.hash:
        return Disagreement("text", "another program", "the text of the program reads back as a different program")
    if listing(back) != text:
        return Disagreement("text", "another text", "the program that was read back is written as a different text")
    return None


def binary_layouts(case: Case) -> Disagreement | None:
    """Compare a program with the one read back from each binary layout that can hold it, and the binaries of both."""
    for layout in LAYOUTS:
        with contextlib.suppress(InputError):  # the layout cannot express tables, or ALIR
            data = write_binary(case.program, layout)
            back = parse(data, layout=layout)
            if back.hash != case.program.hash:
                return Disagreement("layouts", layout, f"{layout}: reads back as a different program")
            if write_binary(back, layout) != data:
                return Disagreement(
                    "layouts", layout, f"{layout}: the program that was read back is written differently"
                )
    return None


def json_forms(case: Case) -> Disagreement | None:
    """Compare a program's outputs with those of its ALIR and JSON, and its binary with the one recovered from ALIR."""
    for name, other in _converted(case.program):
        for number, row in enumerate(case.rows[:_ROWS]):
            wanted, found = (_answer(program, row) for program in (case.program, other))
            if wanted != found:
                return Disagreement("forms", name, f"{name}: different outputs for vector {number}")
    with contextlib.suppress(InputError):
        data = write_binary(case.program, "v1")
        read = parse(data, layout="v1")
        raised = to_alir(read)
        was = as_it_was(parse(alir_json(raised, notes_of(read, raised))))
        if was is None or write_binary(was, "v1") != data:
            return Disagreement("forms", "binary", "the binary from which an ALIR file was made is not restored")
    return None


def _converted(program: Program) -> Iterator[tuple[str, Program]]:
    """Yield the name of each form that can express ``program``, and the program read back from it."""
    with contextlib.suppress(InputError):
        raised = parse(alir_json(to_alir(program)))
        yield "alir", raised
        yield "v1", parse(write_binary(to_dais(raised), "v1"), layout="v1")
    with contextlib.suppress(InputError):
        yield "json", parse(da4ml_json(to_da4ml(program)))


def _answer(program: Program, row: Row) -> object:
    """Return the exact outputs, where broken promises are quantised, and whether any promise is broken."""
    violations: list[oracle.Violation] = []
    values = oracle.trace(program, row, violations=violations)
    return oracle.outputs_of(program, values), bool(violations)


# Claims about all inputs of a program, checked with vectors: ranges, unreachable bins, idle bits.


def ranges(case: Case) -> Disagreement | None:
    """Check that values are in the intervals of range analysis, and that promises are kept or broken as stated."""
    program, found = case.program, analyse(case.program)
    for number, row in enumerate(case.rows):
        violations: list[oracle.Violation] = []
        values = oracle.trace(program, row, violations=violations)
        for op, value, interval in zip(program.ops, values, found.intervals, strict=True):
            raw = value * oracle.two(interval.f)
            if raw.denominator != 1 or not interval.lo <= raw <= interval.hi or int(raw) % (1 << interval.zeros):
                where = f"{interval.lo}..{interval.hi} in units of 2**-{interval.f}"
                return Disagreement(
                    "ranges", "interval", f"{op} of vector {number} is {oracle.show(value)}, not {where}"
                )
        broken = {violation.op.index for violation in violations}
        for op in program.ops:
            status = found.changes[op.index]
            if op.spec.promise and (
                (op.index in broken and status is PromiseStatus.SAFE)
                or (op.index not in broken and status is PromiseStatus.CERTAIN)
            ):
                said = "breaks" if op.index in broken else "keeps"
                return Disagreement(
                    "ranges", "promise", f"{op} {said} its promise on vector {number}, but its status is {status.name}"
                )
    return None


def unreachable_bins(case: Case) -> Disagreement | None:
    """Return a disagreement if a vector hits a coverage bin that is called unreachable."""
    bins = bins_of(case.program, declared=False)
    never = bins.never(by_ranges(bins, analyse(case.program)))
    seen = bins.nothing()
    count_batch(bins, CoverageProbes(case.program, check=False), case.batch, seen)
    wrong = np.flatnonzero(never & bins.hit(seen)).tolist()
    if wrong:
        return Disagreement("coverage", "unreachable", f"{bins.text(wrong[0])}: called unreachable, but hit")
    return None
