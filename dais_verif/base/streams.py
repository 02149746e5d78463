"""Prepare the standard streams of a command: all are open, and accept every file name; readers may end early."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from types import FrameType

__all__ = ["drop_output", "open_streams", "take_interrupts"]


def open_streams() -> None:
    """Connect closed standard streams to the null device, and let the others write every file name.

    Otherwise the next opened file would get the number of the closed stream, and printed text would go to that file.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # the terminal's encoding may not have all characters of file names
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Send further output to the null device, since its reader has ended, or its disk is full."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
        sys.stdout.flush()


# Ctrl-C and SIGTERM, delayed while the main thread imports a module.
#
# An interrupt between two lines of Python's import system can leave its lock taken. Then every thread that imports a
# module waits forever, and so does every thread that waits for such a thread.


_IMPORT_SYSTEM = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_AGAIN_SECONDS = 0.02


def take_interrupts(*numbers: signal.Signals) -> None:
    """Let Ctrl-C and SIGTERM raise ``KeyboardInterrupt`` in the main thread, but not during an import.

    Signals that are ignored, for example in the background of a shell, stay ignored.
    """
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _importing(frame):
        again = threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
        return
    raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename in _IMPORT_SYSTEM:
            return True
        frame = frame.f_back
    return False
