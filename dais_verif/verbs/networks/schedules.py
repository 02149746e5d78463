"""Check that a stream gives the same results for any pauses as for images without a pause: all states of its control.

The control of each stage is looked at alone, for any sequence of beats (``golden.stream_control``), as are the
counters of gathered tensors and of beats that wait. Beats that wait are never more than there is room for, by the
bounds of ``flow``, which are compared with the states that stages reach. So each stage reads the beats that
it reads without pauses, in the same order, and gives the same ones.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from dais_verif.compile.kernels.forms.control import control_of
from dais_verif.compile.kernels.forms.raster import Raster, raster_of
from dais_verif.compile.networks.hardware.flow import of_images, through
from dais_verif.compile.networks.hardware.stages import LeftOut, Stage
from dais_verif.compile.networks.hardware.stream import StreamNetwork, StreamStage
from dais_verif.golden.stream_control import MOST_STATES, Ints, TooManyStates, check_control, outputs_of, reachable
from dais_verif.spec.program import Program

__all__ = ["check_schedules"]


def check_schedules(made: StreamNetwork) -> int:
    """Return the number of states of control that were looked at, of all stages.

    Raises ``AssertionError`` if one of them is wrong, ``TooManyStates`` if there are too many.
    """
    found, programs = 0, {name: block.program for name, block in made.machine.blocks.items()}
    for stage, facts in zip(made.chain.stages(0), made.stages, strict=True):
        raster = raster_of(stage.instance)
        found += check_control(stage.name, raster, control_of(raster, shifting=True))
        if not raster.pointwise:
            _check_flow(stage.name, raster)
        for at, name in enumerate(stage.inputs):
            if f"{stage.name}_in{at}_gather" in programs:
                words = made.chain.storage[name].words
                found += _check_gather(stage.name, programs[f"{stage.name}_in{at}_gather"], words)
        if facts.waiting:
            found += _check_waiting(facts, programs[f"{stage.name}_wait_control"])
        if stage.left_out is not None:
            found += _check_places(stage, stage.left_out, programs[f"{stage.name}_places"])
    return found


def _check_flow(name: str, raster: Raster) -> None:
    """Compare the numbers of outputs after two images and a part of the third with their bounds."""
    shown = raster.shown
    before, outputs, images = np.concatenate([[0], np.cumsum(shown)]), int(shown.sum()), 2
    bounds = through(raster, of_images((images + 1) * raster.beats))
    for taken, place, pending in reachable(raster):
        own = not raster.delay or taken >= raster.delay  # the outputs that are left are those of the third image
        left = before[taken if not raster.delay else place] if pending or not raster.delay else outputs
        given = (images if own else images - 1) * outputs + left
        come = images * raster.beats + taken
        if not bounds.least[come] <= given <= bounds.most[come]:
            raise AssertionError(f"{name} gives {given} outputs after {come} beats: a defect of dais-verif")


def _check_gather(name: str, program: Program, words: int) -> int:
    come, on, now = _all(2, 2, words)
    number, write, whole = outputs_of(program, [come, on, now])
    _require(name, (write == come & on) & (whole == (come & (now == words - 1))) & (number == (now + 1) % words))
    return words


def _check_waiting(facts: StreamStage, program: Program) -> int:
    """Check the counters of beats that wait for each other, for all numbers of them for which there is room."""
    depths = facts.waiting
    states = prod(depth + 1 for depth in depths)
    if states << len(depths) > MOST_STATES:
        raise TooManyStates
    on, *rest = _all(2, *(size for depth in depths for size in (2, depth + 1)))
    come, now = rest[::2], rest[1::2]
    *found, ready = outputs_of(program, [on, *rest])
    right = ready == np.logical_and.reduce([one > 0 for one in now])
    fits = np.logical_and.reduce([n + c - ready <= depth for n, c, depth in zip(now, come, depths, strict=True)])
    for at, (number, here) in enumerate(zip(now, come, strict=True)):
        following, back, write = found[3 * at : 3 * at + 3]
        right &= (following == number + here - ready) & (write == here & on) & (back == np.maximum(number - 1, 0))
    _require(facts.name, right | ~fits)
    return states


def _check_places(stage: Stage, left_out: LeftOut, program: Program) -> int:
    lines, columns = stage.storage.places
    come, on, line, column = _all(2, 2, lines, columns)
    next_line, next_column, write, skipped = outputs_of(program, [come, on, line, column])
    end = column == columns - 1
    right = (next_column == (column + 1) % columns) & (next_line == np.where(end, (line + 1) % lines, line))
    right &= (write == come & on) & (skipped == np.isin((line, column)[left_out.axis], left_out.places))
    _require(stage.name, right)
    return lines * columns


def _all(*sizes: int) -> list[Ints]:
    """Return all combinations of numbers below ``sizes``, one array for each of them."""
    if prod(sizes) > 4 * MOST_STATES:
        raise TooManyStates
    return [np.asarray(one, dtype=np.int64) for one in np.array(list(product(*map(range, sizes)))).T]


def _require(name: str, right: Ints) -> None:
    if not right.all():
        raise AssertionError(f"counters of {name} are wrong: a defect of dais-verif")
