"""The goal of an open bin: a condition on the value of one op, or on the exact result that it quantises."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dais_verif.coverage.bins import GROUPS, Bins
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import INPUT, MUXES, Code, high_int32

__all__ = ["Goal", "Wish", "goal_of", "wishes"]


class Goal(NamedTuple):
    """The goal of a bin. ``kind``, ``which``: as in a bin of op ``op``; ``negated``: it is a goal for minus the value.

    Kinds: ``bit``, ``sign``, ``zero``, ``mux arm``, ``wrap``, ``truncation``, ``table entry``.
    """

    kind: str
    op: int
    which: int
    negated: bool = False


class Wish(NamedTuple):
    """The goal that op ``op`` has the raw value ``raw``."""

    op: int
    raw: int


def goal_of(bins: Bins, number: int) -> Goal | None:
    """Return the goal of a bin; None for bins of inputs, whose values can be chosen directly."""
    program, kind, which = bins.program, GROUPS[bins.group[number]], int(bins.which[number])
    index, _, output = bins.where(number)
    if output is not None:
        source, _, negated = program.outputs[output]
        return Goal(kind, source, which, negated)
    if index is None:
        return None
    op = program.ops[index]
    if kind == "mux condition":
        width = program.ops[op.condition].type.width
        return Goal("bit", op.condition, width - 1 + width * (which == 0))
    if kind == "relu":
        place = 2 - which if op.spec.negate else which
        return Goal("zero", op.id0, 0) if place == 1 else Goal("sign", op.id0, place // 2)
    return None if op.code == INPUT and kind in ("wrap", "truncation") else Goal(kind, index, which)


def wishes(program: Program, goal: Goal, now: Sequence[int], rng: random.Random) -> list[Wish]:
    """Return random values that reach ``goal`` or come close to it. ``now``: the current raw values of all ops."""
    return _WISHES[goal.kind](program, program.ops[goal.op], goal, now, rng)


Now = Sequence[int]


def _pick(kind: FixedType, rng: random.Random, *values: int) -> int:
    fitting = [v for v in values if kind.raw_min <= v <= kind.raw_max]
    return rng.choice(fitting) if fitting else rng.randint(kind.raw_min, kind.raw_max)


def _bit(program: Program, op: Op, goal: Goal, now: Now, rng: random.Random) -> list[Wish]:
    kind = op.type
    width = kind.width + goal.negated
    bit, one = goal.which % width, goal.which // width
    value = -now[op.index] if goal.negated else now[op.index]
    if value >> bit & 1 == one:
        return []
    step = 1 << bit
    flipped = value + step if one else value - step
    # The nearest values above and below are alternatives that change less.
    above, below = (value | step - 1) + 1, (value >> bit << bit) - 1
    found = [flipped, value ^ step, above, below]
    return [Wish(op.index, _pick(kind, rng, *(-v if goal.negated else v for v in found)))]


def _sign(program: Program, op: Op, goal: Goal, now: Now, rng: random.Random) -> list[Wish]:
    positive = goal.which == 1
    if goal.negated:
        positive = not positive
    kind = op.type
    values = (1, kind.raw_max, now[op.index] + 1) if positive else (-1, kind.raw_min, now[op.index] - 1)
    return [Wish(op.index, _pick(kind, rng, *values))]


def _zero(program: Program, op: Op, goal: Goal, now: Now, rng: random.Random) -> list[Wish]:
    return [Wish(op.index, 0)]


def _arm(program: Program, op: Op, goal: Goal, now: Now, rng: random.Random) -> list[Wish]:
    kind = program.ops[op.condition].type
    found = []
    if kind.width:
        top = kind.width - 1
        found = _bit(program, program.ops[op.condition], Goal("bit", 0, top + kind.width * (goal.which == 0)), now, rng)
    if rng.random() < 0.5:  # also make the arms differ
        arm = rng.choice((op.id0, op.id1))
        found.append(Wish(arm, _pick(program.ops[arm].type, rng, now[arm] + 1, now[arm] - 1)))
    return found


class _Arm(NamedTuple):
    """The quantity that an op quantises: ± the value of ``operand``, in units of ``2**-f``."""

    operand: int
    negate: bool
    f: int


def _quantised(program: Program, op: Op, now: Now) -> _Arm:
    if op.code not in MUXES:
        shift = op.data if op.code == Code.SHIFT else 0
        return _Arm(op.id0, op.spec.negate, program.ops[op.id0].type.f - shift)
    kind = program.ops[op.condition].type
    if kind.width and now[op.condition] >> kind.width - 1 & 1:
        return _Arm(op.id0, False, program.ops[op.id0].type.f)
    return _Arm(op.id1, op.spec.negate, program.ops[op.id1].type.f - high_int32(op.data))


def _flipped(program: Program, op: Op, now: Now, rng: random.Random) -> list[Wish]:
    """Return, half of the time, the wish that a mux takes its other arm, which may reach other values."""
    if op.code not in MUXES or rng.random() < 0.5:
        return []
    width = program.ops[op.condition].type.width
    msb = now[op.condition] >> width - 1 & 1 if width else 0
    return _arm(program, op, Goal("mux arm", op.index, msb), now, rng)[:1]


def _wrap(program: Program, op: Op, goal: Goal, now: Now, rng: random.Random) -> list[Wish]:
    arm = _quantised(program, op, now)
    kind, drop = program.ops[arm.operand].type, arm.f - op.type.f
    edges = [op.type.raw_max + 1, op.type.raw_min - 1] if goal.which == 0 else [0, op.type.raw_max, op.type.raw_min]
    exact = [edge << drop if drop >= 0 else edge >> -drop for edge in edges]
    exact += [kind.raw_max, kind.raw_min] if goal.which == 0 else []
    value = _pick(kind, rng, *(-v if arm.negate else v for v in exact))
    return [Wish(arm.operand, value), *_flipped(program, op, now, rng)]


def _truncation(program: Program, op: Op, goal: Goal, now: Now, rng: random.Random) -> list[Wish]:
    arm = _quantised(program, op, now)
    kind, drop = program.ops[arm.operand].type, max(arm.f - op.type.f, 0)
    value = now[arm.operand]
    whole = value >> drop << drop
    if goal.which == 1:
        wanted = [whole, 0]
    else:
        bits = 1 << rng.randrange(max(min(drop, kind.width), 1))
        wanted = [whole | bits, whole ^ bits]
        if goal.which == 2:
            wanted = [bits, 1] if arm.negate else [-bits, -1, (whole | bits) + kind.raw_min]
    return [Wish(arm.operand, _pick(kind, rng, *wanted)), *_flipped(program, op, now, rng)]


def _entry(program: Program, op: Op, goal: Goal, now: Now, rng: random.Random) -> list[Wish]:
    return [Wish(op.id0, goal.which + program.ops[op.id0].type.raw_min + high_int32(op.data))]


_WISHES: dict[str, Callable[[Program, Op, Goal, Now, random.Random], list[Wish]]] = {
    "bit": _bit,
    "sign": _sign,
    "zero": _zero,
    "mux arm": _arm,
    "wrap": _wrap,
    "truncation": _truncation,
    "table entry": _entry,
}
