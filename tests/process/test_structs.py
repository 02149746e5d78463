"""Records that several threads read at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from dais_verif.base.structs import converted
from dais_verif.record.simulation import SimulationRecord

THREADS, PROCESSES = 4, 12


@pytest.fixture
def hasty() -> Iterator[None]:
    """Let threads take turns as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("hasty")
def test_threads_that_meet_a_type_at_once_read_it() -> None:
    """Each process meets the type for the first time; without the lock, most of them crash."""
    tree = {"verdict": "PASS", "exit_code": 0}

    def read(barrier: threading.Barrier) -> None:
        barrier.wait()
        try:
            converted(tree, SimulationRecord, str_keys=True)
        except Exception as error:
            assert "missing required field" in str(error)

    ended = []
    for _ in range(PROCESSES):
        child = os.fork()
        if child == 0:
            barrier = threading.Barrier(THREADS)
            threads = [threading.Thread(target=read, args=(barrier,)) for _ in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            os._exit(0)
        ended.append(os.waitpid(child, 0)[1])
    assert ended == [0] * PROCESSES


@pytest.mark.usefixtures("hasty")
def test_a_process_that_is_forked_meanwhile_reads_too() -> None:
    """The other thread converts all the time; without the wait, a child would wait for its lock for ever."""
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            converted([{"a": 1}] * 1000, list[dict[str, int]])

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(PROCESSES):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(converted([0], list[int])[0])
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()
