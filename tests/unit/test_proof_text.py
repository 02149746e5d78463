"""The text of a proof: claims that no output rests on, outputs that were not examined, and unconfirmed replays."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.prover.results import Proof
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import Claim, Confirmation, Counterexample, Method, ProofRecord, ProvedRtl, Status
from dais_verif.report.proof_text import _methods, _print_open
from dais_verif.simulation.verify import Finding
from dais_verif.spec.program import Program
from dais_verif.verbs.proof.replay import judge_replay

NAMED = Claim(op=1, status=Status.REFUTED, method=Method.EXHAUSTIVE, signal="v1", inputs=("0",))
WRONG = Claim(output=0, status=Status.REFUTED, method=Method.SMT, inputs=("0",))
LEFT = Claim(output=1, status=Status.UNKNOWN, method=Method.SMT)
PASSED = Proof(Verdict.PASS, "all", [NAMED], [], [], 1, False, False)
FAILED = replace(PASSED, verdict=Verdict.RTL_MISMATCH, outputs=[WRONG, LEFT], counterexample=Counterexample(("0",), 0))


def shown(proof: Proof) -> str:
    out = Console(width=200, record=True, file=StringIO())
    record = ProofRecord(
        verdict=proof.verdict,
        message=proof.message,
        tools={},
        ops=proof.ops,
        outputs=proof.outputs,
        counterexample=proof.counterexample,
        program=ProgramInfo.of(Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])),
        rtl=ProvedRtl(),
        reproduce="dais-verif prove",
    )
    out.print(_methods(record))
    _print_open(record, out)
    return out.export_text()


def test_a_name_on_which_no_output_rests_is_ignored_in_a_pass() -> None:
    text = shown(PASSED)
    assert "REFUTED" not in text
    assert "op 1  v1" in text
    assert "REFUTED    op 1  signal v1" in shown(FAILED)


def test_an_output_that_was_left_out_after_a_counterexample_says_so() -> None:
    assert all(part in shown(FAILED) for part in ("UNKNOWN    output 1", "RTL"))
    assert "UNKNOWN    output 1\n" in shown(replace(FAILED, counterexample=None))


def test_macros_of_tools_are_the_reason_why_a_replay_does_not_confirm() -> None:
    right = Finding(Verdict.PASS, "all equal", [])
    told = judge_replay(FAILED, right, ["a.v asks for VERILATOR: synthesis may read it differently"])
    assert told.verdict is judge_replay(FAILED, right).verdict is Verdict.UNKNOWN
    as_recorded(told.message)
    assert "please report" not in told.message
    as_recorded(judge_replay(FAILED, right).message)
    against = Confirmation(Verdict.RTL_MISMATCH, "3 of 9 differ")
    verdict, message = against.weigh("all equal", "a.v asks for VERILATOR")
    assert verdict is Verdict.UNKNOWN and "a.v asks for VERILATOR" in message and "report" not in message
    as_recorded(against.weigh("all equal")[1])
