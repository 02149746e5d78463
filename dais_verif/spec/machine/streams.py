"""A machine as a stream: its valid signals, its enable and reset, and its data signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.base.errors import FrameError
from dais_verif.spec.machine.model import Machine, Signal, View
from dais_verif.spec.machine.ports import bits_of
from dais_verif.spec.program import FixedType

__all__ = ["MachineStream", "StreamPins", "stream_of"]

_BIT = FixedType(0, 1, 0)


class StreamPins(NamedTuple):
    """Signals of one bit.

    ``valid_in``: the inputs carry data. ``valid_out``: the outputs carry data. ``enable``: while it is 0, no register
    changes. ``reset``: while it is 1, every register takes its initial value; None if no register can change.
    """

    valid_in: str
    valid_out: str
    enable: str
    reset: str | None = None


@dataclass(frozen=True)
class MachineStream:
    """``inputs`` and ``outputs``: the data signals, in the order of ports, the first in the lowest bits of a beat."""

    pins: StreamPins
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]

    @property
    def input_bits(self) -> int:
        """The number of bits of an input beat."""
        return sum(bits_of(signal.types) for signal in self.inputs)

    @property
    def output_bits(self) -> int:
        """The number of bits of an output beat."""
        return sum(bits_of(signal.types) for signal in self.outputs)


def stream_of(machine: Machine, pins: StreamPins) -> MachineStream:
    """Return the data signals of ``machine``: all ports except ``pins``.

    Raises ``InputError`` if a pin is not a one-bit port of the machine, if no data is left, or if the reset does not
    cover all registers that can change.
    """
    outputs = _without(machine.outputs, {"valid_out": pins.valid_out})
    inputs = _without(
        machine.inputs, {name: pin for name, pin in pins._asdict().items() if name != "valid_out" and pin}
    )
    found = MachineStream(pins, inputs, outputs)
    for side, bits in (("inputs", found.input_bits), ("outputs", found.output_bits)):
        if not bits:
            raise FrameError(f"no {side} of the machine carry data, besides its pins: there is nothing to stream")
    _require_reset(machine, pins.reset)
    return found


def _without(signals: Sequence[Signal], pins: dict[str, str]) -> tuple[Signal, ...]:
    """Return ``signals`` without the values of ``pins``, each of which must be in ``signals``."""
    known = {signal.name: signal for signal in signals}
    bits = [name for name, signal in known.items() if signal.types == (_BIT,)]
    side = "input" if "enable" in pins else "output"
    for key, name in pins.items():
        if name not in bits:
            there = ", ".join(bits) or "the machine has none"
            raise FrameError(f"{key} is {name!r}, must be an {side} of one unsigned bit ({there})")
    for key, name in pins.items():
        other = next(first for first, same in pins.items() if same == name)
        if other != key:
            raise FrameError(f"{other} and {key} are both {name!r}: each pin is a signal of its own")
    return tuple(signal for signal in signals if signal.name not in pins.values())


def _require_reset(machine: Machine, reset: str | None) -> None:
    written = {c.target.signal for c in machine.connections if machine.clocked(c)}
    for signal in machine.registers:
        if signal.name not in written or not bits_of(signal.types):
            continue
        if reset is None:
            raise FrameError(
                f"no reset is named, but register {signal.name} changes: a stream must restart after aresetn"
            )
        if signal.reset != View(reset, 0, 1):
            raise FrameError(f"register {signal.name} is not reset by {reset}: a stream must restart after aresetn")
