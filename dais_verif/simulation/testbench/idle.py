"""Input ports that carry nothing: a design must ignore them, so a bench drives them with 0 and with 1.

Each such port gets one more bit after the bits of a row. Its value is pseudo-random by row number, and ``phase`` 1 is
the complement of phase 0: a design that runs in both phases gets both values with every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dais_verif.hardware.ports.interface import DesignInterface, Wire
from dais_verif.simulation.testbench.packed_rows import WORD, Words, row_words

__all__ = ["driven", "filled", "filled_row", "idle_inputs", "idle_text", "phases", "worst"]

#: An odd number without a pattern in its bits: the top bit of its multiples is pseudo-random.
_STRIDE = np.uint64(0x9E3779B97F4A7C15)


def idle_inputs(interface: DesignInterface) -> tuple[Wire, ...]:
    """Return the input ports that carry nothing."""
    return tuple(wire for wire in interface.inputs if not wire.width)


def idle_text(interface: DesignInterface) -> str:
    """Name the ports of a failing design that carry nothing: they may cause the failure."""
    names = " and ".join(wire.name for wire in idle_inputs(interface)[:4])
    return (
        f" (with each vector, {names} was 0 and 1: it has no bits in the program and must have no effect)"
        if names
        else ""
    )


def phases(interface: DesignInterface) -> range:
    """Return the phases in which a design must run: two if it has ports that carry nothing."""
    return range(2 if idle_inputs(interface) else 1)


def driven(interface: DesignInterface) -> DesignInterface:
    """Return ``interface`` with one bit per input port that carries nothing, for the rows of ``filled``."""
    inputs, at = [], interface.input_bits
    for wire in interface.inputs:
        inputs.append(wire if wire.width else wire._replace(offset=at, width=1))
        at += not wire.width
    return replace(interface, inputs=tuple(inputs))


def filled(words: Words, interface: DesignInterface, start: int, phase: int) -> Words:
    """Convert packed rows of ``interface``, the first with number ``start``, to rows of ``driven``."""
    bits, count = interface.input_bits, len(idle_inputs(interface))
    if not count:
        return words
    wide = np.zeros((len(words), row_words(bits + count)), dtype="<u8")
    if bits:
        wide[:, : words.shape[1]] = words
    for number, values in enumerate(_values(start, len(words), count, phase)):
        word, shift = divmod(bits + number, WORD)
        wide[:, word] |= values << np.uint64(shift)
    return wide


def filled_row(row: str, interface: DesignInterface, number: int, phase: int) -> str:
    """Convert row ``number``, text with the most significant bit first, to a row of ``driven``."""
    values = _values(number, 1, len(idle_inputs(interface)), phase)
    more = "".join(str(int(value[0])) for value in reversed(values))
    return more + (row if interface.input_bits else "") or row


def _values(start: int, rows: int, count: int, phase: int) -> list[NDArray[np.uint64]]:
    numbers = np.arange(rows, dtype=np.uint64) + np.uint64(start)
    top = np.uint64(WORD - 1)
    return [((numbers * np.uint64(count) + np.uint64(k)) * _STRIDE >> top) ^ np.uint64(phase) for k in range(count)]


def worst(
    expected: Words, answers: Sequence[tuple[Words, Words, dict[int, str]]]
) -> tuple[Words, Words, dict[int, str]]:
    """Return for each row the first answer that differs from ``expected``, or any answer if none does.

    ``answers``: for each phase, the driven rows, the found rows, and the bits of rows with X or Z.
    """
    given, found, unknown = answers[0]
    for more_given, more_found, more_unknown in answers[1:]:
        wrong = (found != expected).any(axis=1)
        wrong[list(unknown)] = True
        column = wrong[:, np.newaxis]
        given, found = np.where(column, given, more_given), np.where(column, found, more_found)
        unknown = unknown | {row: bits for row, bits in more_unknown.items() if not wrong[row]}
    return given, found, unknown
