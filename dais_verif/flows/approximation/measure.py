"""Measure configurations on labelled samples: accuracy, its interval, how far results are from the exact ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dais_verif.approx import Configuration, ConfigurationFile, text_of
from dais_verif.approx.accuracy import Accuracy
from dais_verif.approx.budget import choose_within
from dais_verif.approx.columns import predicted_speedup, rewrite_columns
from dais_verif.errors import InputError, RequestError
from dais_verif.files import make_folder, write_atomically
from dais_verif.flows.approximation.networks import Opened, Samples, bound_between, open_network, read_samples
from dais_verif.flows.arguments import require_types
from dais_verif.flows.no_loss import require_no_loss
from dais_verif.flows.programs import require_range
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.flows.words import option_words
from dais_verif.golden import Golden
from dais_verif.networks import Network, fuse
from dais_verif.networks.approximate import approximate
from dais_verif.own_command import own_command
from dais_verif.program import Program
from dais_verif.program.numbers import Batch
from dais_verif.program.types import LIMIT
from dais_verif.record.approximation import Measured, MeasuredRecord
from dais_verif.verdict import Verdict

__all__ = ["MeasureRequest", "exact_budget", "measure_configurations", "scores_of"]

_FILE, _RECORD = "measured.txt", "measured.json"


@dataclass(frozen=True, kw_only=True)
class MeasureRequest:
    """An ONNX file, a file of configurations, and an ``.npz`` file of samples with labels.

    ``budget``: the largest loss that is allowed, in percent, inclusive. ``grid``: as for ``ApplyRequest``.
    ``output``: a folder for the file with measured columns.
    """

    network: Path
    configurations: Path
    data: Path
    budget: str | None = None
    grid: int | None = None
    knobs: Path | None = None
    jobs: int | None = None
    output: Path | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_range("grid", self.grid, 0, LIMIT)
        if self.budget is not None:
            exact_budget(self.budget)
        read = {"network": self.network, "configurations": self.configurations, "data": self.data}
        require_no_loss(self.output, (_FILE, _RECORD), **read, knobs=self.knobs)

    def words(self) -> list[str]:
        """Return the words after ``dais-verif`` that ask for this."""
        valued = {
            "--data": self.data,
            "--budget": self.budget,
            "--grid": self.grid,
            "--knobs": self.knobs,
            "-o": self.output,
        }
        return ["approx", "measure", str(self.network), str(self.configurations), *option_words(valued, {})]


def measure_configurations(request: MeasureRequest, *, progress: Progress = SILENT) -> MeasuredRecord:
    """Measure every configuration of the file by the golden model.

    A configuration that this network cannot have is told of, and left out of the file that is written. Verdicts: PASS;
    NOT_SIGNED_OFF (exit code 7) if none is within the budget; NOT_RUN if none could be measured. Raises
    ``ConfigurationError`` if no configuration is for this network.
    """
    opened = open_network(request.network, request.configurations, request.knobs, progress)
    samples = read_samples(request.data, opened.exact)
    wanted = scores_of(opened.exact.program(), samples, request.jobs)
    found: list[Measured] = []
    accuracies: dict[str, Accuracy] = {}
    speedups: dict[str, Fraction] = {}
    for number, one in enumerate(opened.file.configurations, 1):
        with progress.working(f"{one.name}, {number} of {len(opened.file.configurations)}"):
            measured, accuracy, speedup = _measured(request, opened, one, samples, wanted)
        found.append(measured)
        if accuracy is not None:
            accuracies[one.name], speedups[one.name] = accuracy, speedup
    left = tuple(one for one in opened.file.configurations if one.name in accuracies)
    verdict, message, chosen = Verdict.NOT_RUN, "no configuration could be applied to this network", None
    if left:
        file = ConfigurationFile(opened.file.baseline, left, knobs=opened.file.knobs, name=opened.file.name)
        file = rewrite_columns(file, accuracies, speedups)
        losses = {one.name: float(one.loss) for one in file.configurations}
        found = [replace(one, loss=losses.get(one.name)) for one in found]
        verdict, message = Verdict.PASS, f"{len(left)} of {len(found)} configurations on {len(samples.labels)} samples"
        if request.budget is not None:
            choice = choose_within(file, request.budget)
            verdict, message = choice.verdict, choice.message
            chosen = None if choice.chosen is None else choice.chosen.name
        if request.output is not None:
            make_folder(request.output)
            write_atomically(request.output / _FILE, text_of(file).encode())
    record = MeasuredRecord(
        verdict=verdict,
        message=message,
        network=str(request.network),
        configurations=str(request.configurations),
        data=str(request.data),
        sha256=opened.sha256,
        measured=found,
        budget=request.budget,
        chosen=chosen,
        output=None if request.output is None else str(request.output),
        warnings=opened.warnings,
        reproduce=own_command(request.words()) if request.command is None else request.command,
    )
    if request.output is not None:
        make_folder(request.output)
        write_atomically(request.output / _RECORD, record.to_json().encode())
    return record


def exact_budget(budget: str) -> Fraction:
    """Return the number that ``budget`` is. Raises ``RequestError`` if it is none, or not finite."""
    try:
        found = Decimal(budget)
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite():
        raise RequestError.of("{budget} must be a finite number of percent, not {value!r}.", value=budget)
    return Fraction(found)


def _measured(
    request: MeasureRequest, opened: Opened, one: Configuration, samples: Samples, wanted: NDArray[np.object_]
) -> tuple[Measured, Accuracy | None, Fraction]:
    try:
        made = approximate(opened.data, opened.file, one.name, grid=request.grid)
        speedup = predicted_speedup(one, _costs(opened.exact), opened.file.knobs)
        program = made.network.program()
        found = scores_of(program, samples, request.jobs)
    except InputError as error:  # it is for another network, or a knob cannot be applied
        return Measured(name=one.name, refused=str(error)), None, Fraction(0)
    accuracy = Accuracy(int((np.argmax(found, axis=1) == samples.labels).sum()), len(samples.labels))
    largest = max((Fraction(value) for value in np.abs(found - wanted).ravel()), default=Fraction(0))
    same = program.hash == opened.exact.program().hash
    bound = Fraction(0) if same else bound_between(opened.exact, made.network)
    if largest > bound:
        raise AssertionError(f"{one.name}: results differ by {largest}, beyond the bound {bound}")
    measured = Measured(
        name=one.name,
        correct=accuracy.correct,
        total=accuracy.total,
        accuracy=float(accuracy.percent),
        interval=list(accuracy.interval()),
        ops=program.n_ops,
        speedup=float(speedup),
        largest=float(largest),
        bound=float(bound),
        notes=list(made.notes),
    )
    return measured, accuracy, speedup


def _costs(network: Network) -> list[list[int]]:
    return [[op.cost for op in node.ops] for node in fuse(network) if node.number is not None]


def scores_of(program: Program, samples: Samples, jobs: int | None) -> NDArray[np.object_]:
    """Return the outputs of every sample, exact: (samples, outputs) of ``Fraction``."""
    golden = Golden(program)
    columns = golden.run_raw(Batch.of(samples.vectors, program.n_in), check=True, jobs=jobs)
    kinds = program.output_types
    found = np.empty((len(samples.labels), len(columns)), dtype=object)
    for number, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        unit = Fraction(2) ** -kind.f
        found[:, number] = [unit * int(raw) for raw in column.tolist()]
    return found
