"""Show the configurations of a file: their columns, the runtime's curve, and the knobs of the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.errors import RequestError
from dais_verif.base.own_command import own_command
from dais_verif.base.verdict import Verdict
from dais_verif.record.approximation import ConfigurationInfo, ConfigurationsRecord
from dais_verif.verbs.approximation.opened import count_of, describe, open_configurations, words_of_knobs
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.argv import option_words
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["ShowConfigurationsRequest", "show_configurations"]


@dataclass(frozen=True, kw_only=True)
class ShowConfigurationsRequest:
    """A file of configurations. ``config``: show only this one, node by node; ``pareto``: only the runtime's curve.

    ``strict``: treat notices of the reader as errors. ``knobs``: a table of knobs, instead of the built-in one.
    """

    configurations: Path
    config: str | None = None
    pareto: bool = False
    strict: bool = False
    knobs: Path | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        if self.config is not None and self.pareto:
            raise RequestError.of("{config} names one configuration and {pareto} asks for several: give one of them.")

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request."""
        options = option_words(
            {"--config": self.config, "--knobs": self.knobs}, {"--pareto": self.pareto, "--strict": self.strict}
        )
        return ["approx", "show", str(self.configurations), *options]


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
        reproduce=own_command(request.words()) if request.command is None else request.command,
    )


def _message(every: list[ConfigurationInfo], curve: list[str]) -> str:
    sizes = sorted({len(one.nodes) for one in every})
    nodes = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    fastest = max(every, key=lambda one: one.speedup)
    return (
        f"{count_of(every)} of {nodes} node{'s' * (sizes[-1] != 1)}, {len(curve)} on the curve; "
        f"the fastest, {fastest.name}, {fastest.speedup:.4g}x at a loss of {fastest.loss:.4g}"
    )
