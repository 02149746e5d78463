"""Work that separate processes do on the cache of builds.

Each process is a new interpreter: other tests may have left threads in this one (those of JAX, for example), and a fork
of such a process may wait for ever for a lock that one of them held.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path

from dais_verif.base.toolchain import build_cache
from support.builds import KEY, NAMES, built, key_called, put

SPAWN = multiprocessing.get_context("spawn")

#: A function that works in the folder given; the second argument is the number of the thread in its process.
Work = Callable[[Path, int], None]


def at_once(work: Work, folder: Path, *, processes: int, threads: int) -> None:
    """Run ``work`` in ``processes`` processes of ``threads`` threads each, and assert that all of them succeed."""
    # Daemons end with this process: a worker that hangs fails the test and does not block it.
    children = [SPAWN.Process(target=_in_threads, args=(work, folder, threads), daemon=True) for _ in range(processes)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * processes


def _in_threads(work: Work, folder: Path, threads: int) -> None:
    failures: list[BaseException] = []

    def one(number: int) -> None:
        try:
            work(folder / f"{os.getpid()}" / f"{number}", number)
        except BaseException as error:
            failures.append(error)
            raise

    running = [threading.Thread(target=one, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    sys.exit(1 if failures else 0)


def put_the_same(own: Path, number: int) -> None:
    for key in ("x", "y", "z") * 4:
        put(key, own)
        assert build_cache.fetch(key_called(key), NAMES, built(own))
        assert ((own / "simulation").read_text(), (own / "build.log").read_text()) == (key, f"log of {key}")


def put_fetch_and_clear(own: Path, number: int) -> None:
    own.mkdir(parents=True)
    for _ in range(40):
        if number == 0:
            build_cache.clear()
        elif number == 1:
            put(KEY, own)
        elif build_cache.fetch(KEY, NAMES, own):
            assert ((own / "simulation").read_text(), (own / "build.log").read_text()) == (KEY, f"log of {KEY}")
        else:
            assert list(own.iterdir()) == []


def put_many(own: Path, number: int) -> None:
    for key in range(5):
        put(f"{os.getpid()}-{number}-{key}", own, size=450_000)


def hold(ready: Event) -> None:
    with build_cache.turn(KEY):
        ready.set()
        time.sleep(60)
