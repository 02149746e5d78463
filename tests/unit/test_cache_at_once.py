"""Runs share the cache of builds: no run sees a partial entry, and one run builds while the others wait."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.builds import KEY, NAMES, key_called, keys, put, wait_until
from support.cache_workers import SPAWN, at_once, hold, put_fetch_and_clear, put_many, put_the_same
from support.said import raises

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import build_cache, process


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DAIS_VERIF_CACHE_MB", raising=False)
    return tmp_path / "cache" / "builds"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a run."""
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


class TestManyAtOnce:
    def test_put_the_same(self, home: Path, tmp_path: Path) -> None:
        """Processes of several threads put the same entries; each entry exists once and is never seen incomplete."""
        at_once(put_the_same, tmp_path, processes=3, threads=3)
        assert sorted(path.name for path in home.iterdir()) == sorted(map(key_called, "xyz"))

    def test_put_fetch_and_clear(self, home: Path, tmp_path: Path) -> None:
        """Each fetch yields a complete entry or nothing, while other threads put and remove the entry."""
        at_once(put_fetch_and_clear, tmp_path, processes=2, threads=4)
        assert {path.name for path in home.iterdir()} <= {KEY}

    def test_shrink(self, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DAIS_VERIF_CACHE_MB", "1")
        at_once(put_many, tmp_path, processes=2, threads=2)
        put(KEY, tmp_path, size=450_000)
        assert KEY in keys() and len(keys()) <= 2
        assert not [path for path in home.iterdir() if path.name.startswith(".passing-")]

    def test_one_that_fails_is_noticed(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(AssertionError):
            at_once(put_the_same, tmp_path / "file", processes=1, threads=2)


class TestTurn:
    def test_lets_one_build_and_the_others_wait(self, folder: Path) -> None:
        """Threads take turns as builds do: the first one builds, and the others find its entry."""
        told: list[str] = []

        def build(number: int) -> None:
            own = folder / f"{number}"
            own.mkdir()
            with build_cache.turn(KEY):
                if build_cache.fetch(KEY, NAMES, own):
                    told.append("found")
                    return
                time.sleep(0.3)
                put(KEY, own)
                told.append("built")

        threads = [threading.Thread(target=build, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert told == ["built", "found", "found", "found"]

    def test_leaves_no_file(self, home: Path) -> None:
        with build_cache.turn(KEY):
            pass
        assert list(home.iterdir()) == []

    def test_is_of_one_key(self) -> None:
        begin = time.monotonic()
        with build_cache.turn("one"), build_cache.turn("other", timeout=60):
            assert time.monotonic() - begin < 30, "one key waited for another"

    def test_comes_when_the_time_is_over(self) -> None:
        with build_cache.turn(KEY):
            for _ in range(2):  # a thread whose wait timed out must not end the turn of the first one
                begin = time.monotonic()
                with build_cache.turn(KEY, timeout=0.3):
                    assert 0.3 <= time.monotonic() - begin < 5

    def test_ends_with_an_error_in_it(self) -> None:
        with pytest.raises(ToolError), build_cache.turn(KEY):
            raise ToolError("no build")
        with in_time(5), build_cache.turn(KEY):
            pass

    def test_of_a_killed_run_is_over(self) -> None:
        ready = SPAWN.Event()
        holder = SPAWN.Process(target=hold, args=(ready,), daemon=True)
        holder.start()
        assert ready.wait(20)
        with build_cache.turn(KEY, timeout=0.2):
            pass
        threading.Timer(0.3, os.kill, (holder.pid, signal.SIGKILL)).start()
        with in_time(5), build_cache.turn(KEY):
            holder.join(5)
            assert holder.exitcode == -signal.SIGKILL
        # The lock file that the killed run left does not block other runs.
        with in_time(5), build_cache.turn(KEY):
            pass

    def test_is_not_waited_for_by_a_run_that_is_stopped(self) -> None:
        def wait() -> None:
            with build_cache.turn(KEY):
                pass

        class Stopped(Exception):
            pass

        with build_cache.turn(KEY), in_time(5):
            with pytest.raises(Stopped), process.workers(1) as pool:
                waiting = pool.submit(wait)
                time.sleep(0.1)
                raise Stopped
            with raises(ToolError):
                waiting.result()


class in_time:
    """Assert that the body of the ``with`` statement takes less than ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        self._begin = time.monotonic()

    def __exit__(self, *_: object) -> None:
        assert time.monotonic() - self._begin < self._seconds


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    wait_until(lambda: threading.active_count() <= before, seconds=5)
