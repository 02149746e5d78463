"""Run a command of dais-verif as a user would, in a separate process, and keep its output.

For its runs, a sign-off uses only what users can use: the commands, their options and their records.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from types import MappingProxyType

import dais_verif
from dais_verif.base.errors import CertificateError, CertificateFailure, InputError
from dais_verif.base.files import make_folder, read_plain, write_atomically
from dais_verif.base.own_command import NO_DEFAULTS
from dais_verif.base.toolchain.process import is_stopping
from dais_verif.base.toolchain.verilator_runtime import PARANOID

__all__ = ["CALL", "PRINTED", "RUN", "Call", "away", "call", "in_turn", "own_cache", "read_call"]

#: Names in the folder of a call: its arguments and exit code, its output, and the command's own folder (``-o``).
CALL, PRINTED, RUN = "call.json", "printed.json", "run"

_MESSAGES = "messages.txt"

#: Like ``python -m dais_verif``, but always with the running package, whatever the current folder contains.
_START = (
    "import sys; sys.path[:] = [*filter(None, sys.path), {parent!r}]; "
    "from dais_verif.doors.cli.main import main; main()"
)

#: No build is kept: each simulation that must pass is built for itself.
_NO_BUILDS = {"DAIS_VERIF_CACHE_MB": "0"}

#: The variables that select the cache of the running sign-off.
_cache: ContextVar[Mapping[str, str]] = ContextVar("cache", default=MappingProxyType({}))

#: The turn of this thread's stage, if stages run side by side.
_turn: ContextVar[Lock | None] = ContextVar("turn", default=None)

_PATIENCE = 20.0
_LOOK_SECONDS = 0.01


@dataclass(frozen=True)
class Call:
    """A command that was run. ``seconds``: its wall time."""

    arguments: list[str]
    exit_code: int
    seconds: float


@contextmanager
def in_turn(turn: Lock) -> Iterator[None]:
    """Run the block while no other block with the same ``turn`` runs, except while one of them waits for a command."""
    with turn:
        before = _turn.set(turn)
        try:
            yield
        finally:
            _turn.reset(before)


@contextmanager
def away() -> Iterator[None]:
    """Let other stages take their turn during the block."""
    turn = _turn.get()
    if turn is None:
        yield
        return
    turn.release()
    try:
        yield
    finally:
        turn.acquire()


@contextmanager
def own_cache(folder: Path, *, paranoid: bool = False) -> Iterator[None]:
    """Use ``folder`` as the cache of commands that are called in the block; empty it first, and remove it at the end.

    The usual cache is not trusted, since it may hold code from every user who can write to it. ``paranoid``: the
    commands do not use the installed runtime of Verilator either.
    """
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    folder.chmod(0o700)
    if any(folder.iterdir()):
        raise CertificateError(f"{str(folder)!r} cannot be emptied; choose another folder with -o")
    told = {"DAIS_VERIF_CACHE": str(folder.absolute()), **({PARANOID: "1"} if paranoid else {})}
    before = _cache.set(told)
    try:
        yield
    finally:
        _cache.reset(before)
        shutil.rmtree(folder, ignore_errors=True)


def call(verb: str, arguments: Sequence[str], folder: Path, *, keeps: bool = True, builds: bool = False) -> Call:
    """Run the command ``verb`` with ``arguments`` and ``--json``, and keep everything in ``folder``.

    ``keeps``: the command gets a folder of its own with ``-o``. ``builds``: its builds are kept in the cache of this
    sign-off, and taken from there. Any verdict is accepted. Raises ``ToolError`` if the command cannot be started, and
    ``KeyboardInterrupt`` if the sign-off has been interrupted in another thread.
    """
    make_folder(folder)
    shutil.rmtree(folder / RUN, ignore_errors=True)
    if keeps:
        arguments = [*arguments, "-o", str(folder / RUN)]
    arguments = [verb, *arguments, "--json"]
    start = _START.format(parent=str(Path(dais_verif.__file__).parents[1]))
    begin = time.monotonic()
    with (folder / PRINTED).open("wb") as printed, (folder / _MESSAGES).open("wb") as messages:
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", start, *arguments],
                env={**os.environ, **NO_DEFAULTS, **({} if builds else _NO_BUILDS), **_cache.get()},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=messages,
                start_new_session=True,  # this process receives Ctrl-C, and stops the command
            )
        except OSError as error:
            raise CertificateFailure(f"{sys.executable} cannot be started: {error.strerror}") from None
        try:
            with away():
                while process.poll() is None:
                    if is_stopping():
                        raise KeyboardInterrupt
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_LOOK_SECONDS)
        except BaseException:
            _stop(process)
            raise
    done = Call(arguments, process.returncode, round(time.monotonic() - begin, 3))
    write_atomically(folder / CALL, json.dumps(asdict(done), indent=2).encode())
    _tidy(folder / RUN)
    return done


def read_call(folder: Path) -> Call:
    """Return the call in ``folder``. Raises ``InputError`` if its description is missing or unreadable."""
    path = folder / CALL
    try:
        return Call(**json.loads(read_plain(path, 1 << 24)))
    except (InputError, ValueError, TypeError) as error:
        raise CertificateError(f"{str(path)!r} does not record how a command was run ({error})") from None


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process. It gets some time to stop its simulators and to remove its temporary files."""
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _tidy(run: Path) -> None:
    """Remove files that are not evidence: locks, links, and builds, which are large. Logs of builds are kept."""
    for path in [path for path in run.rglob("*") if path.name == ".lock" or path.is_symlink()]:
        path.unlink()
    for built in [path for folder in run.rglob("build") if folder.is_dir() for path in folder.iterdir()]:
        if built.is_dir():
            shutil.rmtree(built, ignore_errors=True)
        elif built.name != "build.log":
            built.unlink(missing_ok=True)
