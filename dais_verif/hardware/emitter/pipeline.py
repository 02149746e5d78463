"""Emit a program as a pipelined Verilog-2005 module: one vector per clock edge, and registers after every stage.

Within a stage, the text is the same as in the combinational module: ``op_N`` is the value of op N in the stage that
computes it. ``op_N_sK`` is the same value in stage K, after one register per stage in between. All outputs come from
registers. A negated output is computed in a stage, as ``neg_N``. Constants are wires without registers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.base.errors import EmitterError
from dais_verif.base.text import counted
from dais_verif.hardware.emitter import module
from dais_verif.hardware.emitter.delays import DEFAULT, SCALE, DelayModel, delay_of, negation_delay
from dais_verif.hardware.emitter.expressions import Writer, storage_bits
from dais_verif.hardware.emitter.module import MOST_SIGNALS, by_cone, cut, moving, reads
from dais_verif.hardware.emitter.ops import Statement, signal, statements
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Ports, ports_of

__all__ = [
    "Flow",
    "MOST_STAGES",
    "Pipeline",
    "PipelineOptions",
    "Place",
    "Schedule",
    "emit_pipeline",
    "fewest_stages",
    "flow_of",
    "least_depth",
    "schedule",
]


MOST_STAGES = 1000


@dataclass(frozen=True)
class PipelineOptions:
    """The requested pipeline.

    ``stages``: the number of stages, from 1 to ``MOST_STAGES``. ``max_depth``: instead of ``stages``, the largest
    estimated delay of a stage, in the unit of ``delays``; the pipeline then gets the smallest possible number of
    stages. ``reset``, ``enable``, ``valid``: the module has these ports in addition to ``clk``.
    """

    stages: int | None = None
    max_depth: float | None = None
    delays: DelayModel = DEFAULT
    reset: bool = False
    enable: bool = False
    valid: bool = False


class Place(NamedTuple):
    """The place of an op. ``path``: its signal as seen from the module. ``stage``: from 1 on; None for a constant.

    ``path`` has the value for a vector ``stage - 1`` clock edges after the vector is applied to the input port.
    """

    path: str
    stage: int | None


class Pipeline(NamedTuple):
    """A pipeline as Verilog.

    ``text``: the module. ``latency``: clock edges from an input to its output, which is the number of stages.
    ``registers``: the number of registers, including valid bits. ``register_bits``: their bits, without the headroom
    bits, which never change. ``depths``: the estimated delay of each stage in ``unit``. ``places``: the place of each
    op.
    """

    text: str
    stages: int
    latency: int
    registers: int
    register_bits: int
    depths: tuple[float, ...]
    unit: str
    places: tuple[Place, ...]

    def path_of(self, index: int) -> str:
        """Return the signal of op ``index`` as seen from the module."""
        return self.places[index].path


def emit_pipeline(
    program: Program, top: str = "model", options: PipelineOptions = PipelineOptions(stages=1)
) -> Pipeline:
    """Return a pipelined module ``top`` for a valid ``program``. Raises ``InputError`` for impossible options."""
    flow = flow_of(program, options.delays)
    stages, bound = _asked(program, flow, options)
    plan = _Plan(program, flow, schedule(flow, stages, bound))
    moving = [value for value in flow.order if plan.schedule.registers(value)]
    return Pipeline(
        _text(plan, top, options),
        stages,
        stages,
        sum(map(plan.schedule.registers, moving)) + stages * options.valid,
        sum(plan.schedule.registers(value) * flow.bits[value] for value in moving) + stages * options.valid,
        tuple(depth / SCALE for depth in plan.schedule.depths),
        options.delays.unit,
        tuple(Place(plan.path(op.index, None), plan.schedule.stage[op.index]) for op in program.ops),
    )


def _asked(program: Program, flow: Flow, options: PipelineOptions) -> tuple[int, int]:
    """Return the number of stages, and the longest path that a stage may have, in thousandths of the unit."""
    if (options.stages is None) == (options.max_depth is None):
        raise EmitterError.of(
            "a pipeline has either a number of stages or a largest depth: give {stages} or {max_depth}"
        )
    if options.reset and not options.valid:
        raise EmitterError.of("{reset} clears the valid bits, and there are none: add {valid}, or leave out {reset}")
    if options.stages is not None:
        if not 1 <= options.stages <= MOST_STAGES:
            raise EmitterError.of(
                "{stages_given} stages, must be 1 to {most_stages}; without {stages} there is no clock",
                stages_given=options.stages,
                most_stages=MOST_STAGES,
            )
        return options.stages, least_depth(flow, options.stages)
    return _within(program, flow, options, options.max_depth)


def _within(program: Program, flow: Flow, options: PipelineOptions, depth: float | None) -> tuple[int, int]:
    assert depth is not None
    unit = options.delays.unit
    if not 0 <= depth < 1e9:
        raise EmitterError.of("{max_depth} {depth:g} must be a number of {unit} from 0 to 1e9", depth=depth, unit=unit)
    bound = int(depth * SCALE + 1e-6)
    slowest = max(flow.order, key=flow.delays.__getitem__, default=None)
    if slowest is not None and flow.delays[slowest] > bound:
        least = f"{flow.delays[slowest] / SCALE:g} {unit}"
        who = next((f"minus op {n}, for an output," for n, v in flow.negations.items() if v == slowest), None)
        raise EmitterError.of(
            "{value} alone takes {least}, more than {max_depth} {depth:g}, and no register can cut an op in two; "
            "give at least {value2:g}",
            value=who or program.ops[slowest],
            least=least,
            depth=depth,
            value2=flow.delays[slowest] / SCALE,
        )
    stages = fewest_stages(flow, bound)
    if stages > MOST_STAGES:
        raise EmitterError.of(
            "{max_depth} {depth:g} needs {stages} stages, more than {most_stages}; give a larger depth",
            depth=depth,
            stages=stages,
            most_stages=MOST_STAGES,
        )
    return stages, bound


class _Plan:
    """The values that each scope computes, and their names."""

    def __init__(self, program: Program, flow: Flow, schedule: Schedule) -> None:
        self.program, self.flow, self.schedule = program, flow, schedule
        self.ports: Ports = ports_of(program)
        self.minus = {value: index for index, value in flow.negations.items()}
        self.scope: dict[int, str] = {}
        by_stage: list[list[int]] = [[] for _ in range(schedule.stages)]
        for value in by_cone(flow.order, flow.operands, self._outputs()):
            by_stage[(schedule.stage[value] or 1) - 1].append(value)
        #: The values of each stage in groups, which become scopes if the module is divided.
        self.of_stage = [cut(values, self._reads, self._signals) for values in by_stage]
        signals = sum(map(self._signals, flow.order))
        self.cut = signals > MOST_SIGNALS or any(len(groups) > 1 for groups in self.of_stage)
        for stage, groups in enumerate(self.of_stage, 1):
            last = len(groups) - 1
            for number, members in enumerate(groups):
                # Icarus runs the blocks that one change triggers in descending order of names: see ``Parts.scope``.
                name = f"stage_{stage}_{last - number:0{len(str(last))}}" if last else f"stage_{stage}"
                self.scope.update(dict.fromkeys(members, name if self.cut else ""))

    def _outputs(self) -> Iterator[int]:
        """Yield the values that leave the module, in the order of its outputs."""
        for index, _, negated in self.program.outputs:
            value = self.flow.negations.get(index, index) if negated else index
            if value in self.flow.outputs:
                yield value

    def _reads(self, value: int) -> Collection[int]:
        return (self.minus[value],) if value in self.minus else reads(self.program.ops[value])

    def _signals(self, value: int) -> int:
        """Return the number of signals of ``value``: its own signal, and one per register."""
        return 1 + self.schedule.registers(value)

    def name(self, value: int, seen: int | None = None) -> str:
        """Return the name, within its scope, of ``value`` in stage ``seen``; None: in the stage that computes it."""
        own = f"neg_{self.minus[value]}" if value in self.minus else signal(value)
        stage = self.schedule.stage[value]
        return own if stage is None or seen in (None, stage) else f"{own}_s{seen}"

    def path(self, value: int, seen: int | None, within: str = "") -> str:
        """Return the name of ``value`` in stage ``seen``, as seen from scope ``within``; if empty, from the module."""
        scope = self.scope.get(value, "")
        return self.name(value, seen) if scope in ("", within) else f"{scope}.{self.name(value, seen)}"

    def type_of(self, value: int) -> FixedType:
        """Return a type with the width and the signedness of ``value``."""
        if value in self.minus:
            return FixedType(1, self.flow.bits[value] - 1, 0)
        return self.program.ops[value].type


def _text(plan: _Plan, top: str, options: PipelineOptions) -> str:
    program, ports, stages = plan.program, plan.ports, plan.schedule.stages
    out = Writer()
    many = counted(stages, "stage")
    notes = [
        f"Latency {stages}, one vector per edge of clk. op_N is the value of op N in the stage that computes it,",
        f"op_N_sK the same value in stage K. Outputs come from registers, before stage {stages + 1}. neg_N is -op_N.",
    ]
    module.header(out, program, top, ports, f"pipelined, {many}", notes=notes, control=_control_ports(options))
    with out.indent():
        module.tables(out, program)
        moving = set(plan.flow.order)
        module.constants(out, program, ports, (op for op in program.ops if op.index not in moving))
        for stage in range(1, stages + 1):
            depth = plan.schedule.depths[stage - 1] / SCALE
            out.line(f"// Stage {stage}: estimated depth {depth:g} {options.delays.unit}.")
            for values in plan.of_stage[stage - 1]:
                if values:
                    _scope(out, plan, values, stage, options)
        if options.valid:
            _valid(out, stages, options)

        def value_of(index: int, negated: bool, width: int) -> str:
            value = plan.flow.negations.get(index, index) if negated else index
            minus = "-" if negated and value == index else ""  # the negation of a constant is not a value of the flow
            name = plan.path(value, stages + 1)
            return f"{minus}{name}" if minus else f"{name}[{width - 1}:0]"

        module.outputs(out, program, ports, value_of)
    module.footer(out)
    return out.text()


def _control_ports(options: PipelineOptions) -> list[str]:
    asked = [
        (True, "input  wire clk"),
        (options.reset, "input  wire rst"),
        (options.enable, "input  wire en"),
        (options.valid, "input  wire in_valid"),
        (options.valid, "output wire out_valid"),
    ]
    return [port for wanted, port in asked if wanted]


def _scope(out: Writer, plan: _Plan, values: list[int], stage: int, options: PipelineOptions) -> None:
    """Write the block that computes ``values`` in ``stage``, and the registers that they pass through."""
    program, scope = plan.program, plan.scope[values[0]]

    def name_of(index: int) -> str:
        return plan.path(index, stage, scope)

    lines: list[module.Computed] = []
    negated = set()
    for value in values:
        if value in plan.minus:
            index = plan.minus[value]
            computed = [Statement(plan.name(value), plan.flow.bits[value], f"-{name_of(index)}")]
            lines.append((computed, f"minus %{index}"))
            negated.add(index)
        else:
            op = program.ops[value]
            lines.append((statements(program, plan.ports, op, name_of), module.comment(program, op)))
    ops = [program.ops[value] for value in values if value not in plan.minus]
    sensitive = module.sensitivity(program, ops, name_of, also=negated, inputs=stage == 1 and plan.cut)
    if plan.cut:
        out.line(f"generate if (1) begin : {scope}")
    with out.indent() if plan.cut else nullcontext():
        module.block(out, lines, sensitive)
        _registers(out, plan, values, stage, options)
    if plan.cut:
        out.line("end endgenerate")


def _registers(out: Writer, plan: _Plan, values: list[int], stage: int, options: PipelineOptions) -> None:
    moves: list[tuple[str, str]] = []
    for value in values:
        bits = storage_bits(plan.type_of(value))
        for seen in range(stage + 1, plan.schedule.until[value] + 1):
            out.line(f"reg {module.range_of(bits)} {plan.name(value, seen)};")
            moves.append((plan.name(value, seen), plan.name(value, seen - 1)))
    if not moves:
        return
    out.line(f"always @(posedge clk){_if_enabled(options)} begin")
    with out.indent():
        for target, source in moves:
            out.line(f"{target} <= {source};")
    out.line("end")


def _if_enabled(options: PipelineOptions) -> str:
    return " if (en)" if options.enable else ""


def _valid(out: Writer, stages: int, options: PipelineOptions) -> None:
    """Write one valid bit per stage; all are 0 after a reset, and at power-up if the technology supports that."""
    names = [f"valid_s{seen}" for seen in range(2, stages + 2)]
    for name in names:
        out.line(f"reg {name};")
        out.line(f"initial {name} = 1'b0;")
    out.line("always @(posedge clk) begin")
    with out.indent():
        if options.enable:
            out.line("if (en) begin")
        with out.indent() if options.enable else nullcontext():
            for name, source in zip(names, ["in_valid", *names], strict=False):
                out.line(f"{name} <= {source};")
        if options.enable:
            out.line("end")
        if options.reset:
            out.line("if (rst) begin")
            with out.indent():
                for name in names:
                    out.line(f"{name} <= 1'b0;")
            out.line("end")
    out.line("end")
    out.line(f"assign out_valid = {names[-1]};")


# Choose the stage of a pipeline that computes each op, and the stages in which its value is kept.
#
# Stages are numbered from 1, and each ends with registers. First, the smallest delay that every stage can meet is
# found, by placing ops as early as that delay permits. Then, ops move between their earliest and their latest stage
# if that saves register bits. Every step visits the ops a fixed number of times.


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
