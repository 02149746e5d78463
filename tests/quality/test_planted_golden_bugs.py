"""Does it find the bug when the bug is ours? Rules of the golden model are spoilt; the RTL stays right.

One engine spoilt: the engines differ, nothing can be said of the RTL. Both spoilt alike: the RTL differs.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quality.door import Run, planted, run_sim
from quality.programs import every_opcode, overflowing, unproved

from dais_verif.golden import batch, oracle

EVERY = every_opcode()
UNKNOWN = ("UNKNOWN", 6)
Spoil = Callable[[pytest.MonkeyPatch], None]


def spoilt_rule(monkeypatch: pytest.MonkeyPatch, engine: Any, code: int, spoil: Callable[[Any, Any], Any]) -> None:
    """``engine.RULES[code]`` gives ``spoil(context, result)`` in place of ``result``."""
    rule = engine.RULES[code]
    monkeypatch.setitem(engine.RULES, code, lambda context: spoil(context, rule(context)))


def in_batch(code: int, spoil: Callable[[Any, Any], Any]) -> Spoil:
    return lambda monkeypatch: spoilt_rule(
        monkeypatch, batch, code, lambda step, exact: exact.__class__(spoil(step, exact.raw), exact.f, exact.outside)
    )


def in_oracle(code: int, spoil: Callable[[Any, Any], Any]) -> Spoil:
    return lambda monkeypatch: spoilt_rule(monkeypatch, oracle, code, spoil)


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
        return quantise(exact, kind, batch.Status.SAFE, check)

    monkeypatch.setattr(batch, "_quantise", spoilt)


def ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    shift = batch._shift
    monkeypatch.setattr(batch, "_shift", lambda raw, bits: shift(raw, bits) if bits >= 0 else -shift(-raw, bits))


@pytest.mark.parametrize(
    ("op", "spoil"),
    [
        (13, in_batch(6, lambda s, raw: raw + 1)),
        (15, in_batch(7, lambda s, raw: -raw)),
        (24, in_batch(10, lambda s, raw: raw if s.op.index != 24 else ~raw)),
        (5, sub_for_add),
        (7, in_oracle(-2, lambda c, value: -c.a)),
        (16, in_oracle(8, lambda c, value: value / 2 if c.op.index == 16 else value)),
        (3, rounding),
        (3, saturation),
        (6, no_wrap_in_quantisation),
        (6, ceiling),
    ],
    ids=[
        "batch-mux",
        "batch-product",
        "batch-and",
        "oracle-difference",
        "oracle-relu",
        "oracle-lookup",
        "oracle-rounds",
        "batch-saturates",
        "batch-does-not-wrap",
        "batch-rounds-up",
    ],
)
def test_a_bug_in_one_engine_is_found_before_anything_is_simulated(
    op: int, spoil: Spoil, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch)
    run = run_sim(EVERY, tmp_path)
    assert run.ending == UNKNOWN
    assert f"golden engines differ at op {op} (" in run.record["message"]
    assert "bug of dais-verif" in run.record["message"]
    assert run.record["simulators"] == []


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
    """At 7 times 3, about once in 500 vectors."""
    return np.where(raw == 21, 20, raw)


def test_a_bug_in_one_engine_that_shows_seldom_is_not_blamed_on_the_rtl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_batch(7, wrong_where_the_self_check_does_not_look)(monkeypatch)
    run = run_sim(EVERY, tmp_path)
    assert run.ending == UNKNOWN
    assert run.record["simulators"][0]["mismatches"] > 0, "the self-check was meant to miss it"
    assert (run.blame["kind"], run.blame["op"]) == ("golden", 15)
    assert "golden engines differ at op 15 (mul)" in run.record["message"]


def test_nor_if_the_rtl_has_no_op_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_batch(7, wrong_where_the_self_check_does_not_look)(monkeypatch)
    rtl = planted(EVERY, "op_0 =", "op_0", "op_0").replace("op_", "n")
    run = run_sim(EVERY, tmp_path, rtl=rtl)
    assert run.ending == UNKNOWN
    assert run.blame["kind"] == "golden"


class TestViolations:
    """``overflowing`` breaks a promise for one input of 256, a corner; ``unproved`` for none."""

    def test_are_found_by_the_unspoilt_engines(self, tmp_path: Path) -> None:
        run = run_sim(overflowing(), tmp_path)
        assert run.ending == ("PROGRAM_INVALID", 2)
        assert "op 1 (add_const)" in run.record["message"]

    def test_that_the_batch_engine_overlooks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        quantise = batch._quantise
        monkeypatch.setattr(
            batch, "_quantise", lambda exact, kind, change, check: (quantise(exact, kind, change, False)[0], None)
        )
        self.check_unknown(run_sim(overflowing(), tmp_path), "only the oracle sees a violation")

    def test_that_the_range_analysis_excludes_wrongly(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        quantise = batch._quantise
        monkeypatch.setattr(
            batch, "_quantise", lambda exact, kind, change, check: quantise(exact, kind, batch.Status.SAFE, check)
        )
        self.check_unknown(run_sim(overflowing(), tmp_path), "oracle -128, batch engine 128")

    def test_that_the_batch_engine_invents(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.invent(monkeypatch, lambda raw: raw != 1 << 20)
        self.check_unknown(run_sim(overflowing(), tmp_path), "only the batch engine sees a violation")

    def test_that_the_batch_engine_invents_seldom(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert run_sim(unproved(), tmp_path, "--vectors", 4000).ending == ("PASS", 0)
        self.invent(monkeypatch, lambda raw: raw == -38)
        self.check_unknown(run_sim(unproved(), tmp_path, "--vectors", 4000), "violation at op 2")

    def invent(self, monkeypatch: pytest.MonkeyPatch, where: Callable[[Any], Any]) -> None:
        quantise = batch._quantise

        def spoilt(exact: Any, kind: Any, change: Any, check: bool) -> Any:
            quantised, changed = quantise(exact, kind, change, check)
            return quantised, None if changed is None else changed | where(exact.raw)

        monkeypatch.setattr(batch, "_quantise", spoilt)

    def check_unknown(self, run: Run, message: str) -> None:
        assert run.ending == UNKNOWN
        assert message in run.record["message"]
        assert "Traceback" not in run.stderr


def test_spoiling_is_undone() -> None:
    assert oracle.quantise(Fraction(-1, 4), EVERY.ops[2].type) == -1
