"""Choose the stage of a pipeline that computes each op, and the stages in which its value is kept.

Stages are numbered from 1, and each ends with registers. First, the smallest delay that every stage can meet is found,
by placing ops as early as that delay permits. Then, ops move between their earliest and their latest stage if that
saves register bits. Every step visits the ops a fixed number of times.
"""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.emitter.delays import DelayModel, delay_of, negation_delay
from dais_verif.emitter.parts import moving
from dais_verif.program import Program
from dais_verif.program.graph import cone
from dais_verif.program.opcodes import INPUT

__all__ = ["Flow", "Schedule", "fewest_stages", "flow_of", "least_depth", "schedule"]

#: The number of passes over all ops from each of the two initial schedules; a third pass saves nothing on real
#: programs.
_SWEEPS = 2


class Flow(NamedTuple):
    """The values that move through a pipeline, by number.

    The value of op N has the number N; if an output negates it, the negated value has a number above the numbers of all
    ops.

    ``order``: the numbers of values that can change, operands first. ``operands``: for each value, the operands that
    can change, each once. ``delays``: in thousandths of the model's unit; 0 for a value on which no output depends,
    since synthesis removes it. ``bits``: the number of bits of a register with the value. ``inputs``: the values that
    read the input port. ``outputs``: the values that leave the module. ``negations``: for op N, the number of its
    negation.
    """

    order: tuple[int, ...]
    operands: tuple[tuple[int, ...], ...]
    delays: tuple[int, ...]
    bits: tuple[int, ...]
    inputs: frozenset[int]
    outputs: frozenset[int]
    negations: dict[int, int]


class Schedule(NamedTuple):
    """The stage of each value.

    ``stage``: the stage that computes each value; None if it never changes. ``until``: the last stage that reads each
    value: the number of stages plus 1 if the value leaves the module, ``stage`` if it is not read. ``depths``: the
    longest path in each stage, in thousandths of the unit.
    """

    stages: int
    stage: tuple[int | None, ...]
    until: tuple[int, ...]
    depths: tuple[int, ...]

    def registers(self, value: int) -> int:
        """Return the number of registers that ``value`` passes through."""
        return self.until[value] - (self.stage[value] or self.until[value])


def flow_of(program: Program, model: DelayModel) -> Flow:
    """Return the values of ``program`` that move through its pipeline."""
    moves = moving(program)
    live = set(cone(program, {index for index, _, _ in program.outputs if index >= 0}))
    order = [op.index for op in program.ops if moves[op.index]]
    operands = [tuple({i for i in op.operands if moves[i]}) for op in program.ops]
    delays = [delay_of(program, op, model) if op.index in live else 0 for op in program.ops]
    bits = [op.type.width for op in program.ops]
    outputs: set[int] = set()
    negations: dict[int, int] = {}
    for index, _, negated in program.outputs:
        if index < 0 or not moves[index]:
            continue
        value = index
        if negated:
            value = negations.setdefault(index, len(bits))
            if value == len(bits):
                order.append(value)
                operands.append((index,))
                bits.append(bits[index] + 1)
                delays.append(negation_delay(bits[value], model))
        outputs.add(value)
    inputs = frozenset(op.index for op in program.ops if op.code == INPUT)
    return Flow(tuple(order), tuple(operands), tuple(delays), tuple(bits), inputs, frozenset(outputs), negations)


def fewest_stages(flow: Flow, bound: int) -> int:
    """Return the smallest number of stages with paths of at most ``bound``; no single delay may exceed ``bound``."""
    return max(_earliest(flow, bound), default=1)


def least_depth(flow: Flow, stages: int) -> int:
    """Return the smallest possible delay of the slowest of ``stages`` stages."""
    most = max((flow.delays[value] for value in flow.order), default=0)
    low = max(most, -(-_longest_path(flow) // stages))
    high = low + most  # a new stage is begun only if the next delay would exceed the bound
    while low < high:
        middle = (low + high) // 2
        if fewest_stages(flow, middle) <= stages:
            high = middle
        else:
            low = middle + 1
    return low


def schedule(flow: Flow, stages: int, bound: int) -> Schedule:
    """Return a schedule with few register bits; ``stages`` stages with paths of at most ``bound`` must be possible."""
    early = _State(flow, stages, bound, _earliest(flow, bound))
    late = _State(flow, stages, bound, _latest(flow, stages, bound))
    for _ in range(_SWEEPS):
        early.move_later()
        late.move_earlier()
    return min(early, late, key=_State.register_bits).result()


def _longest_path(flow: Flow) -> int:
    arrival = [0] * len(flow.bits)
    for value in flow.order:
        arrival[value] = flow.delays[value] + max((arrival[u] for u in flow.operands[value]), default=0)
    return max(arrival, default=0)


def _earliest(flow: Flow, bound: int) -> list[int]:
    """Return the first stage that can compute each value."""
    stage, arrival = [1] * len(flow.bits), [0] * len(flow.bits)
    delays, operands = flow.delays, flow.operands
    for value in flow.order:
        first, ready = 1, 0
        for u in operands[value]:
            if stage[u] > first:
                first, ready = stage[u], arrival[u]
            elif stage[u] == first and arrival[u] > ready:
                ready = arrival[u]
        ready += delays[value]
        if ready > bound:
            first, ready = first + 1, delays[value]
        stage[value], arrival[value] = first, ready
    return stage


def _latest(flow: Flow, stages: int, bound: int) -> list[int]:
    """Return the last stage that can compute each value; inputs are read in the first stage."""
    stage, behind = [stages] * len(flow.bits), [0] * len(flow.bits)  # behind: the longest path after each value
    for value in reversed(flow.order):
        if behind[value] + flow.delays[value] > bound:
            stage[value], behind[value] = stage[value] - 1, 0
        if value in flow.inputs:
            stage[value] = 1
        path = behind[value] + flow.delays[value]
        for u in flow.operands[value]:
            if stage[value] < stage[u]:
                stage[u], behind[u] = stage[value], path
            elif stage[value] == stage[u] and path > behind[u]:
                behind[u] = path
    return stage


class _State:
    """A schedule that is being improved: the stage of each value, and the number of its reads in each stage."""

    def __init__(self, flow: Flow, stages: int, bound: int, stage: list[int]) -> None:
        self.flow, self.stages, self.bound, self.stage = flow, stages, bound, stage
        self.reads: list[dict[int, int]] = [{} for _ in flow.bits]
        for value in flow.order:
            for u in flow.operands[value]:
                self.reads[u][stage[value]] = self.reads[u].get(stage[value], 0) + 1
        for value in flow.outputs:
            self.reads[value][stages + 1] = 1

    def until(self, value: int) -> int:
        """Return the last stage in which ``value`` is read."""
        return max(self.reads[value], default=self.stage[value])

    def register_bits(self) -> int:
        """Return the number of bits of all registers."""
        return sum(self.flow.bits[v] * (self.until(v) - self.stage[v]) for v in self.flow.order)

    def arrivals(self) -> list[int]:
        """Return the delay of the longest path that ends with each value, within its stage."""
        arrival = [0] * len(self.flow.bits)
        for value in self.flow.order:
            before = (arrival[u] for u in self.flow.operands[value] if self.stage[u] == self.stage[value])
            arrival[value] = self.flow.delays[value] + max(before, default=0)
        return arrival

    def move_later(self) -> None:
        """Move each value, readers first, to the later stage that saves the most bits."""
        flow = self.flow
        first = [self.stages + 1] * len(flow.bits)  # the stage of the earliest reader
        behind = [self.bound + 1] * len(flow.bits)  # the longest path after a value in that stage
        for value in reversed(flow.order):
            if value not in flow.inputs:
                fits = flow.delays[value] + behind[value] <= self.bound
                last = first[value] if fits else first[value] - 1
                if last > self.stage[value]:
                    self._settle(value, self.stage[value], last)
            stage = self.stage[value]
            path = flow.delays[value] + (behind[value] if stage == first[value] else 0)
            for u in flow.operands[value]:
                if stage < first[u]:
                    first[u], behind[u] = stage, path
                elif stage == first[u] and path > behind[u]:
                    behind[u] = path

    def move_earlier(self) -> None:
        """Move each value, operands first, to the earlier stage that saves the most bits."""
        flow = self.flow
        arrival = [0] * len(flow.bits)
        for value in flow.order:
            first, ready = 1, 0
            for u in flow.operands[value]:
                if self.stage[u] > first:
                    first, ready = self.stage[u], arrival[u]
                elif self.stage[u] == first and arrival[u] > ready:
                    ready = arrival[u]
            possible = first if ready + flow.delays[value] <= self.bound else first + 1
            if possible < self.stage[value]:
                self._settle(value, possible, self.stage[value])
            arrival[value] = flow.delays[value] + (ready if self.stage[value] == first else 0)

    def _settle(self, value: int, low: int, high: int) -> None:
        """Move ``value`` to the stage in ``low..high`` in which it costs the fewest register bits."""
        flow, old = self.flow, self.stage[value]
        own = flow.bits[value] if self.reads[value] else 0
        others = [(flow.bits[u], self._read_by_others(u, old)) for u in flow.operands[value]]

        def cost(stage: int) -> int:
            return sum(bits * (stage - last) for bits, last in others if stage > last) - own * stage

        # The cost is linear between the last reads of the operands: only these stages and the ends can be best.
        best = min((low, high, *(last for _, last in others if low < last < high)), key=cost)
        if cost(best) >= cost(old):
            return
        for u in flow.operands[value]:
            reads = self.reads[u]
            reads[best] = reads.get(best, 0) + 1
            if reads[old] == 1:
                del reads[old]
            else:
                reads[old] -= 1
        self.stage[value] = best

    def _read_by_others(self, value: int, stage: int) -> int:
        """Return the last stage that reads ``value``, without one of the reads in ``stage``."""
        reads = self.reads[value]
        if reads[stage] > 1:
            return max(reads)
        return max((s for s in reads if s != stage), default=self.stage[value])

    def result(self) -> Schedule:
        """Return the current schedule."""
        depths = [0] * self.stages
        arrival = self.arrivals()
        found: list[int | None] = [None] * len(self.flow.bits)
        for value in self.flow.order:
            stage = found[value] = self.stage[value]
            depths[stage - 1] = max(depths[stage - 1], arrival[value])
        until = [self.until(value) for value in range(len(self.stage))]
        return Schedule(self.stages, tuple(found), tuple(until), tuple(depths))
