"""Guess what registers hold, test the guesses over one edge, and replace wrong guesses until no test fails.

If all bits hold their guessed values before an edge, they must hold them after the edge, too. If a bit does not, its
guess is replaced by its next candidate, or dropped if no candidate is left, and all bits are tested again (van Eijk's
fixpoint). The result is still a guess that must be proved.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.clocked.machines.both_sides import RtlCycle, initial_bits, port_values
from dais_verif.prover.clocked.machines.correspondence import Meaning, Run, runs_of
from dais_verif.prover.clocked.machines.registers import Open, Place
from dais_verif.prover.clocked.machines.sequences import Found, Watch, after_edge, run_side_by_side
from dais_verif.prover.netlist import Signal
from dais_verif.prover.random_simulation import random_vectors, trace
from dais_verif.prover.terms import extract
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.step import Step
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.ranges import Interval

__all__ = ["Candidates", "Guesses", "at_power_up", "candidates_of"]


#: The number of states of one test, and of consecutive tests without a failure after which the guesses are final.
_ROWS, _TRIES = 256, 3
#: The largest number of tests.
_ROUNDS = 400

Bit = tuple[Signal, int]
Column = NDArray[Any]


def at_power_up(opened: Open, bit: Bit) -> int | None:
    """Return the value of a register bit at power-up; None if it is not initialised."""
    term = extract(opened.initial[bit[0]], bit[1], 1)
    return term.value if term.op == "const" else None


class Guesses:
    """Candidates for each bit, the likeliest first; candidates with a different power-up value are left out."""

    def __init__(
        self,
        machine: Machine,
        step: Step,
        opened: Open,
        rtl: RtlCycle,
        bounds: Mapping[int, Interval],
        candidates: Mapping[Bit, Sequence[Meaning]],
        *,
        check: bool,
        seed: int,
    ) -> None:
        self._machine, self._step, self._opened, self._rtl = machine, step, opened, rtl
        self._bounds, self._check, self._seed = bounds, check, seed
        self._initial = initial_bits(machine, step)
        self._left = {bit: [m for m in all_ if self._fits(bit, m)] for bit, all_ in candidates.items()}
        self._first = {bit: at_power_up(opened, bit) for bit in candidates}

    def _fits(self, bit: Bit, meaning: Meaning) -> bool:
        whole = 0 if meaning.element is None else self._initial[meaning.element]
        return whole is None or at_power_up(self._opened, bit) == (whole >> meaning.at & 1) ^ meaning.inverted

    def bits(self) -> dict[Bit, Meaning]:
        """Return the present guess for each bit that has one.

        Two register bits may correspond to the same uninitialised bit of the machine only if their power-up values are
        known and equal; otherwise they may differ at first.
        """
        found: dict[Bit, Meaning] = {}
        taken: dict[Meaning, int | None] = {}
        for bit, left in self._left.items():
            for meaning in left:
                if meaning.element is not None and self._initial[meaning.element] is None:
                    one = meaning._replace(inverted=False)
                    first = self._first[bit]
                    begins = None if first is None else first ^ meaning.inverted
                    if one in taken and (begins is None or taken[one] != begins):
                        continue
                    taken[one] = begins
                found[bit] = meaning
                break
        return found

    def replace(self, failed: Iterable[Bit], bits: Mapping[Bit, Meaning]) -> bool:
        """Drop the guesses in ``bits`` for the bits that ``failed``; return whether any guess was dropped.

        Bits with several candidates are dropped first: their failure may cause others to fail whose guesses are right.
        """
        wrong = [bit for bit in failed if bit in bits and bits[bit] in self._left[bit]]
        for bit in [bit for bit in wrong if len(self._left[bit]) > 1] or wrong:
            self._left[bit].remove(bits[bit])
        return bool(wrong)

    def settle(self) -> dict[Bit, Meaning]:
        """Replace guesses that fail in random states until none fails; return the guesses."""
        rng, quiet = random.Random(self._seed), 0
        bits = self.bits()
        for _ in range(_ROUNDS):
            if self.replace(self.failing(bits, self._states(rng)), bits):
                bits, quiet = self.bits(), 0
            else:
                quiet += 1
            if quiet == _TRIES:
                break
        return bits

    def _states(self, rng: random.Random) -> list[Column]:
        """Return random inputs and states, with states within their proved bounds."""
        elements, n_in = ports_of(self._step.program).inputs, len(self._step.inputs)
        columns = random_vectors(elements, _ROWS, rng.getrandbits(32))
        for number, interval in self._bounds.items():
            mask = (1 << elements[n_in + number].width) - 1
            drawn = [rng.randint(interval.lo, interval.hi) & mask for _ in range(_ROWS)]
            columns[n_in + number] = np.array(drawn, dtype=object)
        return columns

    def on(self, vector: Sequence[int]) -> list[Column]:
        """Return columns with ``vector``, the inputs and state of one cycle, in every row."""
        return [np.full(_ROWS, value, dtype=object) for value in vector]

    def failing(self, bits: Mapping[Bit, Meaning], columns: list[Column]) -> list[Bit]:
        """Return those of ``bits`` whose guess is wrong after an edge from any of the states ``columns``."""
        step, opened = self._step, self._opened
        elements, n_in = ports_of(step.program).inputs, len(step.inputs)
        found = trace(step.program, elements, columns, _ROWS)
        valid = ~found.broken if self._check else np.ones(_ROWS, dtype=bool)
        next_ = [found.values[index].astype(object) for index, _, _ in step.program.outputs[len(step.outputs) :]]
        runs = runs_of(bits)
        held = self._held(runs, columns[n_in:])
        inputs = port_values(self._machine, dict(zip(step.inputs, columns, strict=False)), _joined)
        _, after = after_edge(self._rtl, opened, inputs, held, _ROWS)
        whole: dict[Signal, Column] = {}
        for place, column in after.items():
            whole[place.signal] = whole.get(place.signal, 0) | (column << place.low)
        failed: list[Bit] = []
        for run in runs:
            wrong = (whole[run.place.signal] >> run.place.low ^ _meant(run, next_)) & ((1 << run.place.width) - 1)
            mask = reduce(int.__or__, map(int, wrong[valid]), 0)
            failed += [bit for n, (bit, _) in enumerate(run.bits()) if mask >> n & 1]
        return failed

    def _held(self, runs: Sequence[Run], state: Sequence[Column]) -> dict[Signal, Column]:
        """Return the values of registers if ``runs`` are right; all other bits are random."""
        rng = random.Random(self._seed)
        found: dict[Signal, Column] = {}
        known: dict[Signal, int] = {}
        for run in runs:
            place = run.place
            part = (_meant(run, state) & ((1 << place.width) - 1)) << place.low
            found[place.signal] = found.get(place.signal, 0) | part
            known[place.signal] = known.get(place.signal, 0) | ((1 << place.width) - 1) << place.low
        for signal in self._opened.now:
            free = ~known.get(signal, 0) & ((1 << signal.width) - 1)
            drawn = np.array([rng.getrandbits(signal.width) & free for _ in range(_ROWS)], dtype=object)
            found[signal] = found.get(signal, 0) | drawn
        return found


def _meant(run: Run, state: Sequence[Column]) -> Column:
    """Return the value that the place of ``run`` should hold; bits above the width of the place are arbitrary."""
    value = np.zeros(_ROWS, dtype=object) if run.element is None else state[run.element] >> run.at
    return ~value if run.inverted else value


def _joined(parts: list[tuple[Column, int]]) -> Column:
    return reduce(lambda a, b: a | b, (column << low for column, low in parts))


# Propose what register bits of the RTL hold: the machine bits with the same values on random sequences.
#
# Both sides run on many sequences from power-up. A bit of the RTL is a candidate if it equals a bit of the machine,
# or its complement, in every cycle of each sequence, or if it never changes. Like a correspondence by names, this is
# only a proposal.


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
