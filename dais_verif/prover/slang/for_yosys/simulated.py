"""Check that RTL simulates as settled logic, which other front ends assume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dais_verif.base.errors import InputError
from dais_verif.prover.netlist import Cone, Driver, Signal, refuse_late
from dais_verif.prover.slang.events import EventError, RaceError
from dais_verif.prover.slang.walk import elaborate
from dais_verif.prover.terms import Term, var

__all__ = ["refuse_events"]


def refuse_events(sources: Sequence[Path], top: str, files: Mapping[str, Path]) -> None:
    """Raise ``InputError`` if a block may miss a change, or for delays, races, and clocks assigned with ``<=``.

    RTL that this front end refuses for other reasons is accepted here: the other front end decides about it.
    """
    try:
        netlist = elaborate(sources, top, files)
    except EventError:
        raise
    except InputError:
        return
    drivers = [(signal, driver) for signal in netlist.signals.values() for driver in signal.drivers]
    readers: dict[Signal, list[tuple[Signal, Driver]]] = {}
    races: list[tuple[Signal, Driver, RaceError]] = []
    for signal, driver in drivers:
        try:
            for source in _read_by(driver):
                readers.setdefault(source, []).append((signal, driver))
        except EventError:
            raise
        except RaceError as error:
            races.append((signal, driver, error))
        except InputError:
            continue
    for race in races:
        _refuse_race(*race, readers)
    given = {netlist.signals[name] for name in netlist.inputs}

    def cut(signal: Signal, low: int, width: int) -> Term | None:
        refuse_late(signal, signal.where)
        return var(width, "an input") if signal in given else None

    for clock in {driver.clock.signal for _, driver in drivers if driver.clock is not None}:
        Cone(cut).read(clock, 0, 1)


def _read_by(driver: Driver) -> set[Signal]:
    """Return the signals that a driver reads."""
    found: set[Signal] = set()

    def read(signal: Signal, low: int, width: int) -> Term:
        found.add(signal)
        return var(width, f"{signal.name} {low}")

    driver.make(read)
    return found


def _refuse_race(
    register: Signal, driver: Driver, error: RaceError, readers: Mapping[Signal, list[tuple[Signal, Driver]]]
) -> None:
    """Raise ``error`` if a register of another block reads ``register``, which its own block assigns with ``=``."""
    waiting, done = [register], {register}
    while waiting:
        source = waiting.pop()
        for signal, reader in readers.get(source, ()):
            if reader.clock is not None and (signal not in error.mates or reader.where != driver.where):
                raise error
            if reader.clock is None and signal not in done:
                done.add(signal)
                waiting.append(signal)
