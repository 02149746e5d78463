"""Find the outputs of a machine that a board cannot show: they change in longer sequences, but not within a vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

import numpy as np

from dais_verif.machine import Machine
from dais_verif.machine.ports import bits_of
from dais_verif.simulation.machines.expected import expect
from dais_verif.simulation.testbench.machine_job import SequenceRows
from dais_verif.stimulus.generate_sequences import generate_sequence, generate_sequences

__all__ = ["hidden_outputs"]

#: The largest number of short sequences that are tried, and the largest number of cycles of long sequences.
_SHORT, _LONG = 256, 4096
#: The largest product of ops and cycles, which takes only seconds in any engine.
_MOST_EXACT = 2_000_000


class _Shown(IntEnum):
    """The values of an element before the observed edges: no known bits, constant bits, or a bit with both values."""

    UNKNOWN = 0
    STILL = 1
    CHANGING = 2


def hidden_outputs(machine: Machine, begun: Machine, rows: Sequence[SequenceRows], cycles: int) -> list[str]:
    """Return the output elements that change or are known in longer sequences, but not within ``cycles`` cycles.

    ``rows``: the sequences that were run, which have at most ``cycles`` cycles from a reset. More such sequences are
    tried, so that the result depends on the number of cycles, and not on the choice of sequences. ``begun``:
    ``machine`` with the initial values that it has after a reset of the board.
    """
    seen = _shown(machine, rows)
    if all(shown is _Shown.CHANGING for shown in seen.values()):
        return []
    n_ops = sum(block.program.n_ops for block in machine.blocks.values())
    most = max(min(_LONG, _MOST_EXACT // max(n_ops, 1)), 4 * cycles)
    long = _shown(machine, expect(machine, generate_sequences(machine, most), check=False))
    if all(seen[name] >= long[name] for name in seen):
        return []
    tried = [generate_sequence(begun, cycles, number, number) for number in range(min(_SHORT, -(-2 * most // cycles)))]
    short = _shown(machine, expect(begun, tried, check=False))
    return [name for name in seen if max(seen[name], short[name]) < long[name]]


def _shown(machine: Machine, rows: Iterable[SequenceRows]) -> dict[str, _Shown]:
    """Return the kind of observed values of each output element that has bits, by the name of the element."""
    total = sum(bits_of(signal.types) for signal in machine.outputs)
    words = max(-(-total // 64), 1)
    ones, zeros = np.zeros(words, dtype="<u8"), np.zeros(words, dtype="<u8")
    for one in rows:
        expected = one.expected[::2]
        known = ~np.zeros_like(expected) if one.known is None else one.known[::2]
        ones |= np.bitwise_or.reduce(expected & known, axis=0)
        zeros |= np.bitwise_or.reduce(~expected & known, axis=0)
    both, some = (int.from_bytes(found.tobytes(), "little") for found in (ones & zeros, ones | zeros))
    shown, offset = {}, 0
    for signal in machine.outputs:
        for place, kind in enumerate(signal.types):
            name = signal.name if len(signal.types) == 1 else f"{signal.name}[{place}]"
            bits = (1 << kind.width) - 1 << offset
            if kind.width:
                shown[name] = _Shown.CHANGING if both & bits else _Shown.STILL if some & bits else _Shown.UNKNOWN
            offset += kind.width
    return shown
