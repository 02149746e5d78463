"""The requested pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.errors import Argument, EmitterError
from dais_verif.hardware.emitter import PipelineOptions, read_delay_model
from dais_verif.hardware.emitter.delays import DEFAULT
from dais_verif.hardware.emitter.pipeline import MOST_STAGES
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.programs import require_number, require_range

__all__ = ["MOST_STAGES", "PipelineRequest"]


@dataclass(frozen=True, kw_only=True)
class PipelineRequest:
    """A pipeline of ``stages``, or with an estimated delay of at most ``max_depth`` per stage; both None: no pipeline.

    ``delay_model``: a TOML file of coefficients. ``reset``, ``enable``, ``valid``: ports in addition to the clock.
    """

    stages: int | None = None
    max_depth: float | None = None
    delay_model: Path | None = None
    reset: bool = False
    enable: bool = False
    valid: bool = False

    def __post_init__(self) -> None:
        require_types(self)
        require_range("stages", self.stages, 1, MOST_STAGES)
        require_number("max_depth", self.max_depth)
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
