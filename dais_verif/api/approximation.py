"""Approximation: files of configurations, shown and converted."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from dais_verif.flows.arguments import path_from, required_path
from dais_verif.flows.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.record.configurations import ConfigurationsRecord

__all__ = ["convert_configurations", "show_configurations"]

_Path = str | PathLike[str]


def show_configurations(
    configurations: _Path,
    *,
    config: str | None = None,
    pareto: bool = False,
    strict: bool = False,
    knobs: _Path | None = None,
    progress: Progress | None = None,
) -> ConfigurationsRecord:
    """Describe the approximation configurations in a file: what each gains and costs, and which knob is where.

    ``config``: only the one with this name. ``pareto``: only those on the curve that HPVM's runtime keeps.
    ``strict``: refuse what is odd and has one meaning. ``knobs``: a file with a table of knobs, instead of the one
    that is built in. Raises ``InputError`` with line and token for what cannot be read.
    """
    from dais_verif.flows.approximation.show import ShowConfigurationsRequest
    from dais_verif.flows.approximation.show import show_configurations as flow

    request = ShowConfigurationsRequest(
        configurations=required_path("configurations", configurations),
        config=config,
        pareto=pareto,
        strict=strict,
        knobs=path_from("knobs", knobs),
    )
    return flow(request, progress=listener(progress))


def convert_configurations(
    configurations: _Path,
    output: _Path,
    *,
    strict: bool = False,
    knobs: _Path | None = None,
    progress: Progress | None = None,
) -> ConfigurationsRecord:
    """Write approximation configurations into the file ``output``, in the form of HPVM's tuner.

    What is in that form is written byte for byte, and numbers keep their digits. ``strict``, ``knobs`` and errors are
    those of ``show_configurations``.
    """
    from dais_verif.flows.approximation.convert import ConvertConfigurationsRequest
    from dais_verif.flows.approximation.convert import convert_configurations as flow

    request = ConvertConfigurationsRequest(
        configurations=required_path("configurations", configurations),
        output=required_path("output", output),
        strict=strict,
        knobs=path_from("knobs", knobs),
    )
    return flow(request, progress=listener(progress))
