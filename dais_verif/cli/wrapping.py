"""The options of ``emit`` that ask for a wrapper, and the folder that it is written to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from dais_verif.emitter import Pipeline, PipelineOptions
from dais_verif.emitter.folder import MANIFEST, Wrapping, project_folder
from dais_verif.emitter.wrapper import WRAPS
from dais_verif.errors import InputError
from dais_verif.files import replace_folder
from dais_verif.program import Program

__all__ = ["asked_wrapping", "enabled", "wrap_options", "write_wrapped"]

_F = TypeVar("_F", bound=Callable[..., Any])

#: Signatures for these are given too, where the self-check asked for is longer: shorter ones tell when it fails.
_SHORTER = (1, 16, 256, 4096, 65536)


def wrap_options(command: _F) -> _F:
    """``--wrap``, ``--axil``, ``--user-bits``, ``--check-beats``, ``--period``."""
    for option in (
        click.option("--period", type=float, help="With --wrap: clock period in ns, in the constraints. Default: 5."),
        click.option(
            "--check-beats",
            type=click.IntRange(1, 1 << 20),
            help="With --axil: vectors of the self-check whose signature is computed. Default: 4096.",
        ),
        click.option(
            "--user-bits", type=click.IntRange(0, 4096), help="With --wrap: bits of TUSER. Default: 1; 0: no use of it."
        ),
        click.option("--axil", is_flag=True, help="With --wrap: add AXI4-Lite registers, counters and a self-check."),
        click.option(
            "--wrap",
            type=click.Choice(WRAPS),
            help="Write it with what an FPGA project needs around it; -o names a folder.",
        ),
    ):
        command = option(command)
    return command


def asked_wrapping(
    wrap: str | None, axil: bool, user_bits: int | None, check_beats: int | None, period: float | None
) -> tuple[Wrapping, int] | None:
    """What the options ask for, and the beats of the self-check; None without ``--wrap``. Raises ``InputError``."""
    streams = {"axil": axil or None, "user-bits": user_bits, "check-beats": check_beats}
    for name, value in {**streams, "period": period}.items():
        if value is not None and wrap is None:
            raise InputError(f"--{name} is for wrapped modules: add --wrap axis")
        if value is not None and wrap != "axis" and name in streams:
            raise InputError(f"--{name} is for AXI4-Stream, not for --wrap {wrap}: leave it out, or use --wrap axis")
    if wrap is None:
        return None
    if check_beats is not None and not axil:
        raise InputError("--check-beats is for the self-check, which is started over AXI4-Lite: add --axil")
    if period is not None and not (math.isfinite(period) and period > 0):
        raise InputError(f"--period is {period}, must be a number of nanoseconds greater than 0")
    wrapping = Wrapping(
        wrap,
        user_bits=1 if user_bits is None else user_bits,
        axil=axil,
        period=5.0 if period is None else period,
    )
    return wrapping, 4096 if check_beats is None else check_beats


def enabled(options: PipelineOptions | None) -> PipelineOptions | None:
    """The pipeline that a shell needs: it can be held, and what is valid is known outside. Raises ``InputError``."""
    if options is None:
        return None
    if options.reset or options.valid:
        raise InputError("--reset and --valid cannot be wrapped: the shell itself knows what is valid; leave them out")
    return replace(options, enable=True)


def write_wrapped(
    program: Program, top: str, text: str, pipeline: Pipeline | None, asked: tuple[Wrapping, int], output: Path
) -> dict[str, Any]:
    """Write the folder and return what ``--json`` says of it."""
    wrapping, beats = asked
    wrapping = replace(wrapping, latency=pipeline.latency if pipeline else 0)
    if wrapping.axil:
        # The golden model's, and so computed here: what is judged must not know the judge.
        from dais_verif.simulation.selfcheck import selfcheck_signatures

        signatures = selfcheck_signatures(program, [*(k for k in _SHORTER if k < beats), beats])
        wrapping = replace(wrapping, signatures=signatures)
    files = project_folder(program, top, text, wrapping)
    replace_folder(output, files, MANIFEST)
    return {
        "kind": wrapping.kind,
        "top": f"{top}_{wrapping.kind}",
        "folder": str(output),
        "files": sorted(files),
        "axil": wrapping.axil,
        "core_latency": wrapping.latency,
        "user_bits": wrapping.user_bits,
        "signatures": {str(k): f"{value:08x}" for k, value in wrapping.signatures.items()},
    }
