"""The options for a pipeline."""

from __future__ import annotations

import click

from dais_verif.doors.cli.common import file_path
from dais_verif.doors.cli.options.bundles import bundled
from dais_verif.verbs.pipelines import MOST_STAGES, PipelineRequest

__all__ = ["pipeline_options"]

_STAGES = (
    click.option(
        "--stages",
        type=click.IntRange(1, MOST_STAGES),
        help="Number of pipeline stages, which is the latency in clock edges; balanced by estimated delay.",
    ),
    click.option("--max-depth", type=float, help="Largest estimated delay of a stage; uses as few stages as possible."),
    click.option("--delay-model", type=file_path, help="TOML file with coefficients of the delay model."),
)
_PORTS = (
    click.option("--reset", is_flag=True, help="Pipeline: add a synchronous reset rst that clears the valid bits."),
    click.option(
        "--enable", is_flag=True, help="Pipeline: add a clock enable en; while it is 0, every register keeps its value."
    ),
    click.option("--valid", is_flag=True, help="Pipeline: add ports in_valid and out_valid."),
)

#: Adds ``--stages``, ``--max-depth``, ``--delay-model``, and those for ports: ``--reset``, ``--enable``, ``--valid``;
#: the command gets them as one ``pipeline``.
pipeline_options = bundled("pipeline", PipelineRequest, *_STAGES, *_PORTS)
