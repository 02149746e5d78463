"""Ctrl-C and SIGTERM, delayed while the main thread imports a module.

An interrupt between two lines of Python's import system can leave its lock taken. Then every thread that imports a
module waits forever, and so does every thread that waits for such a thread.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

__all__ = ["take_interrupts"]

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
