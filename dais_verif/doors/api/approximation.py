"""Approximation: show, convert, apply, measure and tune files of configurations."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from dais_verif.base.packages import name_missing_packages
from dais_verif.verbs.arguments import path_from, required_path
from dais_verif.verbs.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.record.approximation import AppliedRecord, ConfigurationsRecord, MeasuredRecord, TunedRecord

__all__ = [
    "apply_configuration",
    "convert_configurations",
    "measure_configurations",
    "show_configurations",
    "tune_configurations",
]

_Path = str | PathLike[str]


@name_missing_packages
def show_configurations(
    configurations: _Path,
    *,
    config: str | None = None,
    pareto: bool = False,
    strict: bool = False,
    knobs: _Path | None = None,
    progress: Progress | None = None,
) -> ConfigurationsRecord:
    """Describe the approximation configurations in a file: the gain and cost of each, and the knob of each node.

    ``config``: describe only the configuration with this name. ``pareto``: describe only the configurations on the
    curve that HPVM's runtime keeps. ``strict``: also refuse questionable entries whose meaning is still clear.
    ``knobs``: a file with a table of knobs, instead of the built-in one. Raises ``InputError`` with line and token if
    the file cannot be read.
    """
    from dais_verif.verbs.approximation.show import ShowConfigurationsRequest
    from dais_verif.verbs.approximation.show import show_configurations as flow

    request = ShowConfigurationsRequest(
        configurations=required_path("configurations", configurations),
        config=config,
        pareto=pareto,
        strict=strict,
        knobs=path_from("knobs", knobs),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def convert_configurations(
    configurations: _Path,
    output: _Path,
    *,
    strict: bool = False,
    knobs: _Path | None = None,
    progress: Progress | None = None,
) -> ConfigurationsRecord:
    """Write approximation configurations to the file ``output``, in the form of HPVM's tuner.

    Text in this form is written byte for byte, and numbers keep their digits. ``strict``, ``knobs`` and errors are the
    same as in ``show_configurations``.
    """
    from dais_verif.verbs.approximation.convert import ConvertConfigurationsRequest
    from dais_verif.verbs.approximation.convert import convert_configurations as flow

    request = ConvertConfigurationsRequest(
        configurations=required_path("configurations", configurations),
        output=required_path("output", output),
        strict=strict,
        knobs=path_from("knobs", knobs),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def apply_configuration(
    network: _Path,
    configurations: _Path,
    config: str | None,
    output: _Path,
    *,
    select: str | None = None,
    form: str = "unrolled",
    parallel: int = 1,
    at_once: Sequence[int] = (),
    grid: int | None = None,
    knobs: _Path | None = None,
    progress: Progress | None = None,
) -> AppliedRecord:
    """Apply configuration ``config`` to the network in an ONNX file, and write a program into the folder ``output``.

    Without ``config`` and ``select``, the first configuration is applied.
    ``form``: ``unrolled``, or a machine, ``memory`` or ``stream``; ``parallel``: the maximum number of parallel members
    per stage of the form ``memory``; ``at_once``: the numbers of fused nodes, each of which one member computes as a
    whole. ``select``: instead of ``config``, names of configurations, separated by commas, for a machine with an input
    that selects one of them. ``grid``: the number of fractional bits of weights that a knob has multiplied by 4/3.
    Raises ``ConfigurationError`` with the line if a configuration is for another network, ``NetworkError`` with node
    and reason if a knob cannot be applied.
    """
    from dais_verif.verbs.approximation.apply import ApplyRequest
    from dais_verif.verbs.approximation.apply import apply_configuration as flow

    request = ApplyRequest(
        network=required_path("network", network),
        configurations=required_path("configurations", configurations),
        config=config,
        select=select,
        form=form,
        parallel=parallel,
        at_once=tuple(at_once),
        output=required_path("output", output),
        grid=grid,
        knobs=path_from("knobs", knobs),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def measure_configurations(
    network: _Path,
    configurations: _Path,
    data: _Path,
    *,
    budget: float | str | None = None,
    grid: int | None = None,
    bound: bool = False,
    timeout: float = 10.0,
    target: str | None = None,
    form: str = "unrolled",
    parallel: int = 1,
    knobs: _Path | None = None,
    jobs: int | None = None,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> MeasuredRecord:
    """Measure every configuration of a file on the samples of an ``.npz`` file, with the golden model.

    ``data``: one array per input, and an array of labels. ``budget``: the largest loss that is allowed, in percent; the
    verdict is NOT_SIGNED_OFF if no configuration is within it. ``bound``: also look for inputs that cause a large
    difference, and let the solver tighten the bounds, for ``timeout`` seconds per output. ``target``: also synthesize
    each configuration for ``ice40``, ``ecp5``, ``xilinx`` or ``generic``, and count cells; ``form``: the form of the
    design, ``unrolled`` or ``memory``; ``parallel``: the maximum number of parallel members per stage. ``output``: a
    folder for files with measured columns: one with all configurations, and one for each curve of loss against a gain.
    """
    from dais_verif.verbs.approximation.measure import MeasureRequest
    from dais_verif.verbs.approximation.measure import measure_configurations as flow

    request = MeasureRequest(
        network=required_path("network", network),
        configurations=required_path("configurations", configurations),
        data=required_path("data", data),
        budget=None if budget is None else str(budget),
        grid=grid,
        bound=bound,
        timeout=timeout,
        target=target,
        form=form,
        parallel=parallel,
        knobs=path_from("knobs", knobs),
        jobs=jobs,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def tune_configurations(
    network: _Path,
    data: _Path,
    output: _Path,
    *,
    budget: float | str,
    tries: int = 200,
    half: bool = False,
    seed: int = 0,
    grid: int | None = None,
    resume: bool = False,
    random: bool = False,
    cluster: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> TunedRecord:
    """Search for configurations of the network in an ONNX file, and write the best ones to ``output``.

    ``budget``: the largest loss on the samples in ``data`` that is allowed, in percent. ``tries``: the maximum number
    of configurations that are measured; measurements are kept beside ``output``, and ``resume`` continues from them.
    ``half``: layers may also compute in half precision. ``cluster``: measure on Dask workers, named as in ``regress``.
    ``random``: try ``tries`` random configurations instead of searching, for comparison. The same ``seed`` gives the
    same result, with or without a cluster.
    """
    from dais_verif.verbs.approximation.tune import TuneRequest
    from dais_verif.verbs.approximation.tune import tune_configurations as flow

    request = TuneRequest(
        network=required_path("network", network),
        data=required_path("data", data),
        output=required_path("output", output),
        budget=str(budget),
        tries=tries,
        half=half,
        seed=seed,
        grid=grid,
        resume=resume,
        random=random,
        cluster=cluster,
        jobs=jobs,
    )
    return flow(request, progress=listener(progress))
