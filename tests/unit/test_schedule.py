"""Properties of schedules: operands are there when read, stages are within the bound, register bits are few."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.odd_programs import ODD_PROGRAMS
from support.programs import dense_network, every_opcode
from support.strategies import programs

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.hardware.emitter.delays import DEFAULT, DelayModel
from dais_verif.hardware.emitter.pipeline import (
    Flow,
    Schedule,
    _earliest,
    _latest,
    _State,
    fewest_stages,
    flow_of,
    least_depth,
    schedule,
)
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.graph import dead_ops

#: Delay models, also ones in which all or some delays are zero.
MODELS = st.builds(
    DelayModel,
    lut=st.sampled_from((0, 1, 0.333)),
    add=st.sampled_from((0, 1, 7)),
    carry=st.sampled_from((0, 0.05, 1)),
    mul_level=st.sampled_from((0, 2.5)),
)


def bits_of(flow: Flow, plan: Schedule) -> int:
    return sum(flow.bits[value] * plan.registers(value) for value in flow.order)


def check(flow: Flow, plan: Schedule, bound: int) -> None:
    """Assert all properties of a schedule, from their definitions."""
    readers: dict[int, list[int]] = {value: [] for value in flow.order}
    arrival: dict[int, int] = {}
    assert set(flow.order) == {value for value, stage in enumerate(plan.stage) if stage is not None}
    for value in flow.order:
        stage = plan.stage[value]
        assert stage is not None and 1 <= stage <= plan.stages
        assert stage == 1 or value not in flow.inputs
        before = [0]
        for u in flow.operands[value]:
            produced = plan.stage[u]
            assert produced is not None and produced <= stage <= plan.until[u], "an operand is not there"
            readers[u].append(stage)
            before += [arrival[u]] * (produced == stage)
        arrival[value] = max(before) + flow.delays[value]
        assert arrival[value] <= plan.depths[stage - 1] <= bound
    for value in flow.order:
        last = plan.stages + 1 if value in flow.outputs else max(readers[value], default=plan.stage[value])
        assert plan.until[value] == last, "no register too few and none too many"
    for stage, depth in enumerate(plan.depths, 1):
        assert depth == max((arrival[v] for v in flow.order if plan.stage[v] == stage), default=0)


@given(programs(), MODELS, st.integers(1, 12))
def test_any_number_of_stages(case: tuple[Program, random.Random], model: DelayModel, stages: int) -> None:
    flow = flow_of(case[0], model)
    bound = least_depth(flow, stages)
    check(flow, schedule(flow, stages, bound), bound)


@given(programs(), MODELS, st.integers(1, 12))
def test_no_smaller_depth_would_do(case: tuple[Program, random.Random], model: DelayModel, stages: int) -> None:
    flow = flow_of(case[0], model)
    bound = least_depth(flow, stages)
    slowest = max((flow.delays[value] for value in flow.order), default=0)
    assert fewest_stages(flow, bound) <= stages
    assert bound == slowest or fewest_stages(flow, bound - 1) > stages


@given(programs(), MODELS)
def test_one_stage_is_the_longest_path(case: tuple[Program, random.Random], model: DelayModel) -> None:
    flow = flow_of(case[0], model)
    longest: dict[int, int] = {}
    for value in flow.order:
        longest[value] = flow.delays[value] + max((longest[u] for u in flow.operands[value]), default=0)
    bound = least_depth(flow, 1)
    plan = schedule(flow, 1, bound)
    assert plan.depths == (bound,) == (max(longest.values(), default=0),)
    assert all(plan.registers(value) == (value in flow.outputs) for value in flow.order)


@given(programs(), MODELS, st.integers(1, 11))
def test_another_stage_is_never_slower(case: tuple[Program, random.Random], model: DelayModel, stages: int) -> None:
    flow = flow_of(case[0], model)
    assert least_depth(flow, stages + 1) <= least_depth(flow, stages)


@given(programs(), MODELS, st.integers(0, 5000))
def test_the_fewest_stages_are_enough_and_needed(
    case: tuple[Program, random.Random], model: DelayModel, more: int
) -> None:
    flow = flow_of(case[0], model)
    bound = max((flow.delays[value] for value in flow.order), default=0) + more
    stages = fewest_stages(flow, bound)
    check(flow, schedule(flow, stages, bound), bound)
    assert stages == 1 or least_depth(flow, stages - 1) > bound


def packed_early(flow: Flow, stages: int, bound: int) -> Schedule:
    """Return a schedule that ignores register bits: each value is computed as soon as the bound permits."""
    stage: list[int | None] = [None] * len(flow.bits)
    arrival = [0] * len(flow.bits)
    until = [0] * len(flow.bits)
    for value in flow.order:
        at, ready = max(((stage[u] or 1, arrival[u]) for u in flow.operands[value]), default=(1, 0))
        late = ready + flow.delays[value] > bound
        at = stage[value] = at + late
        arrival[value] = flow.delays[value] + (0 if late else ready)
        until[value] = stages + 1 if value in flow.outputs else at
        for u in flow.operands[value]:
            until[u] = max(until[u], at)
    return Schedule(stages, tuple(stage), tuple(until), ())


@given(programs(), MODELS, st.integers(1, 12))
def test_never_more_bits_than_as_early_as_possible(
    case: tuple[Program, random.Random], model: DelayModel, stages: int
) -> None:
    flow = flow_of(case[0], model)
    bound = least_depth(flow, stages)
    assert bits_of(flow, schedule(flow, stages, bound)) <= bits_of(flow, packed_early(flow, stages, bound))


@pytest.mark.parametrize("stages", [2, 3, 8])
@pytest.mark.parametrize("name", ["p10_bitops", "p12_quant_modes"])
def test_real_programs_need_far_fewer_bits(name: str, stages: int, corpus: Path) -> None:
    flow = flow_of(load(corpus / name / "prog.v1.bin"), DEFAULT)
    bound = least_depth(flow, stages)
    plan = schedule(flow, stages, bound)
    check(flow, plan, bound)
    assert bits_of(flow, plan) < 0.8 * bits_of(flow, packed_early(flow, stages, bound))


def narrow_then_wide() -> Program:
    """Return a program whose product turns eight bits into fifteen, and whose output is the lowest of them."""
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (7, 0, 0, 0, (0, 15, 0)), (3, 1, -1, 0, (0, 1, 0))]
    return Program.build(rows, [(2, 0, 0)], inp_shift=[0])


def test_ops_move_to_where_values_are_narrow() -> None:
    """Registers carry one bit, not eight or fifteen, although the product could be in any stage."""
    flow = flow_of(narrow_then_wide(), DEFAULT)
    plan = schedule(flow, 5, least_depth(flow, 5))
    assert plan.stage == (1, 1, 1)
    assert bits_of(flow, plan) == 5


def test_ops_move_later_where_that_saves_bits() -> None:
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 1, (1, 60, 0))]
    flow = flow_of(Program.build(rows, [(1, 0, 0)], inp_shift=[0]), DEFAULT)
    plan = schedule(flow, 5, least_depth(flow, 5))
    assert plan.stage == (1, 5)
    assert bits_of(flow, plan) == 4 * 8 + 61


def test_both_ways_to_improve_a_schedule_save_bits() -> None:
    for first, improve in (
        (lambda flow, _, bound: _earliest(flow, bound), _State.move_later),
        (_latest, _State.move_earlier),
    ):
        saved = []
        for seed in range(20):
            flow = flow_of(random_program(random.Random(seed)), DEFAULT)
            bound = least_depth(flow, 3)
            state = _State(flow, 3, bound, first(flow, 3, bound))
            before = state.register_bits()
            improve(state)
            saved.append(before - state.register_bits())
            check(flow, state.result(), bound)
        assert min(saved) >= 0 and sum(saved) > 0, improve.__name__


def test_an_output_and_its_negation_share_what_they_can() -> None:
    rows = [(-1, 0, -1, 0, (1, 7, 0))]
    flow = flow_of(Program.build(rows, [(0, 0, 0), (0, 0, 1), (0, 2, 1)], inp_shift=[0]), DEFAULT)
    plan = schedule(flow, 3, least_depth(flow, 3))
    assert flow.negations == {0: 1}
    assert plan.stage == (1, 3)
    assert bits_of(flow, plan) == 3 * 8 + 9


@pytest.mark.parametrize("program", ODD_PROGRAMS.values(), ids=lambda program: str(program.n_ops))
@pytest.mark.parametrize("stages", [1, 4])
def test_odd_programs(program: Program, stages: int) -> None:
    flow = flow_of(program, DEFAULT)
    bound = least_depth(flow, stages)
    check(flow, schedule(flow, stages, bound), bound)


def test_what_never_changes_takes_no_part() -> None:
    program = every_opcode()
    flow = flow_of(program, DEFAULT)
    assert {11, 28}.isdisjoint(flow.order)  # a constant, a value without bits
    assert flow_of(ODD_PROGRAMS["every opcode on constants"], DEFAULT).order == ()


def test_what_no_output_depends_on_takes_no_time() -> None:
    program = random_program(random.Random(3), 200)
    flow, dead = flow_of(program, DEFAULT), dead_ops(program)
    assert dead
    assert {flow.delays[index] for index in dead} == {0}


def test_a_check_that_can_fail() -> None:
    """The checks above notice an operand that comes too late, and a superfluous register."""
    flow = flow_of(dense_network(), DEFAULT)
    bound = least_depth(flow, 4)
    plan = schedule(flow, 4, bound)
    value = next(v for v in flow.order if v not in flow.inputs and plan.stage[v] == 2)
    stage = list(plan.stage)
    for wrong in (1, 4):
        stage[value] = wrong
        with pytest.raises(AssertionError):
            check(flow, plan._replace(stage=tuple(stage)), bound)
    until = list(plan.until)
    until[value] += 1
    with pytest.raises(AssertionError, match="register"):
        check(flow, plan._replace(until=tuple(until)), bound)
    with pytest.raises(AssertionError):
        check(flow, plan, bound - 1 if bound == max(plan.depths) else max(plan.depths) - 1)
