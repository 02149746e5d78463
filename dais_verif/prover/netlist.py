"""The RTL as signals with drivers, and the fan-in cone of a signal as one term.

A driver becomes a term only on first use, over the variables of its reader. Two ops of the same shape therefore get the
same term, although their signals have different names.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from dais_verif.base.errors import StateError, UnsupportedVerilog
from dais_verif.prover.four_state import parts, rebuild
from dais_verif.prover.limits import require_time
from dais_verif.prover.terms import Term, concat, extract, nodes, undefined

__all__ = [
    "Bits",
    "Clock",
    "Cone",
    "Driver",
    "Netlist",
    "NoValue",
    "Read",
    "Signal",
    "bits_over",
    "driver_of",
    "refuse_late",
]

#: Called with (signal, low, width): returns bits ``low .. low + width - 1`` of the signal.
Read = Callable[["Signal", int, int], Term]

#: Called with (read, low, width): returns bits ``low .. low + width - 1`` of some value, over the signals it reads.
Bits = Callable[[Read, int, int], Term]


class NoValue(UnsupportedVerilog):
    """The RTL assigns X or Z at ``where``; ``name``: the assigned signal, if the caller knows it."""

    def __init__(self, where: str, name: str | None = None) -> None:
        self.where = where
        given = "" if name is None else f"signal {name!r} is given X or Z: "
        super().__init__(f"{where}: {given}X and Z have no value; the proof refuses them")


class Clock(NamedTuple):
    """The clock of a register: it loads at rising edges of ``signal`` at which ``enable``, if any, is 1.

    ``resets``: asynchronous set and reset signals, each with the value at which it is inactive. ``falling``: the edges
    are falling ones.
    """

    signal: Signal
    enable: Signal | None = None
    resets: tuple[tuple[Signal, int], ...] = ()
    falling: bool = False


class Driver(NamedTuple):
    """The driver of bits ``low .. low + width - 1`` of a signal: ``make`` returns them, over the signals it reads.

    ``clock``: the clock of a register, which holds the value after an edge; None: combinational logic. ``part``:
    returns some of the bits, and reads only what these bits depend on; None: ``make`` must be called for any of the
    bits. ``late``: the bits change after all other events of the same time step, so registers that they clock see
    values that other registers loaded at the same edge. ``executed``: a procedure was executed symbolically before any
    term was requested, so values that cancel out are not read.
    """

    low: int
    width: int
    make: Callable[[Read], Term]
    where: str
    clock: Clock | None = None
    part: Bits | None = None
    late: bool = False
    executed: bool = False


def driver_of(
    bits: Bits, place: int, width: int, low: int, where: str, clock: Clock | None = None, executed: bool = False
) -> Driver:
    """Return a driver of ``width`` bits of a signal, from bit ``low`` on, with bits ``place`` and up of a value."""

    def make(read: Read) -> Term:
        return bits(read, place, width)

    def part(read: Read, first: int, count: int) -> Term:
        return bits(read, place + first, count)

    return Driver(low, width, make, where, clock, part, executed=executed)


def bits_over(
    term: Term,
    sources: Mapping[Term, tuple[Signal, int]],
    unknown: Mapping[Term, tuple[Signal, int]] = MappingProxyType({}),
) -> Bits:
    """Return a function that gives bits of ``term``, whose variables stand for bits of signals.

    ``sources``: for each variable, the signal, and the lowest bit of the signal for which it stands. ``unknown``: the
    same for variables that mark undefined bits of signals; variables of ``sources`` then stand for the defined bits.
    """

    def given(x: Term, read: Read, low: int, width: int) -> Term:
        signal, first = sources[x] if x in sources else unknown[x]
        found = read(signal, first + low, width)
        if not unknown:
            return found
        return parts(found).unknown if x in unknown else parts(found).value

    def bits(read: Read, low: int, width: int) -> Term:
        piece = extract(term, low, width)
        order = nodes(piece)
        replaced: dict[Term, Term] = {}
        for t in order:
            if t.op == "extract" and (t.args[0] in sources or t.args[0] in unknown):
                replaced[t] = given(t.args[0], read, t.low, t.width)
        for x in dict.fromkeys([piece, *(x for t in order if t not in replaced for x in t.args)]):
            if x in sources or x in unknown:
                replaced[x] = given(x, read, 0, x.width)
        return rebuild(piece, replaced)

    return bits


class Signal:
    """A net or variable of ``width`` bits, compared by identity.

    ``name``: its path below the top module. ``hidden``: a front end made it, so its name is not in the RTL.
    """

    __slots__ = ("drivers", "hidden", "name", "where", "width")

    def __init__(self, name: str, width: int, where: str, hidden: bool = False) -> None:
        self.name, self.width, self.where, self.hidden = name, width, where, hidden
        #: The drivers, from the lowest bits to the highest.
        self.drivers: list[Driver] = []

    def __repr__(self) -> str:
        return f"<Signal {self.name}>"

    def drive(self, driver: Driver) -> None:
        """Add a driver. Raises ``InputError`` if one of its bits is driven already."""
        place = bisect_right(self.drivers, driver.low, key=_low)
        for other in self.drivers[max(place - 1, 0) : place + 1]:  # only its neighbours can overlap
            if driver.low < other.low + other.width and other.low < driver.low + driver.width:
                bit = max(driver.low, other.low)
                raise UnsupportedVerilog(
                    f"{driver.where}: bit {bit} of signal {self.name!r} is also driven at {other.where};"
                    " give every bit one driver"
                )
        self.drivers.insert(place, driver)

    def driving(self, low: int, width: int) -> Iterator[Driver]:
        """Yield the drivers of bits ``low .. low + width - 1``, from the lowest on."""
        for number in range(max(bisect_right(self.drivers, low, key=_low) - 1, 0), len(self.drivers)):
            driver = self.drivers[number]
            if driver.low >= low + width:
                return
            if low < driver.low + driver.width:
                yield driver


class Signals(dict[str, Signal]):
    """Signals by unique name.

    A path of instances and an escaped name of the RTL may be the same text. The names of the two signals must differ
    all the same, since variables of terms are identified by name.
    """

    def __init__(self) -> None:
        super().__init__()
        self._names: set[str] = set()

    def new(self, name: str, width: int, where: str, hidden: bool = False) -> Signal:
        """Return a new signal with a unique name, without adding it."""
        own, number = name, 1
        while own in self._names:  # no Verilog name contains a blank
            number += 1
            own = f"{name} {number}"
        self._names.add(own)
        return Signal(own, width, where, hidden)


def refuse_late(clock: Signal, where: str) -> None:
    """Raise ``InputError`` if ``clock`` changes later in a time step than the clocks of other registers."""
    if any(driver.late for driver in clock.drivers):
        raise UnsupportedVerilog(
            f"{where}: clock {clock.name!r} is assigned with <=, so its registers see new values of other registers at"
            " the same edge; drive it with assign"
        )


def _low(driver: Driver) -> int:
    return driver.low


class Netlist(NamedTuple):
    """An elaborated design: its signals by name, ports among them.

    ``bitwise``: the signals of the top module are single bits, as in a synthesized netlist. ``included``: the files
    that its sources include. ``lazy``: no term was made while the design was read, so the caller chooses the rules for
    terms. ``left_out``: assertions that are not proved; more may be added when terms of drivers are made. ``suspect``:
    sets whether blocks are executed as if any value may be undefined, and returns the previous setting. ``power_up``:
    initial values of signals, undefined where the RTL gives none. ``conditions``: the conditions of branches and the
    comparisons that were met so far, even those that no value needs. ``doubts``: the variables that select other
    readings of operators, which were met so far.
    """

    top: str
    signals: dict[str, Signal]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    bitwise: bool = False
    included: tuple[Path, ...] = ()
    lazy: bool = False
    left_out: Mapping[str, None] = {}
    suspect: Callable[[bool], bool] = bool
    power_up: Mapping[Signal, Term] = {}
    conditions: Mapping[Term, None] = {}
    doubts: Mapping[Any, Term] = {}

    def checked(self) -> Netlist:
        """Return this netlist. Raises ``InputError`` if the design drives one of its inputs."""
        for name in self.inputs:
            for driver in self.signals[name].drivers:
                raise UnsupportedVerilog(
                    f"{driver.where}: input {name!r} is driven within the module; drive outputs only"
                )
        return self


def _undriven(signal: Signal, low: int, width: int) -> Term:
    bits = range(low + width - 1, low - 1, -1)
    return concat(*(undefined(1, f"bit {bit} of signal {signal.name!r}, which has no driver") for bit in bits))


class Cone:
    """Terms of signals over cut points.

    ``cut``: returns the term that stands for some bits of a signal, or None to continue with its drivers.
    """

    def __init__(self, cut: Callable[[Signal, int, int], Term | None]) -> None:
        self._cut = cut
        self._driven: dict[tuple[Signal, int, int], Term] = {}
        self._open: dict[tuple[Signal, int, int], None] = {}

    def behind(self, signal: Signal) -> Term:
        """Return the term that drives ``signal``, even if it is a cut point."""
        return self._gathered(signal, 0, signal.width)

    def read(self, signal: Signal, low: int, width: int) -> Term:
        """Return bits ``low .. low + width - 1`` of ``signal``; those without a driver are undefined.

        Raises ``StateError`` for loops, ``InputError`` for X or Z.
        """
        cut = self._cut(signal, low, width)
        return cut if cut is not None else self._gathered(signal, low, width)

    def _gathered(self, signal: Signal, low: int, width: int) -> Term:
        parts: list[Term] = []
        place = low
        for driver in signal.driving(low, width):
            first, last = max(place, driver.low), min(low + width, driver.low + driver.width)
            if place < first:
                parts.append(_undriven(signal, place, first - place))
            parts.append(self._made(signal, driver, first - driver.low, last - first))
            place = last
        if place < low + width:
            parts.append(_undriven(signal, place, low + width - place))
        return concat(*reversed(parts))

    def _made(self, signal: Signal, driver: Driver, low: int, width: int) -> Term:
        """Return bits of a driver, from the cache if their term was made before."""
        whole = driver.part is None or width == driver.width
        key = (signal, driver.low, driver.width) if whole else (signal, driver.low + low, width)
        known = self._driven.get(key)
        if known is None:
            known = self._driven[key] = self._new(key, driver, low, width)
        return extract(known, low, width) if whole else known

    def _new(self, key: tuple[Signal, int, int], driver: Driver, low: int, width: int) -> Term:
        signal, _, made = key
        require_time()
        if key in self._open:
            raise self._loop(signal)
        self._open[key] = None
        try:
            if driver.part is None or made == driver.width:
                term = driver.make(self.read)
            else:
                term = driver.part(self.read, low, width)
        except NoValue as error:
            if signal.hidden:
                raise
            raise UnsupportedVerilog(str(NoValue(error.where, signal.name))) from None
        del self._open[key]
        if term.width != made:
            raise AssertionError(f"{signal.name}: {term.width} bits of {made}")
        return term

    def _loop(self, signal: Signal) -> StateError:
        """Return an error that names the signals of the loop that ``signal`` closes, hidden ones only if all are."""
        path = [s for s, _, _ in self._open]
        loop = path[path.index(signal) :]
        named = [s for s in loop if not s.hidden] or loop
        names = [s.name for s in (*named, named[0])]
        shown = " <- ".join(names if len(names) <= 8 else [*names[:6], "...", names[-1]])
        if any(driver.clock for s in loop for driver in s.drivers):
            text = f"register {names[0]!r} keeps state: its next value depends on its own ({shown})"
            return StateError(f"{named[0].where}: {text}; the proof supports pipelines only")
        return StateError(f"{named[0].where}: signal {names[0]!r} depends on itself ({shown}); break the loop")
