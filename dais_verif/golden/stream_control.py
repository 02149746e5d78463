"""Check the control of a stream in all states that it can reach, for every sequence of ``valid_in`` and ``en``.

Control is free of data, and small. ``step`` says what it must do: lines and windows move with each beat, and between
images also while no beat comes, until all outputs are given. So within an image they move with its beats alone, and
each output is given the same number of moves after the first beat of its image, whatever the pauses. If the block of
control does this in all states, then an output that is right for images without a pause is right for any pauses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.kernels.forms.control import StreamControl
from dais_verif.compile.kernels.forms.raster import Raster
from dais_verif.golden import Golden
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column

__all__ = ["MOST_STATES", "TooManyStates", "check_control", "outputs_of", "reachable"]

#: The largest number of states that are looked at.
MOST_STATES = 1 << 20

Ints = NDArray[np.int64]


class TooManyStates(Exception):
    """There are more states than ``MOST_STATES``."""


class ScanState(NamedTuple):
    """``taken``: the beats of an image that have come; ``place``: the delayed scan; ``pending``: outputs are left."""

    taken: int
    place: int
    pending: bool

    @classmethod
    def first(cls, raster: Raster) -> ScanState:
        """Return the state after a reset."""
        return cls(0, (raster.beats - raster.delay) % raster.beats, False)


class Step(NamedTuple):
    """What happens in a cycle with ``en``: ``moves``: lines and windows move; ``given``: an output is given."""

    moves: bool
    given: bool
    after: ScanState


def step(raster: Raster, shown: list[bool], now: ScanState, come: bool) -> Step:
    """Return what happens in a cycle in which a beat comes, or none. ``shown``: those places have an output."""
    beats, delay = raster.beats, raster.delay
    taken = (now.taken + come) % beats
    if not delay:
        return Step(come, come and shown[now.taken], now._replace(taken=taken))
    if not come and not (now.pending and now.taken == 0):
        return Step(False, False, now)
    given = now.pending and shown[now.place]
    if come and now.taken == delay - 1:
        return Step(True, given, ScanState(taken, 0, True))
    place = (now.place + 1) % beats
    return Step(True, given, ScanState(taken, place, now.pending and now.place != final_of(raster)))


def final_of(raster: Raster) -> int:
    """Return the place of the last output."""
    return raster.y.final * raster.x.size + raster.x.final


def reachable(raster: Raster) -> list[ScanState]:
    """Return all states that any sequence of beats leads to. Raises ``TooManyStates``."""
    shown = raster.shown.tolist()
    found = dict.fromkeys([ScanState.first(raster)])
    left = list(found)
    while left:
        now = left.pop()
        for come in (False, True):
            after = step(raster, shown, now, come).after
            if after not in found:
                found[after] = None
                left.append(after)
        if len(found) > MOST_STATES:
            raise TooManyStates
    return list(found)


def check_control(name: str, raster: Raster, control: StreamControl) -> int:
    """Return the number of states in which control does what it must. Raises ``AssertionError`` with the first other.

    Raises ``TooManyStates`` if there are too many to look at.
    """
    if raster.pointwise:
        return 1  # a beat goes through at once: there is no control
    shown, states = raster.shown.tolist(), reachable(raster)
    _check_images(name, raster, states)
    # The place in a line at which a pixel is stored is the same for all states: any.
    slots = raster.x.size if "slot" in control.counters else 1
    if len(states) * slots > MOST_STATES:
        raise TooManyStates
    rows = [(now, come, on) for now in states for come in (False, True) for on in (False, True)]
    steps = [step(raster, shown, now, come) for now, come, _ in rows]
    now, after = (_counters(raster, found) for found in ([one for one, _, _ in rows], [one.after for one in steps]))
    come, on = np.array([(int(come), int(on)) for _, come, on in rows]).T
    moves, given = (np.array([int(getattr(one, at)) for one in steps]) for at in ("moves", "given"))
    for slot in range(slots):
        if "slot" in control.counters:
            now["slot"], after["slot"] = np.full(len(rows), slot), np.full(len(rows), (slot + 1) % slots)
        program = outputs_of(control.program, [come, on, *(now[counter] for counter in control.counters)])
        found = dict(zip(control.names, program, strict=True))
        wrong = (found["take"] != come & on) | (found["go"] != moves & on) | (found["valid_out"] != given)
        for counter, facts in control.counters.items():
            wrong |= (found[counter] != after[counter]) & ((come if facts.taken else moves) & on == 1)
        for axis, letter in ((raster.x, "column"), (raster.y, "line")):
            places = now[f"out_{letter}" if raster.delay else letter]
            for offset in range(axis.first, axis.last + 1):
                pixel = places - axis.anchor + offset
                outside = (pixel < 0) | (pixel >= axis.size)
                wrong |= (found.get(f"{letter}{offset}", 0 * given) != outside) & (given == 1)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise AssertionError(f"control of {name} is wrong in {rows[at]}: a defect of dais-verif")
    return len(states) * slots


def _check_images(name: str, raster: Raster, states: list[ScanState]) -> None:
    """Raise ``AssertionError`` if outputs of an image can be left when those of the next one begin."""
    for now in states:
        if raster.delay and now.taken == raster.delay - 1 and now.pending and now.place != final_of(raster):
            raise AssertionError(f"{name} loses outputs of an image in {now}: a defect of dais-verif")


def _counters(raster: Raster, states: list[ScanState]) -> dict[str, Ints]:
    """Return the counters of control in each state."""
    taken, place, pending = np.array(states, dtype=np.int64).T
    line, column = np.divmod(taken, raster.x.size)
    found = {"column": column, "line": line}
    if raster.delay:
        line, column = np.divmod(place, raster.x.size)
        found |= {"out_column": column, "out_line": line, "pending": pending}
    return found


def outputs_of(program: Program, inputs: list[Ints]) -> Iterator[Ints]:
    """Yield the outputs of a block of control, all integers. ``inputs``: an array for each of its inputs."""
    batch = Batch(len(inputs[0]), tuple(Column(one.astype(np.int64), 0) for one in inputs))
    for raw, kind in zip(Golden(program).run_raw(batch, check=True), program.output_types, strict=True):
        yield np.asarray(raw, dtype=np.int64) >> kind.f if kind.f > 0 else np.asarray(raw, dtype=np.int64) << -kind.f
