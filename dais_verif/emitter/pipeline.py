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

from dais_verif.counts import counted
from dais_verif.emitter import module
from dais_verif.emitter.cut import MOST_SIGNALS, by_cone, cut
from dais_verif.emitter.delays import DEFAULT, SCALE, DelayModel
from dais_verif.emitter.expressions import storage_bits
from dais_verif.emitter.ops import Statement, signal, statements
from dais_verif.emitter.parts import reads
from dais_verif.emitter.schedule import Flow, Schedule, fewest_stages, flow_of, least_depth, schedule
from dais_verif.emitter.writer import Writer
from dais_verif.errors import EmitterError
from dais_verif.program import FixedType, Program
from dais_verif.program.ports import Ports, ports_of

__all__ = ["MOST_STAGES", "Pipeline", "PipelineOptions", "Place", "emit_pipeline"]

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
