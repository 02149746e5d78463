"""Write configurations in the format of the tuner's files; input already in this format stays identical."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import ConfigurationFile, normal, text_of, write
from dais_verif.record.approximation import ConfigurationsRecord
from dais_verif.verbs import common_options as common
from dais_verif.verbs.approximation.opened import count_of, describe, open_configurations, words_of_knobs
from dais_verif.verbs.options import REQUIRED, Request
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["ConvertConfigurationsRequest", "convert_configurations"]


@dataclass(frozen=True, kw_only=True)
class ConvertConfigurationsRequest(Request):
    """A file of configurations, and the file to write."""

    verb: ClassVar[str] = "approx convert"

    configurations: Path
    output: Path = common.output("The file to write.", REQUIRED, writes="file")
    strict: bool = common.strict()
    knobs: Path | None = common.knobs()

    def require(self) -> None:
        """Raise ``RequestError`` if the output would destroy what is read."""
        require_no_loss(self.output, configurations=self.configurations, knobs=self.knobs)

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [str(self.configurations)]


def convert_configurations(
    request: ConvertConfigurationsRequest, *, progress: Progress = SILENT
) -> ConfigurationsRecord:
    """Write the file; all numbers keep their digits. Raises ``ConfigurationError`` with line and token."""
    file, warnings = open_configurations(request.configurations, request.strict, request.knobs, progress)
    made = normal(file)
    write(made, request.output)
    changes = list(_changes(file, made))
    every, curve = describe(made)
    return ConfigurationsRecord(
        verdict=Verdict.PASS,
        message=f"{count_of(every)} written: {'; '.join(changes) if changes else 'the same bytes'}",
        path=str(request.configurations),
        baseline=None if made.baseline is None else float(made.baseline),
        total=len(every),
        curve=curve,
        configurations=every,
        knobs=words_of_knobs(made, every),
        output=str(request.output),
        changes=changes,
        warnings=warnings,
        reproduce=request.reproduce(),
    )


def _changes(file: ConfigurationFile, made: ConfigurationFile) -> Iterator[str]:
    """Yield the differences between the file that was read and the file that is written, in words."""
    if text_of(file) == text_of(made):
        return
    if file.baseline is None:
        yield "a baseline of 0.0 was added"
    bare = sum(not op.named for one in file.configurations for node in one.nodes for op in node.ops)
    if bare:
        yield f"names of approximations were added to {bare} knobs"
    yield "words are separated by single spaces, and there are no blank lines"
