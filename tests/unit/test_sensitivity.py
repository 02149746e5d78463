"""The effect of each flipped bit equals what flipping that bit in the oracle shows, for any program."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from support.said import raises
from support.slow_faults import flipped_outputs
from support.strategies import batches
from support.tier import examples

from dais_verif.base.errors import ViolationError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import oracle
from dais_verif.golden import sensitivity as module
from dais_verif.golden.sensitivity import BitFlip, Effect, Sensitivity, flip_bit, sensitivity
from dais_verif.spec.program import FixedType, Program, load
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus import generate

S4 = (1, 3, 0)
#: The slow suite tries 400 more programs.
FAST = settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def slow_effect(program: Program, batch: Batch, op: int, bit: int) -> Effect:
    """Return the effect by its definition, one vector and one flip at a time."""
    largest = []
    for row in range(batch.rows):
        inputs = batch.row(row)
        before = oracle.evaluate(program, inputs, check=False)
        after = flipped_outputs(program, inputs, op, bit)
        largest.append(max((abs(x - y), -j) for j, (x, y) in enumerate(zip(before, after, strict=True))))
    changes = [change for change, _ in largest]
    worst = max(changes)
    row = changes.index(worst)
    changed = sum(change > 0 for change in changes)
    where = (-largest[row][1], row) if changed else (None, None)
    return Effect(BitFlip(op, bit), worst, sum(changes, Fraction(0)) / batch.rows, changed, *where)


def assert_effects_are_true(program: Program, rows: list[list[Any]]) -> None:
    batch = Batch.of(rows, program.n_in)
    found = sensitivity(program, batch, bits=True, check=False)
    effects = {effect.flip: effect for effect in found.effects}
    for op in program.ops:
        for bit in range(op.type.width):
            slow = slow_effect(program, batch, op.index, bit)
            if slow.flip in found.dead:
                assert slow.changed == 0, slow
            else:
                assert effects.pop(slow.flip) == slow
    assert not effects, "nothing else was tried"
    lsbs = tuple(effect for effect in found.effects if effect.flip.bit == 0)
    assert sensitivity(program, batch, check=False).effects == lsbs


@given(batches(rows=3, widest=9) | batches(rows=3, widest=9, alir=True))
@settings(FAST, max_examples=examples(35))
def test_every_bit_of_every_op_is_what_flipping_it_shows(case: tuple[Program, list[list[Any]]]) -> None:
    assert_effects_are_true(*case)


@given(batches(rows=2) | batches(rows=2, alir=True))
@settings(FAST, max_examples=examples(12))
def test_wide_values_too(case: tuple[Program, list[list[Any]]]) -> None:
    assert_effects_are_true(*case)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_effects_of_400_programs(chunk: int) -> None:
    for seed in range(chunk * 40, chunk * 40 + 40):
        rng = random.Random(seed)
        program = random_program(rng, rng.randint(1, 30), widest=rng.choice((9, 20, 70)), alir=seed % 2 == 1)
        try:
            assert_effects_are_true(program, random_rows(rng, program, 3))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.parametrize(("lanes", "rows"), [(1, 1), (7, 2), (100, 3), (1 << 13, 4)])
def test_passes_of_any_size_give_the_same(lanes: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = random_program(random.Random(5), 40, widest=12)
    batch = generate(program, 11, 0)
    expected = sensitivity(program, batch, bits=True, check=False)
    monkeypatch.setattr(module, "LANES", lanes)
    monkeypatch.setattr(module, "ROWS", rows)
    seen: list[tuple[int, int]] = []
    found = sensitivity(program, batch, bits=True, check=False, progress=lambda done, total: seen.append((done, total)))
    assert found == expected
    assert seen[-1][0] == seen[-1][1] and seen == sorted(seen)


class TestTimeIsUp:
    """After the timeout nothing new starts: results so far count, and the record says what was not tried."""

    program = random_program(random.Random(5), 40, widest=12)

    def measured(self, monkeypatch: pytest.MonkeyPatch, looks: int) -> tuple[Sensitivity, Sensitivity]:
        """Return the result if time is up after ``looks`` readings of the clock, and the result without a limit."""
        monkeypatch.setattr(module, "LANES", 12)
        monkeypatch.setattr(module, "ROWS", 4)
        batch = generate(self.program, 11, 0)
        whole = sensitivity(self.program, batch, bits=True, check=False)
        clock = iter([0.0] * looks + [100.0] * 100_000)
        monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
        return sensitivity(self.program, batch, bits=True, check=False, timeout=1.0), whole

    def test_among_flips(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found, whole = self.measured(monkeypatch, 2)
        assert found.rows == 4 and found.rows_left == 7
        assert 0 < len(found.effects) < len(whole.effects) and found.left + len(found.effects) == len(whole.effects)
        first = sensitivity(self.program, generate(self.program, 11, 0).slice(0, 4), bits=True, check=False)
        assert found.effects == first.effects[: len(found.effects)] and found.dead == whole.dead

    def test_among_vectors(self, monkeypatch: pytest.MonkeyPatch) -> None:
        parts = 1 + -(
            -len(sensitivity(self.program, generate(self.program, 1, 0), bits=True, check=False).effects) // 3
        )
        found, whole = self.measured(monkeypatch, 1 + parts)
        assert (found.left, found.rows, found.rows_left) == (0, 8, 3) and len(found.effects) == len(whole.effects)

    def test_never(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found, whole = self.measured(monkeypatch, 100_000)
        assert found == whole and (found.left, found.rows_left) == (0, 0)


@pytest.mark.parametrize("kind", [(1, 3, 0), (0, 4, 0), (1, 0, 0), (0, 1, 2), (1, 61, 0), (0, 62, 0), (1, 70, 0)])
def test_a_flip_stays_in_its_type_and_is_undone_by_another(kind: tuple[int, int, int]) -> None:
    fixed = FixedType(*kind)
    values = [fixed.raw_min, fixed.raw_max, 0, fixed.raw_max // 3, fixed.raw_min // 3]
    raw = np.array(values, dtype=np.int64 if fixed.width <= 62 else object)
    for bit in range(fixed.width):
        once = flip_bit(raw, fixed, bit)
        assert [a % (1 << fixed.width) for a in once.tolist()] == [a % (1 << fixed.width) ^ 1 << bit for a in values]
        assert all(fixed.raw_min <= a <= fixed.raw_max for a in once.tolist())
        assert flip_bit(once, fixed, bit).tolist() == values


def test_effects_in_numbers() -> None:
    """x is 3 and -8 in s4.0; output 0 is 4 * x, and output 1 is -2 * floor(x / 2)."""
    program = Program.build([(-1, 0, -1, 0, S4), (3, 0, -1, 0, (1, 3, -1))], [(0, 2, 0), (1, 0, 1)], inp_shift=[0])
    found = sensitivity(program, Batch.of([[3], [-8]], 1), bits=True)
    assert found.dead == ()
    effects = {effect.flip: effect for effect in found.effects}
    # Bit 0 of x does not reach output 1; the sign bit of x moves output 0 by 4 * 8 = 32 and output 1 by 8.
    assert effects[BitFlip(0, 0)] == Effect(BitFlip(0, 0), Fraction(4), Fraction(4), 2, 0, 0)
    assert effects[BitFlip(0, 3)] == Effect(BitFlip(0, 3), Fraction(32), Fraction(32), 2, 0, 0)
    assert effects[BitFlip(1, 0)] == Effect(BitFlip(1, 0), Fraction(2), Fraction(2), 2, 1, 0)
    assert [effect.flip for effect in found.ranked()[:3]] == [BitFlip(0, 3), BitFlip(0, 2), BitFlip(0, 1)]


def test_masked_bits_never_matter_and_that_is_not_a_proof() -> None:
    """For max(x, 0) of negative numbers, low bits show no effect, but other vectors might; they are not dead."""
    program = Program.build([(-1, 0, -1, 0, S4), (2, 0, -1, 0, (0, 3, 0))], [(1, 0, 0)], inp_shift=[0])
    found = sensitivity(program, Batch.of([[-3], [-8]], 1), bits=True)
    silent = [effect for effect in found.effects if not effect.changed]
    assert [effect.flip for effect in silent] == [BitFlip(0, 0), BitFlip(0, 1), BitFlip(0, 2)]
    assert all((effect.worst, effect.output, effect.row) == (0, None, None) for effect in silent)
    assert found.dead == ()


def test_what_no_output_depends_on_is_not_tried() -> None:
    rows = [(-1, 0, -1, 0, S4), (2, 0, -1, 0, S4), (3, 0, -1, 0, (1, 3, -2))]
    found = sensitivity(Program.build(rows, [(2, 0, 0)], inp_shift=[0]), Batch.of([[1]], 1), bits=True)
    assert found.dead == (BitFlip(0, 0), BitFlip(0, 1), *(BitFlip(1, bit) for bit in range(4)))
    assert [effect.flip for effect in found.effects] == [BitFlip(0, 2), BitFlip(0, 3), BitFlip(2, 0), BitFlip(2, 1)]


@pytest.mark.parametrize("rows", [0, 1])
def test_programs_without_ops_outputs_or_vectors(rows: int) -> None:
    for program in (Program.build([], []), Program.build([(5, -1, -1, 1, S4)], [(-1, 0, 0)])):
        assert sensitivity(program, Batch.of(np.zeros((rows, 0)), 0), bits=True).effects == ()
    assert sensitivity(Program.build([(5, -1, -1, 1, S4)], [(0, 0, 0)]), Batch(0, ()), bits=True).effects == ()


def test_a_broken_promise_of_the_undisturbed_run_is_an_error_unless_unchecked() -> None:
    program = Program.build([(-1, 0, -1, 0, S4), (4, 0, -1, 1, S4)], [(1, 0, 0)], inp_shift=[0])
    batch = Batch.of([[6], [7]], 1)
    with raises(ViolationError):
        sensitivity(program, batch)
    # A flip may overflow without being an error: 6 becomes 7, plus 1 wraps to -8.
    assert sensitivity(program, batch.slice(0, 1)).effects[0].worst == 15
    assert len(sensitivity(program, batch, check=False).effects) == 2


def test_real_programs(corpus: Path) -> None:
    """A sample of the flips in whole networks equals the oracle."""
    rng = random.Random(0)
    for name in ("p02_mlp_jet", "p05_softmax_lut", "p10_bitops", "p12_quant_modes"):
        program = load(corpus / name / "prog.v1.bin")
        batch = generate(program, 2, 7)
        for effect in rng.sample(sensitivity(program, batch).effects, 5):
            assert effect == slow_effect(program, batch, *effect.flip)
