"""The stopwatch shows how the time was spent, stage by stage, from any thread."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from dais_verif.base.stopwatch import Stage, Stopwatch


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch(started=100.0)


def test_parts_of_a_stage_are_joined(watch: Stopwatch) -> None:
    """A stage lasts from the first begin to the last end; its busy time is the sum of its parts, which may overlap."""
    watch.add("run", 105.0, 107.0)
    watch.add("run", 106.0, 109.0)
    watch.add("run", 101.0, 102.0)
    assert watch.stages == [Stage("run", 1.0, 9.0, 6.0)]


def test_busy_may_be_less_than_what_passed(watch: Stopwatch) -> None:
    watch.add("compare", 101.0, 105.0, 0.5)
    watch.add("compare", 105.0, 106.0, 0.0)
    assert watch.stages == [Stage("compare", 1.0, 6.0, 0.5)]
    assert watch.seconds("compare") == 0.5


def test_stages_are_in_the_order_in_which_they_began(watch: Stopwatch) -> None:
    watch.add("third", 103.0, 104.0)
    watch.add("second", 101.0, 109.0)
    watch.add("first", 101.0, 102.0)
    watch.add("second", 99.0, 100.0)  # times before the start of the stopwatch are negative
    assert [stage.name for stage in watch.stages] == ["second", "first", "third"]
    assert watch.stages[0].begin == -1.0


def test_a_stage_that_never_was_took_no_time(watch: Stopwatch) -> None:
    assert watch.seconds("nothing") == 0.0
    assert watch.stages == []


def test_a_stage_is_timed() -> None:
    watch = Stopwatch()
    with watch.stage("outer"):
        time.sleep(0.02)
        with watch.stage("inner"):
            time.sleep(0.03)
    outer, inner = watch.stages
    assert (outer.name, inner.name) == ("outer", "inner")
    assert 0.0 <= outer.begin <= inner.begin <= inner.end <= outer.end < 5
    assert inner.busy >= 0.03 and outer.busy >= 0.05
    assert outer.busy == pytest.approx(outer.end - outer.begin)


def test_a_stage_that_fails_is_timed_too() -> None:
    watch = Stopwatch()
    with pytest.raises(KeyError), watch.stage("broken"):
        time.sleep(0.01)
        raise KeyError
    assert watch.seconds("broken") >= 0.01


def test_each_stage_is_told_when_it_begins(watch: Stopwatch) -> None:
    told: list[str] = []
    watch.listen(told.append)
    for name in ("golden", "pack", "golden", "pack"):
        with watch.stage(name):
            assert told[-1] == ("golden" if len(told) == 1 else "pack")
    assert told == ["golden", "pack"]


def test_who_listens_late_is_told_what_has_begun(watch: Stopwatch) -> None:
    told: list[str] = []
    with watch.stage("over"):
        pass
    with watch.stage("under way"):
        watch.listen(told.append)
        assert told == ["over", "under way"]
    with watch.stage("later"), watch.stage("over"):
        assert told == ["over", "under way", "later"]


def test_threads_share_it() -> None:
    """Threads share one stopwatch without loss, even if they switch as often as possible."""
    watch, interval = Stopwatch(started=0.0), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work() -> None:
        for _ in range(500):
            watch.add("shared", 1.0, 2.0, 1.0)
            with watch.stage("own"):
                pass
            assert watch.stages

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert watch.seconds("shared") == 2000.0
