"""Find the undefined bits behind an output: undriven ones, and X or Z that the RTL assigns."""

from __future__ import annotations

from collections.abc import Iterable

from dais_verif.errors import InputError
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.netlist import NoValue, Signal
from dais_verif.prover.terms import Term, leaves, var

__all__ = ["undefined_behind"]

#: The largest number of drivers that are looked at.
_MOST = 200_000


def undefined_behind(boundary: Boundary, outputs: Iterable[int]) -> list[str]:
    """Return the undefined values, in words, on which ``outputs`` may depend; registers are looked through."""
    waiting: list[tuple[Signal, int, int]] = []

    def note(signal: Signal, low: int, width: int) -> Term:
        waiting.append((signal, low, width))
        return var(width, f"bits {low} of {signal.name}")

    for number in outputs:
        boundary.result(number, note)
    seen: set[tuple[Signal, int, int]] = set()
    found: dict[str, None] = {}
    while waiting and len(seen) < _MOST:
        asked = signal, low, width = waiting.pop()
        if asked in seen or boundary.is_input(signal):
            continue
        seen.add(asked)
        place = low
        for driver in signal.driving(low, width):
            first, last = max(place, driver.low), min(low + width, driver.low + driver.width)
            found |= dict.fromkeys(_undriven(signal, place, first))
            try:
                part = driver.part
                term = driver.make(note) if part is None else part(note, first - driver.low, last - first)
                found |= {str(t.data): None for t in leaves(term) if t.op == "undefined"}
            except NoValue as error:
                found[f"X or Z at {error.where}"] = None
            except InputError:  # what cannot be read is no cause that is known
                pass
            place = last
        found |= dict.fromkeys(_undriven(signal, place, low + width))
    return [*found]


def _undriven(signal: Signal, first: int, last: int) -> list[str]:
    return [f"bit {bit} of signal {signal.name!r}, which has no driver" for bit in range(first, last)]
