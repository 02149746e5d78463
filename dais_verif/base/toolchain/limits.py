"""Run a tool within limits of time and memory, with progress callbacks."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import SimulatorFailure
from dais_verif.base.toolchain.process import Session, TimeLimitError, describe_exit, last_error
from dais_verif.base.toolchain.tools import in_web_assembly

__all__ = ["Limits", "Tell", "run_limited"]

Tell = Callable[[str], None]

_EXHAUSTED = re.compile(
    r"bad_alloc|out of memory|cannot allocate memory|ABC: .* return code (137|139|134|9|11|6)\b", re.IGNORECASE
)
_END = 20_000


def _allow_more(argument: str) -> str:
    return f"try a smaller program or another target, or allow more with {{{argument}}}"


class Limits(NamedTuple):
    """Limits of a tool: its run time in ``seconds``, and the ``megabytes`` of address space per process (None: any)."""

    seconds: float
    megabytes: int | None


def run_limited(
    tool: str,
    command: Sequence[str],
    log: Path,
    limits: Limits,
    *,
    step: re.Pattern[str] | None = None,
    tell: Tell = lambda step: None,
    advice: Callable[[str], str] = _allow_more,
    made: Sequence[str | Path] = (),
) -> None:
    """Run ``command`` in the folder of its ``log``. Raises ``ToolError`` if it fails or exceeds a limit.

    ``made``: the files that it makes in this folder; also raises if one is missing or empty.

    ``tell`` is called with the text that the first group of ``step`` last matched in the log. ``advice``: takes the
    name of the argument that raises a limit, ``timeout`` or ``memory``, and returns the hint for this limit, in the
    form of ``DaisError.of``.
    """
    if in_web_assembly(Path(command[0])):
        limits = limits._replace(megabytes=None)
    kilobytes = "unlimited" if limits.megabytes is None else str(limits.megabytes * 1024)
    limited = ["/bin/sh", "-c", 'ulimit -v "$1" || exit; shift; exec "$@"', "sh", kilobytes, *command]
    session = Session(log, cwd=log.parent, timeout=limits.seconds)
    session.remove(made)
    with _Follower(log, step, tell):
        try:
            code = session.run(tool, limited)
        except TimeLimitError as error:
            raise SimulatorFailure.of("{error}; " + advice("timeout"), error=error) from None
    if code == 0:
        session.require(tool, made)
        return
    if code == -9 or _EXHAUSTED.search(log.read_text(encoding="utf-8", errors="replace")[-_END:]):
        allowed = "" if limits.megabytes is None else f": a process may take {limits.megabytes} MB"
        text = f"{tool} ran out of memory{allowed} (output: {log})"
        raise SimulatorFailure.of("{text}; " + advice("memory"), text=text)
    raise SimulatorFailure(f"{tool} {describe_exit(code)}: {last_error(log)} (full output: {log})")


class _Follower:
    """Reports the last step in a growing log, from a thread of its own."""

    def __init__(self, log: Path, step: re.Pattern[str] | None, tell: Tell) -> None:
        self._log, self._step, self._tell = log, step, tell
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _follow(self) -> None:
        with self._log.open(encoding="utf-8", errors="replace") as log:
            while self._step is not None and not self._done.wait(0.5):
                steps = self._step.findall(log.read())
                if steps:
                    self._tell(steps[-1].lower())
