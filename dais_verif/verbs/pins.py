"""The pins of a clocked design, as given by options: each option overrides one key of a ports file."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

from dais_verif.base.errors import Argument, RequestError
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.hardware.ports.ports_file import latency_of
from dais_verif.verbs.arguments import require_types

__all__ = ["Pins", "latency_of"]


@dataclass(frozen=True)
class Pins:
    """The options; None for options that are not given. ``reset``: a port, or a port and its level, ``NAME:low``."""

    clock: str | None = None
    latency: int | Literal["auto"] | None = None
    reset: str | None = None
    enable: str | None = None
    valid_in: str | None = None
    valid_out: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        if isinstance(self.latency, int):
            try:
                latency_of(self.latency)
            except ValueError as error:
                raise RequestError.of("{latency} {why}.", why=str(error).removeprefix("latency ")) from None
        _, _, level = (self.reset or "").partition(":")
        if level not in ("", "low", "high"):
            name = (self.reset or "").partition(":")[0]
            raise RequestError.of(
                "{reset} {value} must be a port, or one with its active level: {port}:low.", value=self.reset, port=name
            )

    @property
    def given(self) -> list[str]:
        """The names of the options that are given."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]

    def over(self, said: Clocking | None, without: str) -> Clocking | None:
        """Return the pins ``said`` of a ports file, overridden by the options. ``without``: why ``said`` is None."""
        if said is None and self.clock is None:
            if self.given:
                raise RequestError.of(
                    "{first} needs {clock}: only a clocked design has one; {without}.",
                    first=Argument(self.given[0]),
                    without=without,
                )
            return None
        pins = said or Clocking(self.clock or "")
        pins = replace(
            pins,
            clock=self.clock or pins.clock,
            enable=self.enable or pins.enable,
            valid_in=self.valid_in or pins.valid_in,
            valid_out=self.valid_out or pins.valid_out,
        )
        if self.latency is not None:
            pins = replace(pins, latency=None if self.latency == "auto" else self.latency)
        if self.reset is not None:
            name, _, level = self.reset.partition(":")
            pins = replace(pins, reset=name or None, reset_low=level == "low")
        if pins.valid_out and not pins.valid_in:
            raise RequestError.of("{valid_out} needs {valid_in}, which determines when an output must be valid.")
        return pins
