"""The passphrase of a signing key: removed from the environment as soon as a process starts.

Child processes, such as simulators of user RTL, get a copy of the environment; and every process of the same user can
read the initial environment of a process.
"""

from __future__ import annotations

import os

__all__ = ["PASSPHRASE", "passphrase", "take_passphrase"]

PASSPHRASE = "DAIS_VERIF_PASSPHRASE"

_taken: list[str] = []


def take_passphrase() -> None:
    """Remove the passphrase, if any, from the environment, and store it only here."""
    words = os.environ.get(PASSPHRASE)
    if words is not None:
        _wipe()
        del os.environ[PASSPHRASE]
    _taken[:] = [words] if words else []


def passphrase() -> str | None:
    """Return the passphrase taken from the environment, now or at the start. Only the first call returns it."""
    if PASSPHRASE in os.environ:
        take_passphrase()
    return _taken.pop() if _taken else None


def _wipe() -> None:
    """Overwrite the value in the initial environment of the process, where removing a variable leaves its bytes."""
    import ctypes

    find = ctypes.CDLL(None).getenv
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    place = find(PASSPHRASE.encode())
    if place:
        ctypes.memset(place, 0, len(ctypes.string_at(place)))
