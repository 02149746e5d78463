"""The signals that a waveform viewer is to show, independent of the viewer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Group", "Signal", "Trace", "View"]


class Signal(NamedTuple):
    """A signal of the top module as declared in the waves; a scalar has no ``range`` (left and right bound)."""

    scope: str
    name: str
    width: int
    range: tuple[int, int] | None = None

    @property
    def path(self) -> str:
        """The name of the signal with its scope, without its range."""
        return f"{self.scope}.{self.name}"


class Trace(NamedTuple):
    """One line of the display: ``signal``, or its ``width`` bits from bit ``lsb`` on, bit 0 the least significant.

    The bits are an integer, ``signed`` or not, in units of ``2**-f``. ``real`` is the value at the failing vector, as
    text, or None if a bit is X or Z.
    """

    signal: Signal
    label: str
    lsb: int
    width: int
    signed: bool
    f: int
    real: str | None
    guilty: bool = False

    @property
    def whole(self) -> bool:
        """True if the trace covers the whole signal."""
        return self.width == self.signal.width


class Group(NamedTuple):
    """Lines below a one-word title, after ``notes`` for the reader."""

    title: str
    notes: list[str]
    traces: list[Trace]


class View(NamedTuple):
    """The content of the display for the file ``waves`` in the same folder.

    Times are in the units of the waves: the failing vector lasts from ``start`` to ``end``.
    """

    waves: str
    heading: list[str]
    groups: list[Group]
    start: int
    end: int

    @property
    def middle(self) -> int:
        """The time of the marker: viewers show the values of the failing vector next to the names."""
        return (self.start + self.end) // 2
