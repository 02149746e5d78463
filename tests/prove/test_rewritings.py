"""Metamorphic twins: RTL that is rewritten without a change of its meaning stays PROVED."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from prove.soundness.rewritings import REWRITINGS, rewritten
from support.places import CORPUS

from dais_verif.dut.interface import packed
from dais_verif.emitter import emit_verilog
from dais_verif.program import load
from dais_verif.prover.proof import prove
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.slang import elaborate
from dais_verif.verdict import Verdict

NAMES = ("p01_addsub_tiny", "p14_v041_minmaxmul")


def judge(name: str, seeds: range, folder: Path) -> dict[tuple[str, ...], list[tuple[int, str]]]:
    """The twins that are not proved, by how they came about."""
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


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_twins_are_proved(tmp_path: Path, name: str) -> None:
    assert judge(name, range(int(os.environ.get("TWINS", "40"))), tmp_path) == {}
