"""Faults seeded in rules of the golden model are found, while the RTL is right.

If one engine is faulty, the engines differ, and the verdict on the RTL is unknown. If both have the same fault, the RTL
differs from them. The oracle checks the engine that computes the expected outputs, which is numpy or the fast one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.door import Run, mutant, run_sim
from support.programs import every_opcode, overflowing, sums_and_shifts, unproved
from support.said import as_recorded

from dais_verif import golden
from dais_verif.golden import batch, oracle
from dais_verif.golden.fast import FastProgram

EVERY = every_opcode()
UNKNOWN = ("UNKNOWN", 6)
Spoil = Callable[[pytest.MonkeyPatch], None]


def spoilt_rule(monkeypatch: pytest.MonkeyPatch, engine: Any, code: int, spoil: Callable[[Any, Any], Any]) -> None:
    """Make ``engine.RULES[code]`` return ``spoil(context, result)`` in place of ``result``."""
    rule = engine.RULES[code]
    monkeypatch.setitem(engine.RULES, code, lambda context: spoil(context, rule(context)))


def in_batch(code: int, spoil: Callable[[Any, Any], Any]) -> Spoil:
    return lambda monkeypatch: spoilt_rule(
        monkeypatch, batch, code, lambda step, exact: exact.__class__(spoil(step, exact.raw), exact.f, exact.outside)
    )


def in_oracle(code: int, spoil: Callable[[Any, Any], Any]) -> Spoil:
    return lambda monkeypatch: spoilt_rule(monkeypatch, oracle, code, spoil)


@pytest.fixture
def numpy_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the numpy engine compute the expected outputs."""
    monkeypatch.setattr(golden, "_fast", lambda program, engine: None)


@pytest.fixture
def fast_engine(kernel: None) -> None:
    """Let the fast engine compute the expected outputs, as it does by default."""
    assert golden.Golden(EVERY).engine == "fast"


@pytest.fixture
def in_use(engine: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(engine)


def sub_for_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(oracle.RULES, 1, oracle.RULES[0])


def rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = oracle.quantise
    monkeypatch.setattr(oracle, "quantise", lambda value, kind: exact(value + oracle.two(-kind.f - 1), kind))


def saturation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_wrap", lambda raw, kind: np.clip(raw, kind.raw_min, kind.raw_max))


def no_wrap_in_quantisation(monkeypatch: pytest.MonkeyPatch) -> None:
    quantise = batch._quantise

    def spoilt(exact: Any, kind: Any, change: Any, check: bool) -> Any:
        return quantise(exact, kind, batch.PromiseStatus.SAFE, check)

    monkeypatch.setattr(batch, "_quantise", spoilt)


def ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    shift = batch._shift
    monkeypatch.setattr(batch, "_shift", lambda raw, bits: shift(raw, bits) if bits >= 0 else -shift(-raw, bits))


#: By description: the op that is wrong, and the function that seeds the fault.
BUGS: dict[str, tuple[int, Spoil]] = {
    "batch-mux": (13, in_batch(6, lambda s, raw: raw + 1)),
    "batch-product": (15, in_batch(7, lambda s, raw: -raw)),
    "batch-and": (24, in_batch(10, lambda s, raw: raw if s.op.index != 24 else ~raw)),
    "oracle-difference": (5, sub_for_add),
    "oracle-relu": (7, in_oracle(-2, lambda c, value: -c.a)),
    "oracle-lookup": (16, in_oracle(8, lambda c, value: value / 2 if c.op.index == 16 else value)),
    "oracle-rounds": (3, rounding),
    "batch-saturates": (3, saturation),
    "batch-does-not-wrap": (6, no_wrap_in_quantisation),
    "batch-rounds-up": (6, ceiling),
}

#: Every bug with every engine; in the fast suite the engines take turns.
PAIRS = [
    pytest.param(name, engine, marks=[pytest.mark.slow] * (number % 2 != turn))
    for number, name in enumerate(BUGS)
    for turn, engine in enumerate(("numpy_engine", "fast_engine"))
]


@pytest.mark.few(4)
@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize(("name", "engine"), PAIRS)
def test_a_bug_in_one_engine_is_found_before_anything_is_simulated(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    op, spoil = BUGS[name]
    spoil(monkeypatch)
    run = run_sim(EVERY, tmp_path)
    assert run.ending == UNKNOWN
    assert f"op {op} (" in run.record["message"]
    as_recorded(run.record["message"])
    assert run.record["simulators"] == []


#: Such faults in opcodes that only ALIR has.
BUGS_OF_ALIR: dict[str, tuple[int, Spoil]] = {
    "batch-sum": (3, in_batch(11, lambda s, raw: raw + 1)),
    "batch-negation": (4, in_batch(11, lambda s, raw: -raw if s.op.index == 4 else raw)),
    "oracle-sum": (3, in_oracle(11, lambda c, value: -value)),
}


@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize(
    ("name", "engine"),
    [("batch-sum", "numpy_engine"), ("batch-negation", "fast_engine"), ("oracle-sum", "fast_engine")],
)
def test_a_bug_in_what_only_alir_has_is_found_too(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    op, spoil = BUGS_OF_ALIR[name]
    spoil(monkeypatch)
    run = run_sim(sums_and_shifts(), tmp_path)
    assert run.ending == UNKNOWN
    assert f"op {op} (" in run.record["message"]


@pytest.mark.usefixtures("numpy_engine")
@pytest.mark.parametrize(
    ("op", "code", "batch_rule", "oracle_rule"),
    [
        (17, 9, lambda s, raw: ~raw if s.op.index == 17 else raw, lambda c, v: -v - 1 if c.op.index == 17 else v),
        (13, 6, lambda s, raw: raw + 1, lambda c, value: value + oracle.two(-c.op.type.f)),
        (15, 7, lambda s, raw: abs(raw), lambda c, value: abs(value)),
    ],
    ids=["not", "mux", "product"],
)
def test_the_same_bug_in_both_engines_is_a_mismatch_at_that_op(
    op: int,
    code: int,
    batch_rule: Callable[[Any, Any], Any],
    oracle_rule: Callable[[Any, Any], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_batch(code, batch_rule)(monkeypatch)
    in_oracle(code, oracle_rule)(monkeypatch)
    run = run_sim(EVERY, tmp_path, "--unchecked")
    assert run.ending == ("RTL_MISMATCH", 1)
    assert (run.blame["kind"], run.blame["op"]) == ("op", op)


def wrong_where_the_self_check_does_not_look(step: Any, raw: Any) -> Any:
    """Return a product that is wrong only for 7 times 3, about once in 500 vectors."""
    return np.where(raw == 21, 20, raw)


@pytest.mark.usefixtures("numpy_engine")
def test_a_bug_in_one_engine_that_shows_seldom_is_not_blamed_on_the_rtl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_batch(7, wrong_where_the_self_check_does_not_look)(monkeypatch)
    run = run_sim(EVERY, tmp_path)
    assert run.ending == UNKNOWN
    assert run.record["simulators"][0]["mismatches"] > 0, "the self-check was meant to miss it"
    assert (run.blame["kind"], run.blame["op"]) == ("golden", 15)
    assert "op 15 (mul)" in run.record["message"]


@pytest.mark.usefixtures("numpy_engine")
def test_nor_if_the_rtl_has_no_op_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_batch(7, wrong_where_the_self_check_does_not_look)(monkeypatch)
    rtl = mutant(EVERY, "op_0 =", "op_0", "op_0").replace("op_", "n")
    run = run_sim(EVERY, tmp_path, rtl=rtl)
    assert run.ending == UNKNOWN
    assert run.blame["kind"] == "golden"


@pytest.mark.usefixtures("numpy_engine")
class TestViolations:
    """``overflowing`` breaks a promise for one input of 256, which is a corner; ``unproved`` breaks none."""

    def test_are_found_by_the_unspoilt_engines(self, tmp_path: Path) -> None:
        run = run_sim(overflowing(), tmp_path)
        assert run.ending == ("PROGRAM_INVALID", 2)
        assert "op 1 (add_const)" in run.record["message"]

    def test_that_the_batch_engine_overlooks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        quantise = batch._quantise
        monkeypatch.setattr(
            batch, "_quantise", lambda exact, kind, change, check: (quantise(exact, kind, change, False)[0], None)
        )
        self.check_unknown(run_sim(overflowing(), tmp_path), "op 1 (add_const)")

    def test_that_the_range_analysis_excludes_wrongly(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        quantise = batch._quantise
        monkeypatch.setattr(
            batch,
            "_quantise",
            lambda exact, kind, change, check: quantise(exact, kind, batch.PromiseStatus.SAFE, check),
        )
        self.check_unknown(run_sim(overflowing(), tmp_path), "-128, batch engine 128")

    def test_that_the_batch_engine_invents(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.invent(monkeypatch, lambda raw: raw != 1 << 20)
        self.check_unknown(run_sim(overflowing(), tmp_path), "op 1, row 0")

    def test_that_the_batch_engine_invents_seldom(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert run_sim(unproved(), tmp_path, "--vectors", 4000).ending == ("PASS", 0)
        self.invent(monkeypatch, lambda raw: raw == -38)
        self.check_unknown(run_sim(unproved(), tmp_path, "--vectors", 4000), "op 2")

    def invent(self, monkeypatch: pytest.MonkeyPatch, where: Callable[[Any], Any]) -> None:
        quantise = batch._quantise

        def spoilt(exact: Any, kind: Any, change: Any, check: bool) -> Any:
            quantised, changed = quantise(exact, kind, change, check)
            return quantised, None if changed is None else changed | where(exact.raw)

        monkeypatch.setattr(batch, "_quantise", spoilt)

    def check_unknown(self, run: Run, message: str) -> None:
        assert run.ending == UNKNOWN
        assert message in run.record["message"]
        as_recorded(run.record["message"])
        assert "Traceback" not in run.stderr


@pytest.mark.usefixtures("fast_engine")
class TestFastEngine:
    """Faults of the fast engine, which is judged by its outputs and the first row that breaks a promise, not by ops."""

    def test_an_output_that_is_wrong_everywhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.spoil(monkeypatch, lambda outputs, broken: (outputs[3].__ixor__(1), broken)[1])
        run = run_sim(EVERY, tmp_path)
        assert run.ending == UNKNOWN
        assert "output 3 in row 0:" in run.record["message"]
        as_recorded(run.record["message"])
        assert run.record["simulators"] == []

    def test_an_output_that_is_seldom_wrong(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Output 3, which is the product op 15, is wrong only for 7 times 3."""
        run = self.seldom_wrong(tmp_path, monkeypatch)
        assert run.blame["op"] is None
        assert "output 3 in row" in run.record["message"]
        as_recorded(run.record["message"])

    def test_nor_if_the_rtl_has_no_op_names(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seldom_wrong(tmp_path, monkeypatch, mutant(EVERY, "op_0 =", "op_0", "op_0").replace("op_", "n"))

    def seldom_wrong(self, folder: Path, monkeypatch: pytest.MonkeyPatch, rtl: str | None = None) -> Run:
        def spoilt(outputs: list[Any], broken: int | None) -> int | None:
            outputs[3][outputs[3] == 21] = 20
            return broken

        self.spoil(monkeypatch, spoilt)
        run = run_sim(EVERY, folder, rtl=rtl)
        assert run.ending == UNKNOWN
        assert run.record["simulators"][0]["mismatches"] > 0, "the self-check was meant to miss it"
        assert run.blame["kind"] == "golden"
        return run

    @pytest.mark.parametrize("op", [5, 15, *(pytest.param(op, marks=pytest.mark.slow) for op in (4, 10, 24))])
    def test_another_program_compiled_than_the_one_given(
        self, op: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A bit of a data word, or a second operand, is changed on the way to the kernel, which is found."""
        compiled = FastProgram._compile

        def spoilt(self: FastProgram, checked: bool) -> Any:
            columns = self.program.columns
            data, id1 = columns.data.copy(), columns.id1.copy()
            data[op] ^= 1
            id1[op] -= op == 15
            self.program = replace(self.program, columns=columns._replace(data=data, id1=id1))
            return compiled(self, checked)

        monkeypatch.setattr(FastProgram, "_compile", spoilt)
        run = run_sim(EVERY, tmp_path, "--unchecked")
        assert run.ending == UNKNOWN
        as_recorded(run.record["message"])

    def test_a_violation_that_it_overlooks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert run_sim(overflowing(), tmp_path).ending == ("PROGRAM_INVALID", 2)
        self.spoil(monkeypatch, lambda outputs, broken: None)
        self.check_unknown(run_sim(overflowing(), tmp_path), "op 1 (add_const)")

    @pytest.mark.parametrize("row", [0, 255])
    def test_a_violation_that_it_invents(self, row: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.spoil(monkeypatch, lambda outputs, broken: row)
        self.check_unknown(run_sim(unproved(), tmp_path), f"row {row};")

    def test_a_violation_that_it_finds_too_late(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Reporting the violation of a later row is an error, too, even if that row does break a promise."""
        self.spoil(monkeypatch, lambda outputs, broken: broken + 1)
        self.check_unknown(run_sim(overflowing(), tmp_path), "row ")

    def spoil(self, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[list[Any], Any], int | None]) -> None:
        """Let ``spoil`` change the engine's outputs in place and return what the engine reports as first broken row."""
        run_batch = FastProgram.run_batch

        def spoilt(self: FastProgram, *arguments: Any, **options: Any) -> Any:
            outputs, broken = run_batch(self, *arguments, **options)
            return outputs, spoil(outputs, broken)

        monkeypatch.setattr(FastProgram, "run_batch", spoilt)

    def check_unknown(self, run: Run, message: str) -> None:
        assert run.ending == UNKNOWN
        assert message in run.record["message"]
        as_recorded(run.record["message"])
        assert "Traceback" not in run.stderr


def test_spoiling_is_undone() -> None:
    assert oracle.quantise(Fraction(-1, 4), EVERY.ops[2].type) == -1
