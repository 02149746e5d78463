"""``dais-verif prove`` proves da4ml's RTL, combinational and pipelined, or refutes it by a vector."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from interop.cases import CASES, Case
from interop.networks import NETWORKS
from interop.peer import json_tree
from interop.rtl import Verdict, prove, write
from interop.rtl_cases import NOT_WRITTEN, PROOFS
from support.da4ml_rtl import BUGS, FORMS, written

pytestmark = pytest.mark.usefixtures("da4ml")

#: The networks in the fast suite; `make test-interop` runs all.
FAST = {"verilog": ("powers",), "pipelined verilog": ("mlp",), "vhdl": (), "pipelined vhdl": ("choices",)}

#: Networks whose VHDL GHDL's synthesis cannot read: it has files, or reductions of another library.
UNREAD = ("lookup", "softmax", "reductions")

NETWORK_CASES = [
    pytest.param(name, form, marks=() if name in FAST[form] else pytest.mark.slow, id=f"{name}-{form}")
    for form in FAST
    for name in NETWORKS
]


def is_proved(verdict: Verdict) -> bool:
    """Return whether the run passed, there is at least one output, and all outputs are proved."""
    statuses = {claim["status"] for claim in verdict.record["outputs"]}
    return verdict.ending == ("PASS", 0) and statuses == {"PROVED"}


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "form"), NETWORK_CASES)
def test_networks_are_proved(name: str, form: str, tmp_path: Path) -> None:
    rtl = written(name, form, tmp_path)
    verdict = prove(rtl, tmp_path)
    if "vhdl" in form and name in UNREAD:
        assert verdict.ending == ("TOOL_FAILURE", 3), verdict.record["message"]
        assert all(part in verdict.record["message"] for part in ("GHDL's", "proof reads VHDL"))
        return
    assert is_proved(verdict), verdict.record["message"]
    timing = verdict.record["timing"]
    assert (timing and timing["latency"]) == rtl.latency


def real_program(corpus: Path, program: str, folder: Path) -> Any:
    from da4ml.types import CombLogic

    (path,) = corpus.glob(f"{program}_*/da4ml.json*")
    plain = folder / "da4ml.json"
    folder.mkdir(parents=True, exist_ok=True)
    plain.write_bytes(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    return CombLogic.load(plain)


@pytest.mark.slow
@pytest.mark.parametrize("stages", [0, 5])
@pytest.mark.parametrize("program", [f"p{n:02d}" for n in range(1, 15)])
def test_real_programs_are_proved(program: str, stages: int, corpus: Path, tmp_path: Path) -> None:
    logic = real_program(corpus, program, tmp_path / "given")
    cutoff = max(max(op.latency for op in logic.ops) / stages, 1) if stages else -1
    verdict = prove(write(logic, tmp_path, cutoff=cutoff), tmp_path)
    if program == "p11":  # output 3 has out_idx -1 and is left open
        assert verdict.ending == ("X_IN_OUTPUT", 4), verdict.record["message"]
        assert verdict.record["counterexample"]["output"] == 3
        assert "which has no driver" in verdict.record["message"]
        if stages:  # without names of signals, the proof ends with the first counterexample
            return
        assert {claim["output"] for claim in verdict.record["outputs"] if claim["status"] != "PROVED"} == {3}
    else:
        assert is_proved(verdict), verdict.record["message"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dense", "mlp"])
def test_layers_of_registers(name: str, tmp_path: Path) -> None:
    rtl = written(name, "pipelined verilog", tmp_path, layers=3)
    verdict = prove(rtl, tmp_path)
    assert is_proved(verdict), verdict.record["message"]
    assert verdict.record["timing"]["latency"] == rtl.latency


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_is_known_to_be_wrong_is_refuted(case: Case, tmp_path: Path) -> None:
    """``prove`` gives the verdict that ``PROOFS`` states, and a simulator confirms each counterexample."""
    from da4ml.types import CombLogic

    try:
        rtl = write(CombLogic.deserialize(json_tree(case.witness.program)), tmp_path)
    except (AssertionError, OverflowError, IndexError, ValueError):
        assert PROOFS[case.name].verdict == NOT_WRITTEN
        return
    verdict = prove(rtl, tmp_path, "--unchecked")
    assert verdict.verdict == PROOFS[case.name].verdict, verdict.record["message"]
    if verdict.verdict in ("RTL_MISMATCH", "X_IN_OUTPUT"):
        assert verdict.record["counterexample"]["replay"]["verdict"] == verdict.verdict
        assert verdict.record["counterexample"]["op"] == PROOFS[case.name].op


VERILOG_BUGS = [name for name, bug in BUGS.items() if FORMS[bug.form].flavor == "verilog"]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "constant off by one" else pytest.mark.slow) for name in VERILOG_BUGS],
)
def test_a_seeded_fault_is_refuted(name: str, tmp_path: Path) -> None:
    bug = BUGS[name]
    rtl = written(bug.network, bug.form, tmp_path / "right").edited(tmp_path / "wrong", bug.source, bug.old, bug.new)
    verdict = prove(rtl, tmp_path)
    assert verdict.ending == bug.verdict, verdict.record["message"]
    if bug.kind == "timing":
        assert "mixes vectors of different clock edges" in verdict.record["message"]
        return
    assert verdict.record["counterexample"]["replay"]["verdict"] == bug.verdict[0]
    if bug.op is not None:
        assert verdict.record["counterexample"]["op"] == bug.op
