"""Arguments for pipelining emitted RTL."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from dais_verif.verbs.arguments import path_from

if TYPE_CHECKING:
    from dais_verif.verbs.pipelines import PipelineRequest

__all__ = ["pipeline_request"]

_Path = str | PathLike[str]


def pipeline_request(
    stages: int | None, max_depth: float | None, delay_model: _Path | None, reset: bool, enable: bool, valid: bool
) -> PipelineRequest:
    """Return the request for a pipeline. Raises ``RequestError`` for a ``delay_model`` that is not a path."""
    from dais_verif.verbs.pipelines import PipelineRequest

    return PipelineRequest(
        stages=stages,
        max_depth=max_depth,
        delay_model=path_from("delay_model", delay_model),
        reset=reset,
        enable=enable,
        valid=valid,
    )
