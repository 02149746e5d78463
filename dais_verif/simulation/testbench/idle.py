"""Input ports that carry nothing: a design must ignore them, so that a bench drives them with 0 and with 1.

Each takes a separate bit after those of a row. Its value looks random, by the number of the row, and in ``phase`` 1 it
is the complement of that in phase 0: a design that gets its rows in both has seen both values with each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dais_verif.dut.interface import DesignInterface, Wire
from dais_verif.simulation.testbench.packing import WORD, Words, row_words

__all__ = ["driven", "filled", "filled_row", "idle_inputs", "idle_text", "phases", "worst"]

#: An odd number without a pattern in its bits: the top bit of its multiples looks random.
_STRIDE = np.uint64(0x9E3779B97F4A7C15)


def idle_inputs(interface: DesignInterface) -> tuple[Wire, ...]:
    """Return the input ports that carry nothing."""
    return tuple(wire for wire in interface.inputs if not wire.width)


def idle_text(interface: DesignInterface) -> str:
    """Say of a design that failed which of its ports carry nothing: what is wrong may follow from them alone."""
    names = " and ".join(wire.name for wire in idle_inputs(interface)[:4])
    return f" ({names}, without bits here, was given 0 and 1 with each vector and must not matter)" if names else ""


def phases(interface: DesignInterface) -> range:
    """Return the phases in which a design must be given its rows: two if it has ports that carry nothing."""
    return range(2 if idle_inputs(interface) else 1)


def driven(interface: DesignInterface) -> DesignInterface:
    """Return ``interface`` with a bit for each input port that carries nothing: its rows are those of ``filled``."""
    inputs, at = [], interface.input_bits
    for wire in interface.inputs:
        inputs.append(wire if wire.width else wire._replace(offset=at, width=1))
        at += not wire.width
    return replace(interface, inputs=tuple(inputs))


def filled(words: Words, interface: DesignInterface, start: int, phase: int) -> Words:
    """Return packed rows of ``interface``, of which the first has number ``start``, as rows of ``driven``."""
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
    """Return row ``number`` as text, most significant bit first, as a row of ``driven``."""
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
    """Return of each row the first answer that is not the ``expected`` one, or any if all are.

    ``answers``, one a phase: the rows that were given, those that were found, and the bits of those with X or Z.
    """
    given, found, unknown = answers[0]
    for more_given, more_found, more_unknown in answers[1:]:
        wrong = (found != expected).any(axis=1)
        wrong[list(unknown)] = True
        column = wrong[:, np.newaxis]
        given, found = np.where(column, given, more_given), np.where(column, found, more_found)
        unknown = unknown | {row: bits for row, bits in more_unknown.items() if not wrong[row]}
    return given, found, unknown
