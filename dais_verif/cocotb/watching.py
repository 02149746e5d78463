"""Tasks that watch a design until the test ends, and can then let the test fail."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any

import cocotb
from cocotb.triggers import Event, ValueChange
from cocotb.utils import get_sim_time

__all__ = ["Changes", "LastWord"]


class LastWord(Coroutine[Any, Any, None]):
    """A coroutine that is notified when its task is cancelled, as cocotb does with all tasks at the end of a test.

    ``end`` raises an exception if the test must not pass: cocotb then fails the test, even if the task never began.
    """

    def __init__(self, within: Coroutine[Any, Any, None], end: Callable[[], None]) -> None:
        self._within, self._end = within, end

    def send(self, value: Any) -> Any:
        """Resume the inner coroutine."""
        return self._within.send(value)

    def throw(self, kind: Any, value: BaseException | object = None, traceback: TracebackType | None = None) -> Any:
        """Call ``end`` if this is a cancellation; else pass the exception on."""
        if not isinstance(kind, CancelledError):
            return self._within.throw(kind)
        self._within.close()
        self._end()
        raise kind

    def close(self) -> None:
        """Close the inner coroutine."""
        self._within.close()

    def __await__(self) -> Any:
        return self._within.__await__()


class Changes:
    """Reports when one of ``handles`` or ``others`` changes.

    ``when``: the last time step in which one of ``handles`` changed; initially the current time step.
    """

    def __init__(self, handles: Sequence[Any], others: Sequence[Any] = ()) -> None:
        self._event = Event()
        self.when = int(get_sim_time("step"))
        for handle in handles:
            cocotb.start_soon(self._notice(handle, timed=True))
        for handle in others:
            cocotb.start_soon(self._notice(handle, timed=False))

    async def _notice(self, handle: Any, *, timed: bool) -> None:
        while True:
            await ValueChange(handle)
            if timed:
                self.when = int(get_sim_time("step"))
            self._event.set()

    def clear(self) -> None:
        """Forget all changes so far."""
        self._event.clear()

    async def wait(self) -> None:
        """Return when something has changed since ``clear``."""
        await self._event.wait()
