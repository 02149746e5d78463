"""Stages of a sign-off run side by side where they may, and are told in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dais_verif.base.toolchain.process import is_stopping
from dais_verif.base.verdict import Verdict
from dais_verif.record.signoff import StageResult
from dais_verif.signoff.context import Context, SignOffStage
from dais_verif.signoff.judge import Judgement
from dais_verif.signoff.listener import SignOffListener
from dais_verif.signoff.session import run_stages
from dais_verif.signoff.verbs import away

SECONDS = 20.0


def stage(name: str, *needs: str) -> SignOffStage:
    def nothing(context: Context, folder: Path) -> Any:
        return Judgement(Verdict.PASS, "")

    return SignOffStage(name, name, nothing, nothing, needs=needs)


def result(name: str, verdict: Verdict = Verdict.PASS) -> StageResult:
    return StageResult(name, verdict, "", True, verdict is Verdict.PASS, False)


def until(event: threading.Event) -> None:
    """Wait as a stage waits for its command: meanwhile, others take their turn."""
    with away():
        assert event.wait(SECONDS)


@dataclass
class Heard(SignOffListener):
    lines: list[str] = field(default_factory=list)

    def stage_begins(self, name: str, number: int, total: int) -> None:
        self.lines.append(f"{number} of {total}: {name}")

    def stage_ends(self, result: StageResult) -> None:
        self.lines.append(result.name)


def told(
    stages: Sequence[SignOffStage], run: Any, folder: Path, heard: SignOffListener | None = None, jobs: int = 2
) -> list[str]:
    context: Any = SimpleNamespace(folder=folder, jobs=jobs)
    found: list[StageResult] = []
    run_stages(stages, context, run, found.append, heard or SignOffListener())
    return [f"{one.name} {one.verdict.value}" for one in found]


def test_stages_that_do_not_need_each_other_overlap_and_are_told_in_order(tmp_path: Path) -> None:
    last_begun, heard = threading.Event(), Heard()

    def run(one: SignOffStage, before: Sequence[StageResult]) -> StageResult:
        if one.name == "slow":
            until(last_begun)  # it ends only if the other one runs beside it, and ends after it
        last_begun.set()
        return result(one.name)

    assert told([stage("slow"), stage("fast")], run, tmp_path, heard) == ["slow PASS", "fast PASS"]
    assert heard.lines == ["1 of 2: slow", "slow", "2 of 2: fast", "fast"]


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_a_stage_gets_the_results_that_it_needs_and_no_more_than_two_run(tmp_path: Path, jobs: int) -> None:
    running, most, given = set[str](), 0, dict[str, set[str]]()

    def run(one: SignOffStage, before: Sequence[StageResult]) -> StageResult:
        nonlocal most
        given[one.name] = {each.name for each in before}
        running.add(one.name)
        with away():
            time.sleep(0.02)
            most = max(most, len(running))
        running.remove(one.name)
        return result(one.name)

    stages = [stage("a"), stage("b", "a"), stage("c", "a"), stage("d", "a"), stage("e", "b", "c", "d")]
    assert told(stages, run, tmp_path, jobs=jobs) == [f"{name} PASS" for name in "abcde"]
    assert most == min(jobs, 2)
    assert all(set(one.needs) <= given[one.name] for one in stages)


def test_of_what_stages_do_in_this_process_nothing_overlaps(tmp_path: Path) -> None:
    busy = threading.Lock()

    def run(one: SignOffStage, before: Sequence[StageResult]) -> StageResult:
        for _ in range(5):
            assert busy.acquire(blocking=False)
            time.sleep(0.002)
            busy.release()
            with away():
                time.sleep(0.001)
        return result(one.name)

    assert told([stage(name) for name in "abcd"], run, tmp_path) == [f"{name} PASS" for name in "abcd"]


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.TOOL_FAILURE, Verdict.NOT_SIGNED_OFF])
def test_a_stage_without_a_result_beside_another_runs_again_alone(tmp_path: Path, verdict: Verdict) -> None:
    running, runs, both = set[str](), list[tuple[str, bool, bool]](), threading.Barrier(2)

    def run(one: SignOffStage, before: Sequence[StageResult]) -> StageResult:
        running.add(one.name)
        with away():
            if not runs:
                both.wait(SECONDS)
            time.sleep(0.02 if one.name == "late" else 0)
        kept = (tmp_path / one.folder / "left").exists()
        (tmp_path / one.folder).mkdir(exist_ok=True)
        (tmp_path / one.folder / "left").touch()
        runs.append((one.name, len(running) == 1, kept))
        running.remove(one.name)
        open_result = one.name == "limited" and not (len(runs) > 2 and runs[-1][1])
        return result(one.name, verdict if open_result else Verdict.PASS)

    stages = [stage("limited"), stage("late"), stage("after", "limited")]
    assert told(stages, run, tmp_path) == ["limited PASS", "late PASS", "after PASS"]
    assert runs[-2:] == [("limited", True, False), ("after", True, False)]
    assert len(runs) == 4


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.RTL_MISMATCH, Verdict.NOT_RUN])
def test_no_other_result_runs_again(tmp_path: Path, verdict: Verdict) -> None:
    runs: list[str] = []

    def run(one: SignOffStage, before: Sequence[StageResult]) -> StageResult:
        runs.append(one.name)
        return result(one.name, verdict)

    # What is open alone stays open; a mismatch beside another is one.
    stages = [stage("a"), stage("b", "a")] if verdict is Verdict.UNKNOWN else [stage("a"), stage("b")]
    assert told(stages, run, tmp_path) == [f"a {verdict.value}", f"b {verdict.value}"]
    assert runs == ["a", "b"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_error_stops_what_runs_beside(tmp_path: Path, error: type[BaseException]) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def run(one: SignOffStage, before: Sequence[StageResult]) -> StageResult:
        if one.name == "broken":
            until(begun)
            raise error
        begun.set()
        with away():
            end = time.monotonic() + SECONDS
            while not is_stopping() and time.monotonic() < end:
                time.sleep(0.001)
        if is_stopping():
            stopped.set()
        return result(one.name)

    with pytest.raises(error):
        told([stage("long"), stage("broken")], run, tmp_path)
    assert stopped.is_set()
