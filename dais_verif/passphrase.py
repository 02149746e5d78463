"""The passphrase of a signing key: taken out of the environment as soon as a process starts.

What a process starts has a copy of its environment, simulators of user RTL among them; and all that the same user
runs can read the environment that a process began with.
"""

from __future__ import annotations

import os

__all__ = ["PASSPHRASE", "passphrase", "take_passphrase"]

PASSPHRASE = "DAIS_VERIF_PASSPHRASE"

_taken: list[str] = []


def take_passphrase() -> None:
    """Take the passphrase out of the environment, and remember it here alone; none, if there is none."""
    words = os.environ.get(PASSPHRASE)
    if words is not None:
        _wipe()
        del os.environ[PASSPHRASE]
    _taken[:] = [words] if words else []


def passphrase() -> str | None:
    """Return the passphrase that the environment held when it was taken, or holds now; it is given out once."""
    if PASSPHRASE in os.environ:
        take_passphrase()
    return _taken.pop() if _taken else None


def _wipe() -> None:
    """Overwrite the value where the process began with it: to remove a variable leaves its bytes there."""
    import ctypes

    find = ctypes.CDLL(None).getenv
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    place = find(PASSPHRASE.encode())
    if place:
        ctypes.memset(place, 0, len(ctypes.string_at(place)))
