"""Which outputs of a machine a board cannot show: they do not change in so few cycles, but do so in more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dais_verif.machine import Machine
from dais_verif.machine.ports import bits_of
from dais_verif.simulation.machines.expected import expect
from dais_verif.simulation.testbench.machine_job import SequenceRows
from dais_verif.stimulus.generate_sequences import generate_sequence, generate_sequences

__all__ = ["hidden_outputs"]

#: Short sequences that are tried, and cycles of long ones at most: as ``sim`` generates them by default, and more.
_SHORT, _LONG = 64, 4096
#: Ops times cycles that take seconds, whoever computes them.
_MOST_EXACT = 2_000_000


def hidden_outputs(machine: Machine, begun: Machine, rows: Sequence[SequenceRows], cycles: int) -> list[str]:
    """The elements of outputs of which no bit is both 0 and 1 in ``cycles`` cycles from a reset, but in longer runs.

    ``rows``: sequences of at most so many cycles that were run; others are tried, too, so that what is said is said
    of the ``cycles``, not of few sequences. ``begun``: ``machine`` after a reset of the board.
    """
    seen = _changing(machine, rows)
    if all(seen.values()):
        return []
    n_ops = sum(block.program.n_ops for block in machine.blocks.values())
    count = max(min(_SHORT, _MOST_EXACT // max(n_ops * cycles, 1)), 1)
    tried = [generate_sequence(begun, cycles, number, number) for number in range(count)]
    short = _changing(machine, expect(begun, tried, check=False))
    if all(seen[name] or short[name] for name in seen):
        return []
    most = max(min(_LONG, _MOST_EXACT // max(n_ops, 1)), 4 * cycles)
    long = _changing(machine, expect(machine, generate_sequences(machine, most), check=False))
    return [name for name in seen if long[name] and not (seen[name] or short[name])]


def _changing(machine: Machine, rows: Iterable[SequenceRows]) -> dict[str, bool]:
    """Of each element of the outputs that has bits, whether one of them was 0 and was 1 before some edges."""
    total = sum(bits_of(signal.types) for signal in machine.outputs)
    words = max(-(-total // 64), 1)
    ones, zeros = np.zeros(words, dtype="<u8"), np.zeros(words, dtype="<u8")
    for one in rows:
        expected = one.expected[::2]
        known = ~np.zeros_like(expected) if one.known is None else one.known[::2]
        ones |= np.bitwise_or.reduce(expected & known, axis=0)
        zeros |= np.bitwise_or.reduce(~expected & known, axis=0)
    both = int.from_bytes((ones & zeros).tobytes(), "little")
    found, offset = {}, 0
    for signal in machine.outputs:
        for place, kind in enumerate(signal.types):
            name = signal.name if len(signal.types) == 1 else f"{signal.name}[{place}]"
            if kind.width:
                found[name] = bool(both >> offset & (1 << kind.width) - 1)
            offset += kind.width
    return found
