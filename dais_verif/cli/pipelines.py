"""The options that ask for a pipeline, and what is said of one that was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dais_verif.cli.common import file_path
from dais_verif.emitter import Pipeline, PipelineOptions, read_delay_model
from dais_verif.emitter.delays import DEFAULT
from dais_verif.emitter.pipeline import MOST_STAGES
from dais_verif.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["asked_pipeline", "control_options", "facts", "show", "stage_options"]

_F = TypeVar("_F", bound=Callable[..., Any])

#: Up to so many stages each one's depth is shown.
_SHOWN = 16


def stage_options(command: _F) -> _F:
    """``--stages``, ``--max-depth``, ``--delay-model``."""
    for option in (
        click.option("--delay-model", type=file_path, help="TOML file with coefficients of the delay model."),
        click.option(
            "--max-depth",
            type=float,
            help="Pipeline in as few stages as keep the estimated delay of each within this.",
        ),
        click.option(
            "--stages",
            type=click.IntRange(1, MOST_STAGES),
            help="Pipeline in so many stages, balanced by estimated delay; the latency in clock edges.",
        ),
    ):
        command = option(command)
    return command


def control_options(command: _F) -> _F:
    """``--reset``, ``--enable``, ``--valid``: the ports of a pipeline that are there only if asked for."""
    for option in (
        click.option("--valid", is_flag=True, help="Pipeline: ports in_valid and out_valid."),
        click.option(
            "--enable", is_flag=True, help="Pipeline: a port en; while it is 0 every register keeps its value."
        ),
        click.option("--reset", is_flag=True, help="Pipeline: a port rst, synchronous, that clears the valid bits."),
    ):
        command = option(command)
    return command


def asked_pipeline(
    stages: int | None, max_depth: float | None, delay_model: Path | None, **control: bool
) -> PipelineOptions | None:
    """What the options ask for; None without ``--stages`` and ``--max-depth``. Raises ``InputError``."""
    if stages is None and max_depth is None:
        given = [name for name, value in {"delay-model": delay_model, **control}.items() if value]
        if given:
            raise InputError(f"--{given[0]} is for pipelines: add --stages or --max-depth")
        return None
    delays = DEFAULT if delay_model is None else read_delay_model(delay_model)
    return PipelineOptions(stages, max_depth, delays, **control)


def facts(pipeline: Pipeline) -> dict[str, Any]:
    """For ``--json``; depths in ``unit``, latency in clock edges."""
    return {
        "stages": pipeline.stages,
        "latency": pipeline.latency,
        "initiation_interval": 1,
        "registers": pipeline.registers,
        "register_bits": pipeline.register_bits,
        "depths": list(pipeline.depths),
        "unit": pipeline.unit,
    }


def show(out: Console, pipeline: Pipeline) -> None:
    """Three lines for people."""
    depths = pipeline.depths
    shown = ", ".join(f"{depth:g}" for depth in depths)
    if len(depths) > _SHOWN:
        shown = f"{min(depths):g} to {max(depths):g}"
    stages = "1 stage" if pipeline.stages == 1 else f"{pipeline.stages} stages"
    out.print(f"pipeline   {stages}, latency {pipeline.latency}, a vector every clock edge", markup=False)
    out.print(f"registers  {pipeline.registers}, {pipeline.register_bits} bits", markup=False)
    out.print(f"depth      {shown} {pipeline.unit} (estimated, by stage)", markup=False)
