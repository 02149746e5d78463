"""Whether RTL simulates as the settled logic that another front end reads in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dais_verif.errors import InputError
from dais_verif.prove.netlist import Cone, Signal, refuse_late
from dais_verif.prove.slang.events import EventError
from dais_verif.prove.slang.walk import elaborate
from dais_verif.prove.terms import Term, var

__all__ = ["refuse_events"]


def refuse_events(sources: Sequence[Path], top: str, files: Mapping[str, Path]) -> None:
    """Raise ``EventError`` if the RTL need not run when a signal changes, has delays, or is clocked late.

    RTL that this front end does not take for other reasons is left to the other one.
    """
    try:
        netlist = elaborate(sources, top, files)
    except EventError:
        raise
    except InputError:
        return
    drivers = [driver for signal in netlist.signals.values() for driver in signal.drivers]
    for driver in drivers:
        try:
            driver.make(_anything)
        except EventError:
            raise
        except InputError:
            continue
    given = {netlist.signals[name] for name in netlist.inputs}

    def cut(signal: Signal, low: int, width: int) -> Term | None:
        refuse_late(signal, signal.where)
        return var(width, "an input") if signal in given else None

    for clock in {driver.clock.signal for driver in drivers if driver.clock is not None}:
        Cone(cut).read(clock, 0, 1)


def _anything(signal: Signal, low: int, width: int) -> Term:
    return var(width, f"{signal.name} {low}")
