"""Worker processes that end with this process, in whatever way it ends."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType

__all__ = ["without_main", "worker_processes"]

_hiding = threading.Lock()


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Let processes that are started within the block begin without the user's script, which they do not need.

    Otherwise the processes would run the script again. If the script calls this package outside of
    ``if __name__ == "__main__":``, they would start processes, too, and end in a traceback, while the parent waits
    forever to send them work.
    """
    with _hiding:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


class _Process(SpawnProcess):
    def start(self) -> None:
        with without_main():
            super().start()


class _Context(SpawnContext):
    Process = _Process


@contextlib.contextmanager
def worker_processes(
    number: int, begin: Callable[..., object] | None = None, *arguments: object
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of ``number`` processes, each of which calls ``begin`` with ``arguments`` first.

    If the block is left by an exception (Ctrl-C, SIGTERM), running calls are killed immediately. Workers also end with
    this process. Workers of a plain Python pool would outlive a killed parent: each holds the pipe that the others
    read from, so that no worker ever sees its end.
    """
    pool = ProcessPoolExecutor(number, mp_context=_Context(), initializer=_begin, initargs=(begin, arguments))
    try:
        yield pool
    except BaseException:
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.kill()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(begin: Callable[..., object] | None, arguments: tuple[object, ...]) -> None:
    threading.Thread(target=_watch, name="end with parent", daemon=True).start()
    if begin is not None:
        begin(*arguments)


def _watch() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
