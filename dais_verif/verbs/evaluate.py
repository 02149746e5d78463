"""Evaluate a program on the vectors of a file: the golden model's outputs."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from dais_verif.base.errors import RequestError, VectorError
from dais_verif.base.files import write_atomically
from dais_verif.base.text import printable_lines
from dais_verif.golden import ENGINES, Engine, Golden
from dais_verif.record.evaluation import EvaluationRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import IntArray, doubles_of_raw
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import read_batch, read_raw_batch, read_tensors
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.networks.requests import input_ports, inputs_of, require_no_configuration
from dais_verif.verbs.options import REQUIRED, Request, option
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress

if TYPE_CHECKING:
    from dais_verif.compile.networks import Network
    from dais_verif.compile.networks.hardware.folder import NetworkFolder

__all__ = ["ENGINES", "Engine", "Evaluation", "EvaluationRequest", "Sample", "evaluate"]


#: When outputs of a machine are read: before the edge of each cycle, or after it with its inputs still applied.
Sample = Literal["before", "after"]


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest(Request):
    """A program to evaluate on the vectors in ``inputs``.

    For a network, these must be numbers that its inputs can hold, and may also be an .npz file with one array for each
    input.
    """

    verb: ClassVar[str] = "run"

    program: AnyProgram
    layout: str | None = common.layout()
    inputs: Path = option(REQUIRED, "Vectors (.npy, CSV): one row per vector, one column per input.", group="Vectors")
    raw_inputs: bool = option(
        False, "Inputs are raw integers, in units of the port element's last bit.", group="Program", rare=True
    )
    raw: bool = option(False, "Write raw integers, in units of each output's 2**-f, not real values.", group="Program")
    engine: Engine = common.engine(ENGINES)
    sample: Sample = option(
        "before",
        "For a machine: sample outputs before the edge of each cycle, or after it with the same inputs.",
        group="Vectors",
        rare=True,
        choices=get_args(Sample),
    )
    config: str | None = option(
        None, "For a network as a machine: the configuration. Default: the first.", group="Program", metavar="NAME"
    )
    printf: bool = option(
        False, "Print what members of a kernel print, instead of the outputs.", group="Vectors", rare=True
    )
    jobs: int | None = common.jobs()
    unchecked: bool = common.unchecked()
    output: Path | None = common.output("File to write: .npy, else CSV; without it CSV on stdout.", writes="file")


@dataclass(frozen=True)
class Evaluation:
    """The result of ``evaluate``: its record, and a column for each output, real or raw, with its name."""

    record: EvaluationRecord
    names: tuple[str, ...]
    columns: tuple[IntArray, ...]

    def text(self) -> str:
        """Return the text that members of a kernel print, if requested, else all outputs as CSV."""
        return self.csv() if self.record.printed is None else printable_lines("".join(self.record.printed))

    def csv(self) -> str:
        """Return all outputs as CSV, one row per vector, or per cycle of a machine."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows(zip(*(column.tolist() for column in self.columns), strict=True))
        return file.getvalue()


def evaluate(request: EvaluationRequest, *, progress: Progress = SILENT) -> Evaluation:
    """Return the exact outputs, and write them if a file is requested.

    Raises ``ViolationError``, with row and op, if a promise of the program is broken and promises are checked.
    """
    subject = open_for("run", request.program, request.layout)
    if subject.kernel is not None:
        from dais_verif.verbs.kernels.tensors import evaluate_kernel

        done = Evaluation(*evaluate_kernel(subject.kernel, request, progress))
        if request.output is not None and request.output.suffix not in (".npy", ".npz"):
            write_atomically(request.output, done.csv().encode())
        return done
    folded = subject.hardware
    if folded is None:
        require_no_configuration(request.config)
    if request.printf:
        raise RequestError.of("{printf} is for kernels: name a folder of `kernel build`.")
    if subject.read is not None:
        return _of_machine(subject.read, request, progress)
    if request.sample != "before":
        raise RequestError.of("{sample} {value} is for machines; a program has no clock edges.", value=request.sample)
    network = subject.network if folded is None else _of_folder(folded, request)
    if network is not None and request.engine == "auto" and not network.unrolls:
        return _written(_on_tensors(network, request, progress), request)
    program, _ = read_program(request.program if network is None else network.program(), request.layout, progress)
    if network is not None and not request.raw_inputs:
        batch = read_tensors(request.inputs, inputs_of(network))
    elif request.raw_inputs:
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
    return _written(Evaluation(record, tuple(f"out_{j}" for j in range(len(columns))), columns), request)


def _written(done: Evaluation, request: EvaluationRequest) -> Evaluation:
    """Write the outputs if a file is requested, and return them."""
    if request.output is not None:
        as_npy = request.output.suffix == ".npy"
        write_atomically(request.output, _npy(done, request.raw) if as_npy else done.csv().encode())
    return done


def _on_tensors(network: Network, request: EvaluationRequest, progress: Progress) -> Evaluation:
    """Compute a network that is too large to unroll."""
    from dais_verif.compile.networks.tensors import TensorModel

    if request.raw_inputs:
        batch = read_raw_batch(request.inputs, input_ports(network))
    else:
        batch = read_tensors(request.inputs, inputs_of(network))
    model = TensorModel(network)
    with progress.working(f"{batch.rows} vectors ..."):
        found = model.run(batch)
    points = [kind.f for name in network.outputs for kind in network.types(name)]
    columns = tuple(
        column >> (found.f - f) if request.raw else doubles_of_raw(column, found.f, j)
        for j, (column, f) in enumerate(zip(found.raw.T, points, strict=True))
    )
    record = EvaluationRecord(
        program=ProgramInfo.of_network(network.origin, model.n_in, len(columns)),
        rows=batch.rows,
        engine="tensors",
        unchecked=request.unchecked,
        output=None if request.output is None else str(request.output),
    )
    return Evaluation(record, tuple(f"out_{j}" for j in range(len(columns))), columns)


def _of_folder(folder: NetworkFolder, request: EvaluationRequest) -> Network:
    """Return the network under the requested configuration."""
    require_no_options(layout=request.layout)
    return folder.under(request.config)


def _of_machine(machine: Machine, request: EvaluationRequest, progress: Progress) -> Evaluation:
    from dais_verif.verbs.machines.evaluate import evaluate_machine, file_of, table_of

    if request.output is not None and request.output.suffix == ".npy":
        raise RequestError.of("{output} must end with .npz, one array per signal, or be CSV: this is a machine.")
    record, run, several = evaluate_machine(machine, request, progress)
    done = Evaluation(record, *table_of(run))
    if request.output is not None:
        as_npz = request.output.suffix == ".npz"
        write_atomically(request.output, file_of(run, several) if as_npz else done.csv().encode())
    return done


def _real(program: Program, columns: tuple[IntArray, ...]) -> tuple[IntArray, ...]:
    kinds = program.output_types
    return tuple(doubles_of_raw(column, kinds[j].f, j) for j, column in enumerate(columns))


def _npy(done: Evaluation, raw: bool) -> bytes:
    table = np.zeros((done.record.rows, len(done.columns)), dtype=np.int64 if raw else np.float64)
    for j, column in enumerate(done.columns):
        if column.dtype == object:
            raise VectorError(f"output {j} has raw integers beyond 62 bits, which .npy cannot hold; write a .csv file")
        table[:, j] = column
    file = io.BytesIO()
    np.save(file, table)
    return file.getvalue()
