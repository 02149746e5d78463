"""The control pins of a clocked design, as driven by a user's bench."""

from __future__ import annotations

from typing import Any, NamedTuple

from cocotb.utils import get_sim_time

from dais_verif.dut.interface import Clocking
from dais_verif.simulation.testbench.pins import handle_of

__all__ = ["PinReader", "PinState"]


class PinState(NamedTuple):
    """The state of the pins. ``valid_out``: the bit of this pin; None if there is no such pin.

    ``unknown``: some pin has never been 0 or 1 yet, so checking has not started. ``problem``: why the pins cannot be
    used.
    """

    reset: bool = False
    enable: bool = True
    valid: bool = True
    valid_out: str | None = None
    unknown: bool = False
    problem: str | None = None


class PinReader:
    """Reads the pins, and records which of them have ever been 0 or 1: from then on, X is an error."""

    def __init__(self, dut: Any, clocking: Clocking) -> None:
        names = {"reset": clocking.reset, "enable": clocking.enable, "valid": clocking.valid_in}
        self._pins = {what: (name, handle_of(dut, name)) for what, name in names.items() if name}
        self._valid_out = handle_of(dut, clocking.valid_out) if clocking.valid_out else None
        self._active = "0" if clocking.reset_low else "1"
        self._known = set[str]()

    @property
    def handles(self) -> list[Any]:
        """The handles of all pins."""
        return [*(handle for _, handle in self._pins.values()), *([] if self._valid_out is None else [self._valid_out])]

    def read(self) -> PinState:
        """Return the current state of the pins."""
        seen = {}
        for what, (name, handle) in self._pins.items():
            value = str(handle.value)
            if value in ("0", "1"):
                self._known.add(what)
            elif what in self._known:
                return PinState(problem=f"{name} is {value} at {get_sim_time('ns')} ns, must be 0 or 1")
            seen[what] = value
        if len(self._known) < len(self._pins):
            return PinState(reset=True, unknown=True)
        return PinState(
            seen.get("reset") == self._active,
            seen.get("enable", "1") == "1",
            seen.get("valid", "1") == "1",
            None if self._valid_out is None else str(self._valid_out.value),
        )
