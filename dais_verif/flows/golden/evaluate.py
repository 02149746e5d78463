"""Evaluate a program on the vectors of a file: the golden model's outputs."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dais_verif.errors import InputError
from dais_verif.files import write_atomically
from dais_verif.flows.programs import AnyProgram, read_program
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.golden import ENGINES, Engine, Golden
from dais_verif.program import Program
from dais_verif.program.numbers import IntArray, doubles_of_raw
from dais_verif.program.ports import ports_of
from dais_verif.record.evaluation import EvaluationRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.stimulus import read_batch, read_raw_batch

__all__ = ["ENGINES", "Engine", "Evaluation", "EvaluationRequest", "evaluate"]


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """What to evaluate on the vectors in ``inputs``.

    ``raw_inputs``, ``raw``: inputs, outputs are raw integers, in units of the port element's last bit and of each
    output's 2**-f. ``output``: a file to write, .npy or else CSV.
    """

    program: AnyProgram
    inputs: Path
    layout: str | None = None
    raw_inputs: bool = False
    raw: bool = False
    engine: Engine = "auto"
    jobs: int | None = None
    unchecked: bool = False
    output: Path | None = None


@dataclass(frozen=True)
class Evaluation:
    """A run of ``evaluate``: its record, and a column for each output, real or raw."""

    record: EvaluationRecord
    columns: tuple[IntArray, ...]

    def csv(self) -> str:
        """Return all outputs as CSV, a row each vector."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"out_{j}" for j in range(len(self.columns))])
        writer.writerows(zip(*(column.tolist() for column in self.columns), strict=True))
        return file.getvalue()


def evaluate(request: EvaluationRequest, *, progress: Progress = SILENT) -> Evaluation:
    """Return the outputs, exact, and write them if a file is asked for.

    Raises ``ViolationError``, with row and op, if a promise of the program is broken and that is checked.
    """
    program, _ = read_program(request.program, request.layout, progress)
    if request.raw_inputs:
        batch = read_raw_batch(request.inputs, ports_of(program))
    else:
        batch = read_batch(request.inputs, program.n_in)
    golden = Golden(program, engine=request.engine)
    with progress.working(f"{batch.rows} vectors ..."):
        columns = golden.run_raw(batch, check=not request.unchecked, jobs=request.jobs)
    if not request.raw:
        columns = _real(program, columns)
    record = EvaluationRecord(
        program=ProgramInfo.of(program),
        rows=batch.rows,
        engine=golden.engine,
        unchecked=request.unchecked,
        output=None if request.output is None else str(request.output),
    )
    done = Evaluation(record, columns)
    if request.output is not None:
        as_npy = request.output.suffix == ".npy"
        write_atomically(request.output, _npy(done, request.raw) if as_npy else done.csv().encode())
    return done


def _real(program: Program, columns: tuple[IntArray, ...]) -> tuple[IntArray, ...]:
    kinds = program.output_types
    return tuple(doubles_of_raw(column, kinds[j].f, j) for j, column in enumerate(columns))


def _npy(done: Evaluation, raw: bool) -> bytes:
    table = np.zeros((done.record.rows, len(done.columns)), dtype=np.int64 if raw else np.float64)
    for j, column in enumerate(done.columns):
        if column.dtype == object:
            raise InputError(f"output {j} has raw integers beyond 62 bits, which .npy cannot hold; write a .csv file")
        table[:, j] = column
    file = io.BytesIO()
    np.save(file, table)
    return file.getvalue()
