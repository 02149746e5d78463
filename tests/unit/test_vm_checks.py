"""Promises of a run: when they are checked, what a broken one reports, and that damaged sequences are found."""

from __future__ import annotations

import random
import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.programs import dense_network, every_opcode, overflowing, sums_and_shifts
from support.said import as_recorded, raises

from dais_verif.base.errors import ViolationError
from dais_verif.golden import run
from dais_verif.golden.vm import (
    InstructionSequence,
    MachineViolation,
    ViolationWarning,
    accept_instructions,
    compile_forward_and_backward,
)
from dais_verif.golden.vm import compile as compiler
from dais_verif.golden.vm.compile import assign_slots
from dais_verif.spec.program import Program

GOOD, BAD = [[1]], [[1], [127], [127]]
ENGINES = ("numpy", "auto")


def forward(program: Program, **options: bool) -> InstructionSequence:
    return compile_forward_and_backward(program, **options).forward


def runs(iseq: InstructionSequence, x: Any, level: Any, engine: str = "auto") -> str:
    """Return ``ok``, or the promise that is broken."""
    try:
        accept_instructions(iseq, x, opt_level=level, engine=engine)
    except MachineViolation as violation:
        return violation.promise
    return "ok"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("level", "first", "then"),
    [(1, GOOD, "value"), (2, GOOD, "ok"), (3, GOOD, "ok"), (1, BAD, "value"), (2, BAD, "value"), (3, BAD, "ok")],
)
def test_levels_check_every_run_the_first_one_or_none(level: Any, first: Any, then: str, engine: str) -> None:
    """Level 2 checks until a run is completed, so after a failed run it checks the next one, too."""
    iseq = forward(overflowing())
    assert runs(iseq, first, level, engine) == ("ok" if first is GOOD or level == 3 else "value")
    assert runs(iseq, BAD, level, engine) == then
    assert runs(replace(iseq), BAD, level, engine) == ("ok" if level == 3 else "value"), "a copy has run never"


@pytest.mark.parametrize("engine", ENGINES)
def test_warn_carries_on_with_the_quantised_value(engine: str) -> None:
    iseq = forward(overflowing())
    with pytest.warns(ViolationWarning, match="value") as caught:
        run = accept_instructions(iseq, BAD, on_violation="warn", engine=engine)
    assert caught[0].filename == __file__
    assert run.values.tolist() == [[2], [-128], [-128]]
    assert run.violation is not None and run.violation.row == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the run was completed, so level 2 checks nothing any more
        assert accept_instructions(iseq, BAD, engine=engine).violation is None


def test_a_violation_shows_the_instruction_among_its_neighbours() -> None:
    kind = (1, 7, 0)
    ops = [(-1, 0, -1, 0, kind), *((4, j, -1, 1, kind) for j in range(8))]
    iseq = forward(Program.build(ops, [(8, 0, 1)], inp_shift=[0]))
    with pytest.raises(ViolationError) as caught:
        accept_instructions(iseq, [[0], [123]])
    as_recorded(str(caught.value).splitlines())


@pytest.mark.parametrize("engine", ENGINES)
def test_an_index_outside_the_table_is_a_violation(engine: str) -> None:
    program = Program.build(
        [(-1, 0, -1, 0, (0, 2, 0)), (8, 0, -1, 0, (0, 4, 0))], [(1, 0, 0)], inp_shift=[0], tables=[[5, 6]]
    )
    with raises(MachineViolation) as caught:
        accept_instructions(forward(program), [[0], [1], [3]], engine=engine)
    assert (caught.value.promise, caught.value.position, caught.value.op, caught.value.row) == ("table index", 1, 1, 2)


def test_the_lowest_row_then_the_lowest_op_is_named_in_any_order() -> None:
    """Of ops 1 and 2 in row 1 and op 3 in row 2, op 1 is named, although depth-first order runs op 2 before it."""
    kind = (0, 4, 0)
    ops = [(-1, 0, -1, 0, kind), (4, 0, -1, 3, kind), (4, 0, -1, 2, kind), (4, 0, -1, 4, kind), (0, 2, 1, 0, (0, 9, 0))]
    program = Program.build(ops, [(4, 0, 0), (3, 0, 0)], inp_shift=[0])
    for options in ({"optimize_locality": True}, {"optimize_locality": False}):
        for engine in ENGINES:
            with pytest.raises(MachineViolation) as caught:
                accept_instructions(forward(program, **options), [[0], [14], [12]], engine=engine)
            assert (caught.value.row, caught.value.op) == (1, 1)


def changed(iseq: InstructionSequence, **columns: Any) -> InstructionSequence:
    """Return a copy of ``iseq`` with other columns."""
    return replace(iseq, columns=iseq.columns._replace(**columns))


def with_cell(iseq: InstructionSequence, name: str, place: Any, value: int) -> InstructionSequence:
    column = getattr(iseq.columns, name).copy()
    column[place] = value
    return changed(iseq, **{name: column})


def swapped(iseq: InstructionSequence, p: int, q: int) -> InstructionSequence:
    """Return a copy of ``iseq`` with two instructions exchanged."""
    order = np.arange(len(iseq))
    order[[p, q]] = q, p
    return replace(iseq, columns=type(iseq.columns)(*(column[order] for column in iseq.columns)))


#: %2 = %0 - %1 in nine bits, %3 = relu(%2), %4 = %2 * %3; %2 is kept for the pullback.
X, WIDE = (1, 7, 0), (1, 100, 0)
SMALL = Program.build(
    [(-1, 0, -1, 0, X), (-1, 1, -1, 0, X), (1, 0, 1, 0, (1, 8, 0)), (2, 2, -1, 0, (0, 8, 0)), (7, 2, 3, 0, (1, 16, 0))],
    [(4, 0, 0), (3, 1, 0)],
    inp_shift=[0, 0],
)
HUGE = Program.build([(-1, 0, -1, 0, WIDE), (7, 0, 0, 0, (1, 200, 0))], [(1, 0, 0)], inp_shift=[0])


def instruction(iseq: InstructionSequence, op: int) -> int:
    """Return the position of the instruction that computes op ``op``."""
    return int(np.flatnonzero(iseq.columns.value == op)[0])


def stolen_slot(iseq: InstructionSequence) -> InstructionSequence:
    """Write %1 to the slot of %0, which is still needed, and read it there."""
    slot = int(iseq.columns.out[instruction(iseq, 0)])
    return with_cell(with_cell(iseq, "out", instruction(iseq, 1), slot), "args", (instruction(iseq, 2), 1), slot)


def swapped_instructions(iseq: InstructionSequence) -> InstructionSequence:
    return swapped(iseq, instruction(iseq, 2), instruction(iseq, 1))


def swapped_operands(iseq: InstructionSequence) -> InstructionSequence:
    """Compute %1 - %0 instead of %0 - %1, with slots and names exchanged alike."""
    p = instruction(iseq, 2)
    args, reads = iseq.columns.args.copy(), iseq.columns.reads.copy()
    args[p, [0, 1]], reads[p, [0, 1]] = args[p, [1, 0]], reads[p, [1, 0]]
    return changed(iseq, args=args, reads=reads)


def other_argument(iseq: InstructionSequence) -> InstructionSequence:
    p = instruction(iseq, 2)
    return with_cell(iseq, "args", (p, 1), int(iseq.columns.args[p, 0]))


def lost_argument(iseq: InstructionSequence) -> InstructionSequence:
    return with_cell(iseq, "args", (instruction(iseq, 2), 1), -1)


def extra_argument(iseq: InstructionSequence) -> InstructionSequence:
    return with_cell(iseq, "args", (instruction(iseq, 3), 1), 0)


def other_output(iseq: InstructionSequence) -> InstructionSequence:
    """Write output 1 twice, and output 0 never."""
    p = int(np.flatnonzero(iseq.columns.port * (iseq.columns.code == 100) == 0)[-1])
    return with_cell(iseq, "port", p, 1)


def lost_instruction(iseq: InstructionSequence) -> InstructionSequence:
    """Drop the last instruction, on which no other one depends."""
    return replace(iseq, columns=type(iseq.columns)(*(column[:-1] for column in iseq.columns)))


def overwritten_save(iseq: InstructionSequence) -> InstructionSequence:
    """Write the last value to the slot in which %2 is kept for the pullback."""
    slots = dict(zip(iseq.allocation.saved.tolist(), iseq.allocation.saved_slots.tolist(), strict=True))
    p, output = instruction(iseq, 4), int(np.flatnonzero(iseq.columns.reads[:, 0] == 4)[0])
    iseq = replace(iseq, allocation=replace(iseq.allocation, bits=iseq.allocation.bits + 20))
    return with_cell(with_cell(iseq, "out", p, slots[2]), "args", (output, 0), slots[2])


def other_op(iseq: InstructionSequence) -> InstructionSequence:
    """Compute %1 in the place of %0."""
    return with_cell(iseq, "node", instruction(iseq, 0), 1)


def wrong_fusion(iseq: InstructionSequence) -> InstructionSequence:
    """Mark the relu of %2 as fused with %2."""
    holder = iseq.holder.copy()
    holder[3] = 2
    return replace(iseq, holder=holder)


def narrow_buffer(iseq: InstructionSequence) -> InstructionSequence:
    bits = iseq.allocation.bits.copy()
    bits[iseq.columns.out[instruction(iseq, 2)]] = 8
    return replace(iseq, allocation=replace(iseq.allocation, bits=bits))


@pytest.mark.parametrize(
    ("damage", "promise", "words"),
    [
        (stolen_slot, "operand order", r"0.*0.*%1.*%0"),
        (swapped_instructions, "operand order", r"1.*1.*%1"),
        (swapped_operands, "operand order", "%0, %1"),
        (other_argument, "operand order", r"1.*0.*%0.*%1"),
        (lost_argument, "operand order", r"1.*-1.*%1"),
        (extra_argument, "operand order", r"1.*0.*%0"),
        (other_output, "operand order", "%3"),
        (lost_instruction, "operand order", r"0.*instruction"),
        (overwritten_save, "operand order", r"%2.*pullback"),
        (other_op, "operand order", "%1"),
        (wrong_fusion, "operand order", "%3 is fused to"),
        (narrow_buffer, "buffer width", r"8 bits.*value.*9"),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_damaged_sequence_is_caught(damage: Any, promise: str, words: str, engine: str) -> None:
    """Level 1 finds the damage in every run, and level 2 in the first one."""
    iseq = damage(forward(SMALL))
    for level in (1, 1, 2):
        with raises(MachineViolation) as caught:
            accept_instructions(iseq, [[3, 5]], opt_level=level, engine=engine)
        assert caught.value.promise == promise and re.search(words, caught.value.words)
        text = str(caught.value)
        assert f"\n* {caught.value.position:>4}  " in text
        assert "(in row 0: " in text and "exact result" in text
    assert runs(forward(SMALL), [[3, 5]], 1, engine) == "ok"


#: %3 = %0 - %1 + %2 * 4 - %0.
SUM = Program.build(
    [*((-1, j, -1, 0, X) for j in range(3)), (11, 0, 4, 0, (1, 10, 0)), (11, 4, 1, 0, (1, 11, 0))],
    [(4, 0, 0), (3, 0, 0)],
    inp_shift=[0] * 3,
    terms=[(0, 0, 0), (1, 0, 1), (2, 2, 0), (0, 0, 1), (3, 0, 1)],
)


def test_a_damaged_sum_is_caught() -> None:
    """Damage is found in any argument, also beyond the third, and in a form that was made for other terms."""
    good = forward(SUM)
    p = instruction(good, 3)
    c = good.columns
    other = with_cell(good, "form", p, int(c.form[instruction(good, 4)]))
    swapped_terms = changed(good, args=c.args[:, [0, 2, 1, 3]].copy(), reads=c.reads[:, [0, 2, 1, 3]].copy())
    cases = {
        "%1 %0 argument 3 slot 1,": with_cell(good, "args", (p, 3), int(c.args[p, 1])),
        "argument 3 slot -1": with_cell(good, "args", (p, 3), -1),
        "%0, %1, %2, %0": swapped_terms,
        "op 4,": other,
        "result 23": with_cell(good, "args", (instruction(good, 4), 3), 0),
    }
    for words, iseq in cases.items():
        with pytest.raises(MachineViolation) as caught:
            accept_instructions(iseq, [[3, 5, 7]], opt_level=1)
        assert all(word in caught.value.words for word in words.split()), caught.value.words
        as_recorded(caught.value.words)
    assert accept_instructions(good, [[3, 5, 7]], opt_level=1).values.tolist() == [[-23, 23]]


@pytest.mark.parametrize("damage", [stolen_slot, swapped_operands, other_argument])
def test_level_3_lets_damage_through(damage: Any) -> None:
    """Without checks, at level 3, the numpy engine follows the damaged columns, and the outputs are wrong."""
    x = [[5, 3]]
    wrong = accept_instructions(damage(forward(SMALL)), x, opt_level=3, engine="numpy").values
    assert not np.array_equal(wrong, run(SMALL, x))


@pytest.mark.parametrize("damage", [swapped_instructions, lost_argument, lost_instruction])
def test_level_3_never_computes_with_what_is_not_there(damage: Any) -> None:
    with raises(ViolationError):
        accept_instructions(damage(forward(SMALL)), [[5, 3]], opt_level=3, engine="numpy")


def test_operands_and_exact_result_are_shown_for_damage_too() -> None:
    with pytest.raises(MachineViolation, match=r"\(in row 0: op 0 = 3, op 1 = 5, exact result -2\)"):
        accept_instructions(swapped_operands(forward(SMALL)), [[3, 5]])


def test_warn_carries_on_over_damage() -> None:
    with pytest.warns(ViolationWarning, match="operand order"):
        run = accept_instructions(swapped_operands(forward(SMALL)), [[5, 3]], on_violation="warn", engine="numpy")
    assert run.values.tolist() == [[0, 0]], "3 - 5, which is what the columns say"


def test_integers_too_narrow_for_an_op_are_caught() -> None:
    iseq = forward(HUGE)
    narrow = replace(iseq, forms=tuple(form._replace(wide=False) for form in iseq.forms))
    with raises(MachineViolation):
        accept_instructions(narrow, [[1 << 60]], opt_level=1)
    assert runs(iseq, [[1 << 60]], 1) == "ok"


def test_the_form_of_another_shape_is_caught() -> None:
    iseq = forward(SMALL)
    alien = with_cell(iseq, "form", instruction(iseq, 2), int(iseq.columns.form[instruction(iseq, 0)]))
    with raises(MachineViolation):
        accept_instructions(alien, [[1, 2]])


def test_columns_that_were_found_well_are_checked_again_when_they_change() -> None:
    iseq = forward(SMALL)
    assert runs(iseq, [[3, 5]], 1) == "ok"
    iseq.columns.args.setflags(write=True)
    iseq.columns.args[instruction(iseq, 2), 1] = iseq.columns.args[instruction(iseq, 2), 0]
    assert runs(iseq, [[3, 5]], 1) == "operand order"


def test_a_bug_of_the_scheduler_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks find the bug of a scheduler that reuses a slot while its value is still needed."""

    def spoilt(order: Any, reads: Any, keep: Any, kind: Any) -> tuple[Any, int]:
        slot, n_slots = assign_slots(order, reads, keep, kind)
        return np.where(slot == n_slots - 1, 0, slot).astype(np.int32), n_slots

    monkeypatch.setattr(compiler, "assign_slots", spoilt)
    compiled = compile_forward_and_backward(dense_network())
    x = np.zeros((1, 8))
    assert [runs(compiled.forward, x, level) for level in (1, 2)] == ["operand order"] * 2
    accept_instructions(compiled.forward, x, opt_level=3)
    assert [runs(compiled.backward, None, level) for level in (1, 2)] == ["operand order"] * 2


def backward(program: Program, x: Any) -> InstructionSequence:
    compiled = compile_forward_and_backward(program)
    accept_instructions(compiled.forward, x)
    return compiled.backward


def test_a_damaged_pullback_is_caught() -> None:
    good = backward(SMALL, [[5, 3]])
    assert runs(good, None, 1) == "ok"
    c, last = good.columns, len(good) - 1
    product = int(np.flatnonzero(c.code == 5)[0])
    reading = int(np.flatnonzero(c.reads[:, 0] >= 0)[0])
    summing = int(np.flatnonzero(c.reads[:, 1] >= 0)[0])
    cases = {
        "%2": with_cell(good, "saves", (product, 0), int(c.saves[product + 1, 0])),
        "argument 0": with_cell(good, "args", (reading, 0), int(c.args[reading, 0]) + 1),
        "argument 1": with_cell(good, "args", (summing, 1), -1),
        "op 4 .* g%3": swapped(good, product, product + 1),
        "op 1 .* grad 1": with_cell(good, "port", int(np.flatnonzero(c.port == 1)[-1]), 0),
        "op 0 .* grad 0": with_cell(good, "form", last, 0),
        f"{len(good)} instructions": lost_instruction(good),
    }
    for words, iseq in cases.items():
        for level in (1, 1, 2):
            with raises(MachineViolation, match=words) as caught:
                accept_instructions(iseq, opt_level=level)
            as_recorded(caught.value.promise)
            as_recorded(str(caught.value))
            assert "\n*" in str(caught.value)


@pytest.mark.parametrize("column", ["out", "args", "saves"])
def test_slots_that_are_not_there_are_caught(column: str) -> None:
    compiled = compile_forward_and_backward(SMALL)
    for place in range(len(compiled.forward)):
        cell = place if column == "out" else (place, 0)
        assert runs(with_cell(compiled.forward, column, cell, 1000), [[5, 3]], 1) == "operand order"
    accept_instructions(compiled.forward, [[5, 3]])
    for place in range(len(compiled.backward)):
        cell = place if column == "out" else (place, 0)
        assert runs(with_cell(compiled.backward, column, cell, 1000), None, 1) == "operand order"


def random_damage(rng: random.Random, iseq: InstructionSequence) -> InstructionSequence:
    """Exchange two instructions, or replace one slot of one instruction."""
    p, q = rng.randrange(len(iseq)), rng.randrange(len(iseq))
    if rng.random() < 0.4:
        return swapped(iseq, p, q)
    slot = rng.randrange(iseq.allocation.n_slots)
    if rng.random() < 0.5 and iseq.columns.out[p] >= 0:
        return with_cell(iseq, "out", p, slot)
    return with_cell(iseq, "args", (p, rng.randrange(iseq.columns.args.shape[1])), slot)


def test_no_damage_goes_unnoticed_that_changes_a_result() -> None:
    caught = harmless = 0
    for program in (every_opcode(), dense_network(), sums_and_shifts()):
        rng, compiled = random.Random(7), compile_forward_and_backward(program)
        x = np.array([[rng.randint(-60, 60) / 8 for _ in range(program.n_in)] for _ in range(20)])
        expected, kept = run(program, x), accept_instructions(compiled.forward, x) and dict(compiled.tape.slots)
        for _ in range(150):
            iseq = random_damage(rng, compiled.forward)
            try:
                found = accept_instructions(iseq, x, opt_level=1, engine="numpy").values
            except MachineViolation as violation:
                assert violation.promise in ("operand order", "buffer width")
                caught += 1
                continue
            harmless += 1
            assert np.array_equal(found, expected)
            assert all(np.array_equal(compiled.tape.slots[slot], raw) for slot, raw in kept.items())
    assert caught > 150 and harmless > 10
