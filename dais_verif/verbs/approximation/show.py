"""Show the configurations of a file: their columns, the runtime's curve, and the knobs of the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.record.approximation import ConfigurationInfo, ConfigurationsRecord
from dais_verif.verbs import common_options as common
from dais_verif.verbs.approximation.opened import count_of, describe, open_configurations, words_of_knobs
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["ShowConfigurationsRequest", "show_configurations"]


@dataclass(frozen=True, kw_only=True)
class ShowConfigurationsRequest(Request):
    """A file of configurations, and which of them to show."""

    verb: ClassVar[str] = "approx show"

    configurations: Path
    config: str | None = option(None, "Only this configuration, node by node.", group="Program", metavar="NAME")
    pareto: bool = option(False, "Only configurations on the curve that HPVM's runtime keeps.", group="Program")
    strict: bool = common.strict()
    knobs: Path | None = common.knobs()

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other."""
        if self.config is not None and self.pareto:
            raise RequestError.of("{config} names one configuration and {pareto} asks for several: give one of them.")

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [str(self.configurations)]


def show_configurations(request: ShowConfigurationsRequest, *, progress: Progress = SILENT) -> ConfigurationsRecord:
    """Read the file and describe its configurations. Raises ``ConfigurationError`` with line and token."""
    file, warnings = open_configurations(request.configurations, request.strict, request.knobs, progress)
    every, curve = describe(file)
    found = {one.name: one for one in every}
    shown = [found[name] for name in curve] if request.pareto else every
    if request.config is not None:
        shown = [found[file[request.config].name]]
    return ConfigurationsRecord(
        verdict=Verdict.PASS,
        message=_message(every, curve),
        path=str(request.configurations),
        baseline=None if file.baseline is None else float(file.baseline),
        total=len(every),
        curve=curve,
        configurations=shown,
        knobs=words_of_knobs(file, shown),
        output=None,
        changes=[],
        warnings=warnings,
        reproduce=request.reproduce(),
    )


def _message(every: list[ConfigurationInfo], curve: list[str]) -> str:
    sizes = sorted({len(one.nodes) for one in every})
    nodes = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    fastest = max(every, key=lambda one: one.speedup)
    return (
        f"{count_of(every)} of {nodes} node{'s' * (sizes[-1] != 1)}, {len(curve)} on the curve; "
        f"the fastest, {fastest.name}, {fastest.speedup:.4g}x at a loss of {fastest.loss:.4g}"
    )
