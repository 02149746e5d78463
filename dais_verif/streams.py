"""Prepare the standard streams of a command: each is open, accepts every file name, and may lose its reader."""

from __future__ import annotations

import contextlib
import io
import os
import sys

__all__ = ["drop_output", "open_streams"]


def open_streams() -> None:
    """Give each standard stream that is closed the null device, and let the others write every file name.

    Else the next file that is opened would take its number, and what is printed would end up in that file.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a file name may hold what the terminal's encoding does not
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Send further output to the null device: its reader has ended, or its disk is full."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
        sys.stdout.flush()
