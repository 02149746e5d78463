"""Measure configurations on labelled samples: accuracy, distance from the exact results, and cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import ApproximationError, InputError, RequestError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import Configuration, ConfigurationFile, pareto, text_of
from dais_verif.compile.approximation.choice import Accuracy, choose_within
from dais_verif.compile.approximation.columns import predicted_speedup, rewrite_columns
from dais_verif.compile.networks import Network, NetworkError, fuse
from dais_verif.compile.networks.approximate import approximate
from dais_verif.compile.networks.hardware.chain import chain_of
from dais_verif.compile.networks.hardware.memory import memory_latency, memory_network
from dais_verif.record.approximation import Measured, MeasuredRecord
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.verbs import common_options as common
from dais_verif.verbs.approximation.bounds import Bounds, network_outputs, plain_bounds, sharpened
from dais_verif.verbs.approximation.opened import Opened, Samples, open_network, read_samples
from dais_verif.verbs.networks.hardware_forms import require_form
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.overwrite_guard import earlier_record, require_no_loss
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.synthesize import TARGETS, SynthesisRequest, synthesize

__all__ = ["MeasureRequest", "exact_budget", "measure_configurations"]

_FILE, _RECORD = "measured.txt", "measured.json"
_RANGES = "too large to unroll: ops and cycles are not counted, and the bound follows from the ranges of outputs alone"
#: Kinds of cells for which a curve is drawn, if the target has such cells.
_CELLS = ("LUT", "gate")
#: Files of the configurations on a curve, by the quantity that improves.
_CURVES = {by: f"pareto_{by}.txt" for by in ("speedup", "cycles", *_CELLS)}


@dataclass(frozen=True, kw_only=True)
class MeasureRequest(Request):
    """An ONNX file, a file of configurations, and samples with labels on which to measure them."""

    verb: ClassVar[str] = "approx measure"

    network: Path
    configurations: Path
    data: Path = common.samples()
    budget: str | None = option(
        None,
        "Choose the fastest with at most this loss; exit code 7 if there is none.",
        group="Program",
        metavar="PERCENT",
        take=lambda value: None if value is None else str(value),
        accepts="float | str",
    )
    output: Path | None = common.output("Folder for measured.txt: the file with measured columns.", writes="folder")
    bound: bool = option(False, "Tighten bounds: search for large differences, then ask the solver.", group="Program")
    timeout: float = common.timeout(10.0, "Solver time limit for each output, in seconds.", always=False)
    target: str | None = option(
        None,
        "Also synthesize each configuration for this target: cells and depth.",
        group="Synthesis",
        choices=tuple(TARGETS),
    )
    form: str = common.form()
    parallel: int = common.parallel()
    grid: int | None = common.grid()
    knobs: Path | None = common.knobs()
    jobs: int | None = common.jobs()

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other, or the output would destroy what is read."""
        require_form(self.form, self.parallel)
        if self.form == "stream":
            raise RequestError.of(
                "{form} stream is not measured: synthesize the folder of `approx apply --form stream`."
            )
        if self.target is None and self.form != "unrolled":
            raise RequestError.of("{form} {value} is for synthesis: add {target}.", value=self.form)
        if self.budget is not None:
            exact_budget(self.budget)
        read = {"network": self.network, "configurations": self.configurations, "data": self.data}
        require_no_loss(self.output, (_FILE, _RECORD, *_CURVES.values()), **read, knobs=self.knobs)

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [str(self.network), str(self.configurations)]


def measure_configurations(request: MeasureRequest, *, progress: Progress = SILENT) -> MeasuredRecord:
    """Measure every configuration of the file by the golden model.

    A configuration that cannot be applied to this network is reported, and left out of the file that is written.
    Verdicts: PASS; NOT_SIGNED_OFF (exit code 7) if no configuration is within the budget; NOT_RUN if none could be
    measured. Raises ``ConfigurationError`` if no configuration is for this network.
    """
    if request.output is not None:
        _require_own(request.output)
    opened = open_network(request.network, request.configurations, request.knobs, progress)
    samples = read_samples(request.data, opened.exact)
    if request.bound or request.target is not None:
        opened.exact.program()  # raises if it is too large to unroll
    wanted = network_outputs(opened.exact, samples.vectors, request.jobs)
    found: list[Measured] = []
    accuracies: dict[str, Accuracy] = {}
    speedups: dict[str, Fraction] = {}
    for number, one in enumerate(opened.file.configurations, 1):
        named = f"{one.name}, {number} of {len(opened.file.configurations)}"
        with progress.working(named) as show:

            def told(what: str, named: str = named, show: Callable[[str], None] = show) -> None:
                show(f"{named}: {what}")

            measured, accuracy, speedup = _measured(request, opened, one, samples, wanted, told)
        found.append(measured)
        if accuracy is not None:
            accuracies[one.name], speedups[one.name] = accuracy, speedup
    left = tuple(one for one in opened.file.configurations if one.name in accuracies)
    curves: dict[str, list[str]] = {}
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
        for by, gains in {"speedup": speedups, **_gains(found)}.items():
            gained = rewrite_columns(file, accuracies, gains)
            curves[by] = pareto(gained)
            if request.output is not None:
                on_curve = tuple(gained[name] for name in curves[by])
                write_atomically(
                    request.output / _CURVES[by], text_of(replace(gained, configurations=on_curve)).encode()
                )
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
        target=request.target,
        form=request.form,
        curves=curves,
        sharpened=request.bound,
        output=None if request.output is None else str(request.output),
        warnings=opened.warnings,
        reproduce=request.reproduce(),
    )
    if request.output is not None:
        make_folder(request.output)
        write_atomically(request.output / _RECORD, record.to_json().encode())
    return record


def exact_budget(budget: str) -> Fraction:
    """Parse ``budget`` as a number. Raises ``RequestError`` if it is not a finite number."""
    try:
        found = Decimal(budget)
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite():
        raise RequestError.of("{budget} must be a finite number of percent, not {value!r}.", value=budget)
    return Fraction(found)


def _require_own(folder: Path) -> None:
    """Raise ``InputError`` if ``folder`` holds files of the names that are written, and no record of an earlier run."""
    there = [name for name in (_FILE, *_CURVES.values()) if (folder / name).exists()]
    if earlier_record(folder / _RECORD, MeasuredRecord) is None and there:
        raise ApproximationError(
            f"{str(folder / there[0])!r} would be overwritten, and no earlier run left it; "
            "choose another folder with -o"
        )


def _measured(
    request: MeasureRequest,
    opened: Opened,
    one: Configuration,
    samples: Samples,
    wanted: NDArray[np.object_],
    show: Callable[[str], None],
) -> tuple[Measured, Accuracy | None, Fraction]:
    try:
        made = approximate(opened.exact, opened.file, one.name, grid=request.grid)
        speedup = predicted_speedup(one, _costs(opened.exact), opened.file.knobs)
        unrolls = opened.exact.unrolls and made.network.unrolls
        found = network_outputs(made.network, samples.vectors, request.jobs)
    except (InputError, NetworkError) as error:  # it is for another network, or a knob cannot be applied
        return Measured(name=one.name, refused=str(error)), None, Fraction(0)
    accuracy = Accuracy(int((np.argmax(found, axis=1) == samples.labels).sum()), len(samples.labels))
    seen = tuple(Fraction(one) for one in np.abs(found - wanted).max(axis=0).tolist())
    bounds = Bounds(plain_bounds(opened.exact, made), seen)
    if request.bound:
        bounds = sharpened(opened.exact, made, bounds, samples.vectors, request.timeout, show)
    cycles, folding = _cycles(made.network, request.parallel) if unrolls else (None, [_RANGES])
    cost = _Cost()
    if request.target is not None and (request.form == "unrolled" or cycles is not None):
        design = made.network.program() if request.form == "unrolled" else _machine(made.network, request.parallel)
        cost = _cost_of(design, request.target, show)
    measured = Measured(
        name=one.name,
        correct=accuracy.correct,
        total=accuracy.total,
        accuracy=float(accuracy.percent),
        interval=[float(end) for end in accuracy.interval()],
        ops=made.network.program().n_ops if unrolls else None,
        speedup=float(speedup),
        largest=float(max(seen, default=0)),
        bound=float(max(bounds.bound, default=0)),
        bounds=[float(bound) for bound in bounds.bound],
        reached=[float(reached) for reached in bounds.reached],
        unfinished=list(bounds.unfinished),
        cells=cost.cells,
        depth=cost.depth,
        cycles=cycles,
        notes=[*made.notes, *folding],
    )
    return measured, accuracy, speedup


class _Cost(NamedTuple):
    """The number of cells of each kind, and the longest path through them; None if not requested."""

    cells: dict[str, int] | None = None
    depth: int | None = None


def _cycles(network: Network, parallel: int) -> tuple[int | None, list[str]]:
    """Return the cycles from start to done of the network as a machine with memories, or why it has none."""
    try:
        return memory_latency(chain_of([network]), parallel)[0], []
    except InputError as error:
        return None, [f"no machine with memories: {error}"]


def _machine(network: Network, parallel: int) -> Machine:
    return memory_network(chain_of([network]), parallel).machine


def _gains(found: Sequence[Measured]) -> dict[str, dict[str, Fraction]]:
    """Return the gain of each configuration over the first, by name: in cycles, and in cells if counted."""
    measured = [one for one in found if one.refused is None]
    costs = {"cycles": [one.cycles for one in measured]}
    costs |= {kind: [(one.cells or {}).get(kind) for one in measured] for kind in _CELLS}
    return {
        by: {one.name: Fraction(listed[0], cost) for one, cost in zip(measured, listed, strict=True)}  # type: ignore[arg-type]
        for by, listed in costs.items()
        if all(listed)
    }


def _cost_of(program: Program | Machine, target: str, show: Callable[[str], None]) -> _Cost:
    show(f"yosys: {target}")
    made = synthesize(SynthesisRequest(program=program, target=target))
    return _Cost(dict(made.counts), made.depth.cells)


def _costs(network: Network) -> list[list[int]]:
    return [[op.cost for op in node.ops] for node in fuse(network) if node.number is not None]
