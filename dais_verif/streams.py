"""Prepare the standard streams of a command: all are open, and accept every file name; readers may end early."""

from __future__ import annotations

import contextlib
import io
import os
import sys

__all__ = ["drop_output", "open_streams"]


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
