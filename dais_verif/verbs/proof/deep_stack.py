"""Run work on a deep stack: designs without names are traversed from outputs to inputs recursively."""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from dais_verif.base.errors import ProofError
from dais_verif.base.verdict import Verdict
from dais_verif.prover.limits import TURN

__all__ = ["Abandoned", "run_deep", "stop_if_abandoned"]

_STACK_BYTES, _DEPTH = 512 << 20, 1_000_000

#: Held while the stack size is changed, which applies to all new threads.
_STARTING = threading.Lock()

_T = TypeVar("_T")


class Abandoned(BaseException):
    """Ends work whose result is not needed any more. Error handlers must not catch it."""


class _DeepThread(threading.Thread):
    abandoned = False


def stop_if_abandoned() -> None:
    """Raise ``Abandoned`` in work whose caller was interrupted."""
    if getattr(threading.current_thread(), "abandoned", False):
        raise Abandoned


def run_deep(work: Callable[[], _T]) -> _T:
    """Call ``work`` in a separate thread, when it is its turn to prove, and return its result.

    Raises ``InputError`` if the stack of the thread is not deep enough.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with TURN, _settings():
                results.append(work())
        except RecursionError:
            errors.append(
                ProofError(
                    "expressions of the RTL are nested too deeply for the prover: a loop of many iterations that "
                    "each depend"
                    " on the one before, or a very long chain of logic; divide it by registers or modules"
                )
            )
        except BaseException as error:
            errors.append(error)

    thread = _DeepThread(target=run, daemon=True)
    try:
        with _STARTING:
            size = threading.stack_size(_STACK_BYTES)
            try:
                thread.start()
            finally:
                threading.stack_size(size)
        while thread.is_alive():  # wakes up regularly, to react to Ctrl-C
            thread.join(0.1)
    except KeyboardInterrupt:
        thread.abandoned = True
        atexit.register(_leave, thread)  # wait until the thread notices: its objects must not be destroyed earlier
        raise
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def _settings() -> Iterator[None]:
    """Allow deep recursion, without garbage collection: a proof is one growing graph without cycles."""
    limit, collecting = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(_DEPTH)
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collecting:
            gc.enable()


def _leave(thread: threading.Thread) -> None:
    if not thread.is_alive():
        return
    for child in multiprocessing.active_children():
        child.kill()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(Verdict.INTERRUPTED.exit_code)
