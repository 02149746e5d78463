"""Metamorphic twins, RTL that is rewritten without a change of its meaning, are still proved."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from prove.soundness.rewritings import REWRITINGS, retimed, rewritten
from support.places import CORPUS
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.ports.interface import Clocking, packed
from dais_verif.prover.proof import prove
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.slang import elaborate
from dais_verif.spec.program import load

NAMES = ("p01_addsub_tiny", "p14_v041_minmaxmul")


def judge_pipelines(
    name: str, seeds: range, folder: Path, stages: int = 3
) -> dict[tuple[str, ...], list[tuple[int, str]]]:
    """Return the retimed twins of a pipeline that are not proved, or that have another latency."""
    program = load(CORPUS / name / "prog.v1.bin")
    text = emit_pipeline(program, "model", PipelineOptions(stages=stages)).text
    failed: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for seed in seeds:
        twin, moved = retimed(text, seed)
        path = folder / f"twin_{seed}.v"
        path.write_text(twin)
        netlist = elaborate([path], "model", {})
        proof = prove(program, netlist, packed(program, Clocking("clk")), ProofOptions(timeout=5.0, jobs=1))
        right = proof.verdict is Verdict.PASS and proof.timing is not None and proof.timing.latency == stages
        if not right or (not moved and seed == seeds[0]):
            failed.setdefault(("retimed",), []).append((seed, proof.message))
    return failed


def judge(name: str, seeds: range, folder: Path) -> dict[tuple[str, ...], list[tuple[int, str]]]:
    """Return the twins that are not proved, by the rewritings that made them."""
    program = load(CORPUS / name / "prog.v1.bin")
    text = emit_verilog(program)
    failed: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        for seed in seeds:
            twin, how = rewritten(text, seed)
            path = folder / f"twin_{seed}.v"
            path.write_text(twin)
            options = ProofOptions(timeout=5.0, jobs=1)
            proof = prove(program, elaborate([path], "model", {}), packed(program), options)
            if proof.verdict is not Verdict.PASS:
                failed.setdefault(how, []).append((seed, proof.message))
    finally:
        sys.setrecursionlimit(limit)
    return failed


def test_every_rewriting_changes_the_text() -> None:
    text = emit_verilog(load(CORPUS / "p03_fir16" / "prog.v1.bin"))
    seen = {name for seed in range(20) for name in rewritten(text, seed)[1]}
    assert seen == set(REWRITINGS)
    assert len({rewritten(text, seed)[0] for seed in range(20)} | {text}) == 21


def test_twins_are_proved(tmp_path: Path) -> None:
    assert judge("p01_addsub_tiny", range(12), tmp_path) == {}


def test_retimed_twins_are_proved(tmp_path: Path) -> None:
    assert judge_pipelines("p01_addsub_tiny", range(6), tmp_path, 2) == {}


def test_a_twin_that_lacks_a_register_is_refused(tmp_path: Path) -> None:
    program = load(CORPUS / "p01_addsub_tiny" / "prog.v1.bin")
    text, moved = retimed(emit_pipeline(program, "model", PipelineOptions(stages=2)).text, 0)
    assert moved
    lost = re.sub(r"^    (op_\w+_r\d+) <= (op_\w+);$", "", text, count=1, flags=re.MULTILINE)
    found = re.search(r"^    (op_\w+_r\d+) <= (op_\w+);$", text, re.MULTILINE)
    assert found is not None
    (tmp_path / "lost.v").write_text(lost.replace("endmodule", f"  always @* {found[1]} = {found[2]};\nendmodule"))
    netlist = elaborate([tmp_path / "lost.v"], "model", {})
    with raises(InputError, match=r"vectors.*clock"):
        prove(program, netlist, packed(program, Clocking("clk")), ProofOptions(jobs=1))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_twins_are_proved(tmp_path: Path, name: str) -> None:
    count = int(os.environ.get("TWINS", "40"))
    assert judge(name, range(count), tmp_path) == {}
    assert judge_pipelines(name, range(count // 2), tmp_path) == {}
