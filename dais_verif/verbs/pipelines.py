"""The requested pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dais_verif.base.errors import Argument, EmitterError
from dais_verif.hardware.emitter import PipelineOptions, read_delay_model
from dais_verif.hardware.emitter.delays import DEFAULT
from dais_verif.hardware.emitter.pipeline import MOST_STAGES
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.options import option, require_options

__all__ = ["PipelineRequest", "delay_model_option", "max_depth_option", "stages_option"]

_CLOCKS = "Clocks and pipelines"


def stages_option() -> Any:
    """Declare the number of stages."""
    text = "Number of pipeline stages, which is the latency in clock edges; balanced by estimated delay."
    return option(None, text, group=_CLOCKS, least=1, most=MOST_STAGES)


def max_depth_option() -> Any:
    """Declare the depth of a stage."""
    text = "Largest estimated delay of a stage; uses as few stages as possible."
    return option(None, text, group=_CLOCKS, rare=True)


def delay_model_option() -> Any:
    """Declare the file of a delay model."""
    return option(None, "TOML file with coefficients of the delay model.", group=_CLOCKS, rare=True)


@dataclass(frozen=True, kw_only=True)
class PipelineRequest:
    """A pipeline of ``stages``, or with an estimated delay of at most ``max_depth`` each; both None: no pipeline."""

    stages: int | None = stages_option()
    max_depth: float | None = max_depth_option()
    delay_model: Path | None = delay_model_option()
    reset: bool = option(
        False, "Pipeline: add a synchronous reset rst that clears the valid bits.", group=_CLOCKS, rare=True
    )
    enable: bool = option(
        False,
        "Pipeline: add a clock enable en; while it is 0, every register keeps its value.",
        group=_CLOCKS,
        rare=True,
    )
    valid: bool = option(False, "Pipeline: add ports in_valid and out_valid.", group=_CLOCKS, rare=True)

    def __post_init__(self) -> None:
        require_types(self)
        require_options(self)
        if not self.wanted:
            for name in ("delay_model", "reset", "enable", "valid"):
                if getattr(self, name):
                    raise EmitterError.of("{name} is for pipelines: add {stages} or {max_depth}", name=Argument(name))

    @property
    def wanted(self) -> bool:
        """True if a pipeline is requested."""
        return self.stages is not None or self.max_depth is not None

    def options(self) -> PipelineOptions | None:
        """Return the options for the emitter. Raises ``InputError`` if the delay model cannot be read."""
        if not self.wanted:
            return None
        delays = DEFAULT if self.delay_model is None else read_delay_model(self.delay_model)
        return PipelineOptions(self.stages, self.max_depth, delays, self.reset, self.enable, self.valid)
