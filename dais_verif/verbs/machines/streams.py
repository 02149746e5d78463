"""Read from a TOML file how a machine is a stream: which signals are its valid bits, its enable and its reset."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from reprlib import repr as _short

from dais_verif.base.errors import FrameError, InputError
from dais_verif.base.files import read_toml
from dais_verif.base.toml import parse_toml
from dais_verif.base.verdict import Verdict
from dais_verif.golden.unroll import Frame, stall_of
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.step import Element
from dais_verif.spec.machine.streams import MachineStream, StreamPins, stream_of

__all__ = ["held_stream", "read_stream"]

_MOST_BYTES = 1 << 20
_NEEDED = ("valid_in", "valid_out", "enable")


def read_stream(path: Path, machine: Machine) -> MachineStream:
    """Return the stream of ``machine`` in the TOML file ``path``. Raises ``InputError``, which names file and key."""
    name = f"stream {str(path)!r}"
    try:
        tree = parse_toml(read_toml(path, _MOST_BYTES, "the stream"))
    except ValueError as error:
        raise FrameError(f"{name} is not valid TOML: {error}") from None
    for key, value in tree.items():
        if key not in StreamPins._fields:
            raise FrameError(f"{name}: {key!r} is not a key; known keys are {', '.join(StreamPins._fields)}")
        if not isinstance(value, str):
            raise FrameError(f"{name}: {key} is {_short(value)}, must be the name of a signal")
    for key in _NEEDED:
        if key not in tree:
            raise FrameError(f"{name}: {key} is missing, the signal of the machine that {_WHAT[key]}")
    try:
        return held_stream(machine, StreamPins(**tree))
    except InputError as error:
        raise FrameError(f"{name}: {error}") from None


_WHAT = {
    "valid_in": "says that its inputs carry data",
    "valid_out": "says that its outputs carry data",
    "enable": "holds all of its registers while it is 0",
}


def held_stream(machine: Machine, pins: StreamPins) -> MachineStream:
    """Return the stream with ``pins``. Raises ``InputError`` for unusable pins, or if a stall may change registers."""
    stream = stream_of(machine, pins)
    held = {Element(pins.enable, 0): Fraction(0)}
    if pins.reset is not None:
        held[Element(pins.reset, 0)] = Fraction(0)
    stall = stall_of(machine, Frame(1, (), (), {}), held)
    if not stall.registers:
        return stream
    from dais_verif.verbs.diff import DiffRequest, diff  # imported here: most machines need no proof

    asked = DiffRequest(a=stall.after, b=stall.before, prove=True, unchecked=True)
    if diff(asked).verdict is not Verdict.PASS:
        some = ", ".join(f"{port.signal}[{port.place}]" for port in stall.registers[:4])
        some += ", ..." * (len(stall.registers) > 4)
        raise FrameError(
            f"{pins.enable} is not shown to hold {some} while it is 0, so a sink that waits might lose beats"
        )
    return stream
