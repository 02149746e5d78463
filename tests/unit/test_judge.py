"""One verdict over all simulators: which outcome takes precedence, decided row by row."""

from __future__ import annotations

from itertools import permutations

import pytest
from support.said import as_recorded

from dais_verif.base.errors import ToolError
from dais_verif.base.verdict import Verdict
from dais_verif.simulation.judge import judge, second_opinion
from dais_verif.simulation.simulate import SimulatorOutcome, UnfinishedBuild
from dais_verif.simulation.testbench.job import Answer, Difference
from dais_verif.simulation.verify import _graded
from dais_verif.spec.program.ports import Element, Ports
from dais_verif.stimulus.pseudo_exhaustive.plan import Plan

ROWS, BITS = 100, 8
FIRST = Difference(3, "0", "11111111", "00000000")


def outcome(**answer: object) -> SimulatorOutcome:
    whole = {"rows": ROWS, "bits": ROWS * BITS, "digest": "good"}
    return SimulatorOutcome(Answer(**{**whole, **answer}), "1.0", 0.5, 0.5)  # type: ignore[arg-type]


FAILED = ToolError("vvp was killed by SIGSEGV")
ENDED = UnfinishedBuild("NOT RUN: its build was ended")
CLEAN = outcome()
OTHER = outcome(digest="other")
WRONG = outcome(mismatching_rows=7, first_mismatch=FIRST, digest="bad")
WRONG_OTHERWISE = outcome(mismatching_rows=9, first_mismatch=FIRST, digest="worse")
X = outcome(unknown_rows=5, first_unknown=FIRST, digest="with x")
X_AND_WRONG = outcome(unknown_rows=5, mismatching_rows=2, first_unknown=FIRST, first_mismatch=FIRST, digest="both")
NO_PORT = outcome(port_error="the design has no port model_out", rows=0, bits=0, digest="")
BROKEN = outcome(protocol_error="vout is 0 at clock edge 7")
#: Vector 3: bit 0 is known and wrong, the others are X; bit 1 is known and wrong, bit 0 is X; all bits are X.
X_BUT_ONE_WRONG = outcome(unknown_rows=5, first_unknown=FIRST, digest="x", departures={"3": "1 fe"})
X_BUT_OTHER_WRONG = outcome(unknown_rows=5, first_unknown=FIRST, digest="y", departures={"3": "2 1"})
ALL_X = outcome(unknown_rows=5, first_unknown=FIRST, digest="z", departures={"3": "0 ff"})
ONE_WRONG = outcome(mismatching_rows=1, first_mismatch=FIRST, digest="w", departures={"3": "1 0"})
WRONG_LATER = outcome(rows=200, mismatching_rows=1, first_mismatch=FIRST, digest="v", departures={"150": "1 0"})
LATE, LATER = outcome(latency=2), outcome(latency=3)
MOSTLY_WRONG = outcome(latency=2, mismatching_rows=60, first_mismatch=FIRST, digest="p")
MOSTLY_WRONG_OTHERWISE = outcome(latency=2, mismatching_rows=70, first_mismatch=FIRST, digest="q")
EMPTY = outcome(rows=0, bits=0, digest="none")
NO_BITS = outcome(bits=0, digest="zeros")

TABLE = [
    # one simulator
    ([CLEAN], Verdict.PASS, "800 output bits of 100 vectors"),
    ([WRONG], Verdict.RTL_MISMATCH, "7 of 100 vectors"),
    ([X], Verdict.X_IN_OUTPUT, "5 of 100 vectors"),
    ([X_AND_WRONG], Verdict.X_IN_OUTPUT, "5 of 100 vectors"),
    ([NO_PORT], Verdict.INVALID_INPUT, "the design has no port model_out"),
    ([FAILED], Verdict.TOOL_FAILURE, "first: vvp was killed by SIGSEGV"),
    ([EMPTY], Verdict.NOT_RUN, ""),
    ([BROKEN], Verdict.RTL_MISMATCH, "vout is 0 at clock edge 7 (first)"),
    # two simulators: what one of them finds is not outvoted
    ([LATE, LATE], Verdict.PASS, "800 output bits of 100 vectors"),
    ([LATE, LATER], Verdict.SIMULATORS_DISAGREE, "RTL: 2 in first, 3 in second"),
    ([MOSTLY_WRONG, MOSTLY_WRONG_OTHERWISE], Verdict.RTL_MISMATCH, "2 edges"),
    ([LATE, MOSTLY_WRONG], Verdict.SIMULATORS_DISAGREE, "mismatches: first 0, second 60"),
    ([CLEAN, BROKEN], Verdict.RTL_MISMATCH, "(second)"),
    ([CLEAN, CLEAN], Verdict.PASS, "800 output bits of 100 vectors"),
    ([WRONG, WRONG], Verdict.RTL_MISMATCH, "7 of 100 vectors"),
    ([CLEAN, WRONG], Verdict.SIMULATORS_DISAGREE, "(mismatches: first 0, second 7)"),
    ([WRONG, WRONG_OTHERWISE], Verdict.SIMULATORS_DISAGREE, "(mismatches: first 7, second 9)"),
    ([CLEAN, OTHER], Verdict.SIMULATORS_DISAGREE, "(mismatches: first 0, second 0)"),
    ([CLEAN, X], Verdict.X_IN_OUTPUT, "(second)"),
    ([WRONG, X], Verdict.X_IN_OUTPUT, "(second)"),
    # bits that both know must be equal; X in only one of them is not a disagreement
    ([CLEAN, ALL_X], Verdict.X_IN_OUTPUT, "(second)"),
    ([ONE_WRONG, ALL_X], Verdict.X_IN_OUTPUT, "(second)"),
    ([ONE_WRONG, X_BUT_ONE_WRONG], Verdict.X_IN_OUTPUT, "(second)"),
    ([CLEAN, X_BUT_ONE_WRONG], Verdict.SIMULATORS_DISAGREE, "vector 3, in bits"),
    ([WRONG_LATER, ALL_X], Verdict.X_IN_OUTPUT, "(second)"),  # the second simulator has not run that row
    ([ONE_WRONG, X_BUT_OTHER_WRONG], Verdict.SIMULATORS_DISAGREE, "Z: first 0, second 5)"),
    ([CLEAN, NO_PORT], Verdict.INVALID_INPUT, "no port"),
    ([X, NO_PORT], Verdict.INVALID_INPUT, "no port"),
    ([FAILED, FAILED], Verdict.TOOL_FAILURE, "first: vvp was killed by SIGSEGV; second: vvp was killed by SIGSEGV"),
    ([CLEAN, FAILED], Verdict.TOOL_FAILURE, "second: vvp"),
    ([ENDED, FAILED], Verdict.TOOL_FAILURE, "second: vvp"),
    ([WRONG, FAILED], Verdict.TOOL_FAILURE, "second: vvp"),
    ([X, FAILED], Verdict.TOOL_FAILURE, "second: vvp"),
    ([NO_PORT, FAILED], Verdict.TOOL_FAILURE, "second: vvp"),
    ([EMPTY, EMPTY], Verdict.NOT_RUN, ""),
    ([], Verdict.NOT_RUN, ""),
]


@pytest.mark.parametrize(("outcomes", "verdict", "message"), TABLE)
def test_the_verdict(outcomes: list[SimulatorOutcome | ToolError], verdict: Verdict, message: str) -> None:
    named = dict(zip(("first", "second"), outcomes, strict=False))
    found, text = judge(named, BITS)
    assert found is verdict
    assert message in text
    as_recorded(text)


@pytest.mark.parametrize(("outcomes", "verdict", "message"), [row for row in TABLE if len(row[0]) == 2])
def test_the_order_of_simulators_does_not_decide(
    outcomes: list[SimulatorOutcome | ToolError], verdict: Verdict, message: str
) -> None:
    assert {judge(dict(zip("ab", order, strict=True)), BITS)[0] for order in permutations(outcomes)} == {verdict}


def test_a_program_without_output_bits() -> None:
    verdict, text = judge({"icarus": NO_BITS, "verilator": NO_BITS}, 0)
    assert verdict is Verdict.NOT_RUN
    as_recorded(text)


def test_only_a_pass_has_exit_code_0() -> None:
    assert [verdict for verdict in Verdict if verdict.exit_code == 0] == [Verdict.PASS]


def test_exit_codes_are_fixed() -> None:
    assert {verdict.value: verdict.exit_code for verdict in Verdict} == {
        "PASS": 0,
        "RTL_MISMATCH": 1,
        "PROGRAMS_DIFFER": 1,
        "DISAGREEMENT": 1,
        "UNSOUND": 8,
        "PROGRAM_INVALID": 2,
        "INVALID_INPUT": 2,
        "TOOL_FAILURE": 3,
        "X_IN_OUTPUT": 4,
        "SIMULATORS_DISAGREE": 5,
        "UNKNOWN": 6,
        "NOT_RUN": 6,
        "NOT_SIGNED_OFF": 7,
        "INTERNAL_ERROR": 70,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize(
    ("rows", "replayed", "verdict"),
    [
        # Icarus has simulated the row, so that its replay does not count.
        (4, {"icarus": "11111111", "verilator": "00000000"}, Verdict.RTL_MISMATCH),
        # Icarus has not simulated the row, and its replay repeats the mismatch or fails.
        (3, {"icarus": "00000000"}, Verdict.RTL_MISMATCH),
        (3, {"verilator": "00000000"}, Verdict.RTL_MISMATCH),
        # Icarus has not simulated the row, and its replay gives the right value, another value, or X.
        (3, {"icarus": "11111111", "verilator": "00000000"}, Verdict.SIMULATORS_DISAGREE),
        (3, {"icarus": "00000001", "verilator": "00000000"}, Verdict.SIMULATORS_DISAGREE),
        (3, {"icarus": "0000000x", "verilator": "00000000"}, Verdict.X_IN_OUTPUT),
        # The replay in Verilator does not repeat its own mismatch, which depends on more than this vector.
        (3, {"icarus": "11111111", "verilator": "11111111"}, Verdict.RTL_MISMATCH),
        (3, {"icarus": "11111111"}, Verdict.RTL_MISMATCH),
    ],
)
def test_a_second_opinion_on_a_row(rows: int, replayed: dict[str, str], verdict: Verdict) -> None:
    outcomes = {"icarus": outcome(rows=rows), "verilator": outcome(mismatching_rows=1, first_mismatch=FIRST)}
    found, message = second_opinion("1 of 100", outcomes, "verilator", FIRST, replayed)
    assert found is verdict
    assert (message == "1 of 100") == (verdict is Verdict.RTL_MISMATCH)
    assert "vector 3" in message or verdict is Verdict.RTL_MISMATCH


def test_one_wrong_output_says_nothing_against_the_others() -> None:
    """Each output has a grade of its own, whichever simulator failed; an output of zero bits never has a grade."""
    ports = Ports((), (Element(0, 3, 0), Element(3, 0, 0), Element(3, 5, 0)))

    def grades(*outcomes: SimulatorOutcome | ToolError, exhausted: tuple[int, ...] = ()) -> list[str]:
        named = dict(zip(("icarus", "verilator"), outcomes, strict=False))
        return [one.grade for one in _graded(ports, named, Plan((), exhausted, ()))]

    assert grades(CLEAN, CLEAN) == ["sampled", "none", "sampled"]
    assert grades(CLEAN, CLEAN, exhausted=(0, 1)) == ["exhausted", "none", "sampled"]
    assert grades(CLEAN, outcome(wrong="8")) == ["sampled", "none", "wrong"]
    assert grades(outcome(wrong="4"), outcome(wrong="80")) == ["wrong", "none", "wrong"]
    assert grades(outcome(wrong="4"), CLEAN, exhausted=(0, 2)) == ["wrong", "none", "exhausted"]
    assert grades(FAILED, CLEAN) == grades(CLEAN, ENDED) == ["sampled", "none", "sampled"]
    assert grades(FAILED, outcome(wrong="8")) == grades(FAILED, ENDED) == grades(CLEAN, BROKEN) == []
    assert grades(NO_PORT) == grades(LATE, LATER) == []
    assert grades(EMPTY) == ["none"] * 3
