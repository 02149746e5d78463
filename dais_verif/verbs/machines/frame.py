"""Read the frame of a machine from a TOML file: the elements and cycles that are a program's inputs and outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from reprlib import repr as _short
from typing import Any

from dais_verif.base.errors import FrameError
from dais_verif.base.files import read_toml
from dais_verif.base.toml import parse_toml
from dais_verif.golden.unroll import Frame, Port
from dais_verif.spec.machine import Machine, Signal
from dais_verif.spec.machine.step import Element

__all__ = ["FrameFile", "read_frame"]

_MOST_BYTES = 1 << 24
_KEYS = ("cycles", "inputs", "outputs", "held", "stall", "reset", "before")
_PLACE_KEYS = ("signal", "cycle", "to", "first", "last")
#: The word in place of a value if the input may have any value in this cycle.
_ANY = "any"
#: The largest number of cycles of a frame, and of first frames that differ from all later ones.
_LONGEST = 1 << 16
_MOST_BEFORE = 256


@dataclass(frozen=True)
class FrameFile:
    """The content of a frame file: the frame, and the input values that stall or restart the machine.

    ``sha256``: the SHA-256 of the file's bytes.
    """

    frame: Frame
    stall: Mapping[Element, Fraction]
    reset: Mapping[Element, Fraction]
    sha256: str


def read_frame(path: Path, machine: Machine) -> FrameFile:
    """Return the frame of ``machine`` in the TOML file ``path``. Raises ``InputError``, which names file and key."""
    name = f"frame {str(path)!r}"
    try:
        text = read_toml(path, _MOST_BYTES, "the frame")
        tree = parse_toml(text)
    except ValueError as error:
        raise FrameError(f"{name} is not valid TOML: {error}") from None
    for key in tree:
        if key not in _KEYS:
            raise FrameError(f"{name}: {key!r} is not a key; known keys are {', '.join(_KEYS)}")
    cycles = tree.get("cycles")
    if not isinstance(cycles, int) or isinstance(cycles, bool) or not 1 <= cycles <= _LONGEST:
        raise FrameError(f"{name}: cycles is {_short(cycles)}, must be a number from 1 to {_LONGEST}")
    reader = _Reader(name, machine, cycles)
    inputs = {signal.name: signal for signal in machine.inputs}
    outputs = {signal.name: signal for signal in machine.outputs}
    frame = Frame(
        cycles,
        reader.ports("inputs", tree.get("inputs", []), inputs),
        reader.ports("outputs", tree.get("outputs", []), outputs),
        dict(reader.held("held", tree.get("held", {}), inputs)),
        reader.number(f"{name}: before", tree.get("before", 0), 0, _MOST_BEFORE),
    )
    stall, reset = (
        {e: values[0] or Fraction(0) for e, values in reader.held(k, tree.get(k, {}), inputs)}
        for k in ("stall", "reset")
    )
    if not frame.outputs:
        raise FrameError(f"{name}: outputs is empty: nothing would be compared")
    return FrameFile(frame, stall, reset, hashlib.sha256(text.encode()).hexdigest())


class _Reader:
    def __init__(self, name: str, machine: Machine, cycles: int) -> None:
        self.name, self.machine, self.cycles = name, machine, cycles

    def ports(self, key: str, entries: Any, signals: Mapping[str, Signal]) -> tuple[Port, ...]:
        """Return all elements that ``entries`` name, in their order."""
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise FrameError(f'{self.name}: {key} must be tables such as {{ signal = "x", cycle = 0 }}')
        found: list[Port] = []
        for n, entry in enumerate(entries):
            where = f"{self.name}: {key}[{n}]"
            for word in entry:
                if word not in _PLACE_KEYS:
                    raise FrameError(f"{where}: {word!r} is not a key; known keys are {', '.join(_PLACE_KEYS)}")
            signal = self.signal(where, entry.get("signal"), signals)
            last = len(signal.types) - 1
            most = self.cycles - 1 if key == "inputs" else _LONGEST
            cycle = self.number(f"{where}.cycle", entry.get("cycle"), 0, most)
            until = self.number(f"{where}.to", entry.get("to", cycle), cycle, most)
            begin = self.number(f"{where}.first", entry.get("first", 0), 0, last)
            end = self.number(f"{where}.last", entry.get("last", last), begin, last)
            cycles, places = range(cycle, until + 1), range(begin, end + 1)
            found += [Port(signal.name, place, at) for at in cycles for place in places]
        return tuple(found)

    def held(
        self, key: str, entries: Any, signals: Mapping[str, Signal]
    ) -> list[tuple[Element, tuple[Fraction | None, ...]]]:
        """Return for every element of the inputs in ``entries`` its fixed value in each cycle; None: any value."""
        if not isinstance(entries, dict):
            raise FrameError(f"{self.name}: {key} must be a table of inputs and their values")
        found = []
        for word, value in entries.items():
            where = f"{self.name}: {key}.{word}"
            signal = self.signal(where, word, signals)
            listed = isinstance(value, list) and key == "held"
            values = value if listed else [value] * self.cycles
            real = all(_is_number(v) or (listed and v == _ANY) for v in values)
            if not real or len(values) != self.cycles:
                raise FrameError(
                    f"{where} is {_short(value)}, must be a number"
                    + (f', or a list of {self.cycles}, one per cycle, or "{_ANY}"' if key == "held" else "")
                )
            numbers = tuple(None if v == _ANY else Fraction(v) for v in values)
            found += [(Element(signal.name, place), numbers) for place in range(len(signal.types))]
        return found

    def signal(self, where: str, name: Any, signals: Mapping[str, Signal]) -> Signal:
        if not isinstance(name, str) or name not in signals:
            raise FrameError(f"{where}: {_short(name)} must be one of {', '.join(signals) or 'none'}")
        return signals[name]

    def number(self, where: str, value: Any, least: int, most: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise FrameError(f"{where} is {_short(value)}, must be a number from {least} to {most}")
        return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0
