"""Mutants of pipelines are refuted and confirmed, or proved and never differ in simulation.

A few mutants are tested here; ``make soundness`` takes thousands.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from prove.soundness import clocked
from prove.soundness.clocked import PROVED, REFUSED, REFUTED, exceptions
from prove.soundness.mutants import Mutant, all_mutants, sample
from prove.soundness.pipeline_campaign import judged, summary
from prove.soundness.pipelines import PIPELINES, pipeline, with_suffix
from prove.soundness.register_mutants import ALL_KINDS, REGISTER_KINDS

HAND = pipeline("by hand, valid bits in a vector")


def fitting(kind: str, new: str) -> Mutant:
    return next(m for m in all_mutants(HAND.files, ALL_KINDS)[kind] if new in m.new)


def test_a_few_mutants(tmp_path: Path) -> None:
    chosen = sample(HAND.files, 40, random.Random(3), ALL_KINDS)
    records = judged(HAND, {str(n): mutant for n, mutant in enumerate(chosen)}, 1200, tmp_path, ["icarus"])
    assert exceptions(records) == []
    said = Counter(record["status"] for record in records.values())
    assert said[PROVED] >= 3 and said[REFUTED] >= 8 and said[REFUSED] >= 5, said
    assert {record["kind"] for record in records.values()} >= set(REGISTER_KINDS)
    assert summary(records)[-2].startswith(f"| all | {sum(bool(r['ran']) for r in records.values())} | ")


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPELINES)
def test_more_mutants(name: str, tmp_path: Path, corpus: Path) -> None:
    one = pipeline(name)
    chosen = sample(one.files, 25, random.Random(4), ALL_KINDS)
    records = judged(one, {str(n): mutant for n, mutant in enumerate(chosen)}, 2000, tmp_path)
    assert exceptions(records) == []


@pytest.mark.parametrize("name", [name for name in PIPELINES if "da4ml" not in name])
def test_every_pipeline_is_right_before_it_is_mutated(name: str, tmp_path: Path) -> None:
    one = pipeline(name)
    nothing = Mutant("none", "model.v", 0, "", "")
    (record,) = judged(one, {"it": nothing}, 300, tmp_path, ["icarus"]).values()
    assert record["status"] == PROVED and record["latency"] == one.clocking.latency, record
    assert exceptions({"it": record}) == []


def test_modules_get_other_names() -> None:
    files = with_suffix(pipeline("by hand, instances").files, "_7")
    (text,) = files.values()
    assert [*files] == ["model_7.sv"] and text.count("stage_register_7 #(") == 9 and "module model_7 (" in text


@pytest.mark.parametrize(
    ("kind", "new"),
    [("misses the enable", "always @(posedge clk) begin t1"), ("valid", "~valid[2]"), ("reset", "1'b0"),
     ("start-up", "t ? model_inp : 0; t = !rst"), ("other sources", "")],
)  # fmt: skip
def test_a_prover_that_believes_everything_is_found_out(
    kind: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Mutant("none", "model.v", 0, "", "")
    right, said = clocked.answer, []

    def answer(*asked: object) -> object:
        said.append(right(*asked))
        return {**said[-1][0], "status": PROVED}, said[0][1]  # the answer for the original

    monkeypatch.setattr(clocked, "answer", answer)
    mutants = {"original": nothing, "mutant": fitting(kind, new)}
    (said_of,) = exceptions(judged(HAND, mutants, 1500, tmp_path, ["icarus"]))
    assert said_of.startswith("mutant: proved, and wrong")
