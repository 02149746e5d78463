"""Decide which registers become memories, arrays of words that tools can map to RAM; all others are vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dais_verif.machine import Machine, Role, Signal, View
from dais_verif.machine.ports import bits_of

__all__ = ["Memory", "Window", "memory_of", "window_of"]


class Memory(NamedTuple):
    """A memory of ``words`` words; each word has ``size`` elements, with ``width`` bits in total."""

    words: int
    size: int
    width: int


def memory_of(machine: Machine, signal: Signal) -> Memory | None:
    """Return ``signal`` as a memory; None if it is a vector.

    A memory is an internal register without a reset, because RAM has none. Only whole words of the register are read
    and written, at least one of them by an index, and all its words have the same types.
    """
    if not signal.register or signal.role is not Role.INTERNAL or signal.reset is not None:
        return None
    copies = [view for view in _copied(machine) if view.signal == signal.name]
    if not any(view.index for view in copies) or any(view.signal == signal.name for view in _conditions(machine)):
        return None
    size, count = copies[0].size, len(signal.types)
    word = signal.types[:size]
    aligned = all(
        view.size == size and view.start % size == 0 and (view.index is None or view.index.stride % size == 0)
        for view in copies
    )
    if not aligned or count % size or count == size or word * (count // size) != signal.types or not bits_of(word):
        return None
    return Memory(count // size, size, bits_of(word))


def _copied(machine: Machine) -> Iterator[View]:
    """Yield all views whose elements are copied: sources, targets and alternatives of connections."""
    for connection in machine.connections:
        yield connection.source
        yield connection.target
        if connection.alternative is not None:
            yield connection.alternative


def _conditions(machine: Machine) -> Iterator[View]:
    """Yield all views that are used as an enable, an index or a reset."""
    for signal in machine.signals.values():
        if signal.reset is not None:
            yield signal.reset
    for connection in machine.connections:
        if connection.enable is not None:
            yield connection.enable
    for view in _copied(machine):
        if view.index is not None:
            yield view.index.value


class Window(NamedTuple):
    """The possible positions of a view with an index.

    ``last``: the largest index with which all of the view is in its signal. ``reach``: the largest index with which any
    part of the view is in its signal. ``index_max``: the largest value of the index.
    """

    last: int
    reach: int
    index_max: int

    @property
    def leaves(self) -> bool:
        """True if the index can be so large that the view is not completely within its signal."""
        return self.index_max > self.last

    @property
    def torn(self) -> bool:
        """True if the index can have a value with which only a part of the view is within its signal."""
        return self.index_max > self.last < self.reach


def window_of(machine: Machine, view: View) -> Window:
    """Return the possible positions of ``view``, which has an index."""
    assert view.index is not None
    value, count = view.index.value, len(machine.signals[view.signal].types)
    index_max = machine.signals[value.signal].types[value.start].raw_max
    stride = view.index.stride
    last, reach = (count - view.stop) // stride, (count - 1 - view.start) // stride
    return Window(min(last, index_max), min(reach, index_max), index_max)
