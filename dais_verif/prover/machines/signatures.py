"""Propose what register bits of the RTL hold: the machine bits with the same values on random sequences.

Both sides run on many sequences from power-up. A bit of the RTL is a candidate if it equals a bit of the machine, or
its complement, in every cycle of each sequence, or if it never changes. Like a correspondence by names, this is only a
proposal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.machine import Machine
from dais_verif.machine.step import Step
from dais_verif.program.ports import ports_of
from dais_verif.prover.machines.both_sides import RtlCycle, initial_bits
from dais_verif.prover.machines.correspondence import Meaning
from dais_verif.prover.machines.registers import Open, Place
from dais_verif.prover.machines.sequences import Found, Watch, run_side_by_side
from dais_verif.prover.netlist import Signal

__all__ = ["Candidates", "candidates_of"]

#: The meanings that each register bit may have, the likeliest first.
Candidates = dict[tuple[Signal, int], list[Meaning]]

_SEQUENCES, _CYCLES, _SECONDS = 64, 160, 4.0
#: The largest number of candidates for one bit.
_MOST = 6
#: The largest number of uninitialised elements that are matched; they are matched separately from the others.
_OPEN = 512

Bits = NDArray[np.bool_]


class _Recorder(Watch):
    def __init__(self) -> None:
        self.valid: list[NDArray[np.bool_]] = []
        self.state: list[list[NDArray[Any]]] = []
        self.held: list[dict[Place, NDArray[Any]]] = []

    def cycle(self, valid: NDArray[Any], state: Sequence[NDArray[Any]], held: Mapping[Place, NDArray[Any]]) -> None:
        self.valid.append(valid.copy())
        self.state.append(list(state))
        self.held.append(dict(held))


def candidates_of(
    machine: Machine, step: Step, opened: Open, rtl: RtlCycle, said: Mapping[tuple[Signal, int], Meaning], seed: int
) -> tuple[Candidates, Found | None]:
    """Return what each bit of ``opened`` may hold, the likeliest first, and a sequence on which outputs differ, if any.

    ``said``: the meanings that names suggest; these come first if they hold on all sequences, else they are dropped.
    """
    initial = initial_bits(machine, step)
    widths = [element.width for element in ports_of(step.program).inputs[len(step.inputs) :]]
    loose = {number for number, bits in enumerate(initial) if bits is None and widths[number]}
    runs: list[_Recorder] = []
    found: Found | None = None
    for unknown in (0, -1) if loose else (0,):
        runs.append(_Recorder())
        differs = run_side_by_side(
            machine,
            step,
            opened,
            rtl,
            sequences=_SEQUENCES,
            cycles=_CYCLES,
            seconds=_SECONDS,
            seed=seed,
            watch=runs[-1],
            stop=False,
            unknown=unknown,
        )
        found = found or differs
    cycles = min(len(run.valid) for run in runs)
    valid = np.concatenate([a & b for a, b in zip(runs[0].valid[:cycles], runs[-1].valid[:cycles], strict=True)])
    wanted = {
        number: [_unpacked([state[number] for state in run.state[:cycles]], width) & valid for run in runs]
        for number, width in enumerate(widths)
        if width
    }
    held = {
        (place.signal, place.low + n): row & valid
        for place in opened.clocked
        for n, row in enumerate(_unpacked([held[place] for held in runs[0].held[:cycles]], place.width))
    }
    return _matched(wanted, held, valid, loose, said), found


def _unpacked(columns: Sequence[NDArray[Any]], width: int) -> Bits:
    """Return the bits of the numbers in ``columns``: bool, one row per bit."""
    size = -(-width // 8)
    data = b"".join(int(value).to_bytes(size, "little") for column in columns for value in column)
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, size)
    return np.unpackbits(rows, axis=1, bitorder="little")[:, :width].T.astype(np.bool_)


def _key(row: Bits, valid: Bits) -> tuple[bytes, bool]:
    """Return a key shared by rows that are equal or complements where ``valid``, and whether ``row`` is inverted."""
    at = int(np.argmax(valid))
    inverted = bool(row[at])
    return np.packbits((row ^ inverted) & valid).tobytes(), inverted


def _matched(
    wanted: Mapping[int, list[Bits]],
    held: Mapping[tuple[Signal, int], Bits],
    valid: Bits,
    loose: set[int],
    said: Mapping[tuple[Signal, int], Meaning],
) -> Candidates:
    known: dict[bytes, list[Meaning]] = {}
    constant, _ = _key(np.zeros_like(valid), valid)
    for number, (rows, *_) in wanted.items():
        if number not in loose:
            for at, row in enumerate(rows):
                key, inverted = _key(row, valid)
                known.setdefault(key, []).append(Meaning(number, at, inverted))
    found: Candidates = {}
    last: Meaning | None = None
    for bit, row in held.items():
        key, inverted = _key(row, valid)
        same = [m._replace(inverted=m.inverted != inverted) for m in known.get(key, ())]
        first = [m for m in (said.get(bit), last and last.following) if m is not None and m in same]
        same.sort(key=lambda m: m.inverted)
        nothing = [Meaning(None, 0, inverted)] if key == constant else []
        found[bit] = list(dict.fromkeys([*first, *nothing, *same]))[:_MOST]
        last = found[bit][0] if found[bit] else None
    _match_loose({n: wanted[n] for n in sorted(loose)[:_OPEN]}, held, valid, said, found)
    return found


def _match_loose(
    wanted: Mapping[int, list[Bits]],
    held: Mapping[tuple[Signal, int], Bits],
    valid: Bits,
    said: Mapping[tuple[Signal, int], Meaning],
    found: Candidates,
) -> None:
    """Match bits of uninitialised elements, in cycles in which they do not depend on their initial value."""
    groups: dict[bytes, list[tuple[int, int]]] = {}
    masks: dict[bytes, Bits] = {}
    for number, (zeros, ones) in wanted.items():
        for at, (a, b) in enumerate(zip(zeros, ones, strict=True)):
            mask = valid & (a == b)
            if a[mask].any() and not a[mask].all():
                key = mask.tobytes()
                masks[key] = mask
                groups.setdefault(key, []).append((number, at))
    free = {bit: row for bit, row in held.items() if not found[bit] or found[bit][0].element is None}
    for group, members in groups.items():
        mask = masks[group]
        known: dict[bytes, list[Meaning]] = {}
        for number, at in members:
            key, inverted = _key(wanted[number][0][at], mask)
            known.setdefault(key, []).append(Meaning(number, at, inverted))
        for bit, row in free.items():
            key, inverted = _key(row, mask)
            same = [m._replace(inverted=m.inverted != inverted) for m in known.get(key, ())]
            first = [said[bit]] if said.get(bit) in same else []
            found[bit] = list(dict.fromkeys([*first, *found[bit], *same]))[:_MOST]
