"""A valid/ready stream in a bench: pauses, expected outputs, and checks of the protocol.

Plain Python without a simulator, one call per clock, so that it can be tested without a simulator.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.base.text import counted

__all__ = ["NEVER", "Beat", "Pauses", "Side", "Sink", "StreamScoreboard"]

#: The number of expected beats that are searched for a beat that is out of order.
_LOOK_AHEAD = 64
#: The number of problems that are kept; a broken stream has one per beat.
_KEPT = 8


class Beat(NamedTuple):
    """One transfer. ``data`` and ``user``: bits, most significant first; ``last``: ``0`` or ``1``."""

    data: str
    last: str
    user: str


@dataclass(frozen=True)
class Pauses:
    """The pauses of a side: the probability per clock to stop while active, and to continue while stopped."""

    stop: float = 0.0
    go: float = 1.0

    def going(self, now: bool, chance: random.Random) -> bool:
        """Return True if the side is active in the next clock."""
        return chance.random() >= self.stop if now else chance.random() < self.go


NEVER = Pauses()


@dataclass
class Side:
    """A side of a stream, with random pauses, and one long stop of ``still`` clocks as soon as it is due."""

    pauses: Pauses
    still: int
    chance: random.Random

    def active(self, now: bool, due: bool, *, counts: bool = True) -> bool:
        """Return True if the side, which is active ``now``, is so in the next clock.

        ``counts``: this clock counts towards the long stop.
        """
        going = self.pauses.going(now, self.chance)
        if due and self.still:
            self.still -= counts
            return False
        return going


class StreamScoreboard:
    """Compares output beats with expected ones, and reports every difference in order, number or content."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Beat]] = deque()
        self._last: tuple[int, Beat] | None = None
        self.problems: list[str] = []
        #: The number of all problems, including those that were not kept.
        self.total = 0
        self.compared = 0
        #: The number of output beats with X or Z.
        self.unknown = 0

    def problem(self, text: str) -> None:
        """Note a problem."""
        self.total += 1
        if len(self.problems) < _KEPT:
            self.problems.append(text)

    def expect(self, number: int, beat: Beat) -> None:
        """Expect ``beat`` as the output of input beat ``number``, which was taken."""
        self._waiting.append((number, beat))

    @property
    def waiting(self) -> int:
        """The number of beats taken but not yet returned."""
        return len(self._waiting)

    def forget(self) -> int:
        """Handle a reset: beats in flight must not come out. Return their number."""
        dropped = len(self._waiting)
        self._waiting.clear()
        self._last = None
        return dropped

    def found(self, beat: Beat) -> None:
        """Check an output beat."""
        self.unknown += any(set(field) - {"0", "1"} for field in beat)
        if not self._waiting:
            again = f", it repeats beat {self._last[0]}" if self._last and self._last[1] == beat else ""
            self.problem(f"a beat came out though none was in flight{again}: {_shown(beat)}")
            return
        number, wanted = self._waiting[0]
        if beat != wanted:
            if self._last is not None and beat == self._last[1]:
                self.problem(f"beat {self._last[0]} came out twice")
                return
            ahead = next((k for k, (_, other) in enumerate(self._waiting) if k < _LOOK_AHEAD and other == beat), 0)
            if ahead:
                lost = ", ".join(str(self._waiting.popleft()[0]) for _ in range(ahead))
                self.problem(f"beat {lost} was lost or overtaken: beat {self._waiting[0][0]} came out first")
            else:
                self.problem(f"beat {number}: {_difference(beat, wanted)}")
        self._last = self._waiting.popleft()
        self.compared += 1

    def finish(self) -> None:
        """Report beats that did not come out, at the end."""
        if self._waiting:
            self.problem(
                f"{counted(len(self._waiting), 'beat')} never came out, the first is beat {self._waiting[0][0]}"
            )


class Sink:
    """Checks on the receiving side: valid holds until ready, the payload is stable until then, nothing is X."""

    def __init__(self, scoreboard: StreamScoreboard, name: str) -> None:
        self._scoreboard = scoreboard
        self._name = name
        #: The beat that was valid at the last edge and not taken.
        self.stalled: Beat | None = None

    def reset(self) -> None:
        """Handle a reset: valid may drop."""
        self.stalled = None

    def clock(self, number: int, valid: str, ready: bool, beat: Beat | None) -> bool:
        """Check one clock edge; return True if a beat was transferred. ``beat`` is None unless ``valid`` is ``1``."""
        name, before = self._name, self.stalled
        self.stalled = None
        if valid not in "01":
            self._scoreboard.problem(f"clock {number}: {name}_tvalid is {valid}")
            return False
        if before is not None and beat is None:
            self._scoreboard.problem(f"clock {number}: {name}_tvalid dropped before {name}_tready")
        elif before is not None and beat is not None and beat != before:
            what = _difference(beat, before)
            self._scoreboard.problem(f"clock {number}: the payload of {name} changed while it was stalled: {what}")
        if beat is None:
            return False
        if ready:
            self._scoreboard.found(beat)
            return True
        self.stalled = beat
        return False


def _difference(found: Beat, wanted: Beat) -> str:
    """Return the fields that differ."""
    fields = (
        ("TDATA", found.data, wanted.data),
        ("TLAST", found.last, wanted.last),
        ("TUSER", found.user, wanted.user),
    )
    return ", ".join(f"{name} is {_hex(a)}, must be {_hex(b)}" for name, a, b in fields if a != b)


def _shown(beat: Beat) -> str:
    return f"TDATA {_hex(beat.data)}, TLAST {beat.last}, TUSER {_hex(beat.user)}"


def _hex(bits: str) -> str:
    """Return bits as a hexadecimal number; unchanged if one of them is X or Z."""
    if len(bits) == 1 or set(bits) - {"0", "1"}:
        return bits
    return f"0x{int(bits, 2):0{(len(bits) + 3) // 4}x}"
