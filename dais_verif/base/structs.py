"""Convert data into typed values by msgspec, in one thread at a time.

When msgspec meets a type for the first time, it keeps what it knows about it before that is complete; another thread
that converts to the same type then crashes the process. A process that is forked meanwhile would never get the lock:
therefore a fork waits until the conversion ends.
"""

from __future__ import annotations

import os
import threading
from typing import Any, TypeVar

__all__ = ["converted", "decoded"]

_Kind = TypeVar("_Kind")
_lock = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def converted(tree: Any, kind: type[_Kind], **options: Any) -> _Kind:
    """Return ``tree`` as a value of ``kind``. ``options``, errors: those of ``msgspec.convert``."""
    import msgspec  # imported only for reading, so that commands that print a record need not wait for it

    with _lock:
        found: _Kind = msgspec.convert(tree, kind, **options)
    return found


def decoded(text: bytes | str, kind: type[_Kind]) -> _Kind:
    """Return the JSON ``text`` as a value of ``kind``. Raises what ``msgspec.json.decode`` raises."""
    import msgspec

    with _lock:
        return msgspec.json.decode(text, type=kind)
