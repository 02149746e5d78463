"""Latency analysis: how many registers lie between the inputs and a signal, in clock edges.

If everything on which a signal depends has the same latency, the signal is a function of one vector: the same function
that it would be if all registers were wires. A pipeline is then proved as combinational logic, and its latency is the
latency of its outputs.

A register that loads only constants holds them only after an edge: it *settles*, one edge later for each such register
in a row. A vector may follow a reset immediately. Where such a vector has latency N, only N edges may have passed since
the reset, and signals that settle later do not have their values yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dais_verif.base.errors import InputError, LatencyError, RegisterError, StateError
from dais_verif.base.text import counted
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.registers.clock_gating import PinReader
from dais_verif.prover.netlist import Clock, Driver, Netlist, Signal
from dais_verif.prover.terms import Term, var
from dais_verif.record.proof import Timing

__all__ = ["OutOfStep", "ages_of", "infer_timing", "untimely_registers"]

#: The largest number of registers of which it is asked whether they are out of step.
_ASKED = 100


class OutOfStep(LatencyError):
    """Registers are not in step. The design is probably wrong; a simulation shows whether it is.

    ``signal``: where vectors of different clock edges meet.
    """

    signal: Signal | None = None


def infer_timing(
    netlist: Netlist, boundary: Boundary, others: list[Signal], said: Clocking | None = None
) -> Timing | None:
    """Return the timing of a pipeline; None if there are no registers and ``said`` is None.

    ``others``: further signals that must have a single latency. ``said``: the pins, if the user gives them. Raises
    ``OutOfStep`` if signals of different latency are combined, if there are several clocks or enables, or if they
    differ from ``said``; ``StateError`` if a signal depends on itself.
    """
    if not any(driver.clock for signal in netlist.signals.values() for driver in signal.drivers):
        return None if said is None else Timing(0, said.clock, said.enable)
    valid = None if said is None or said.valid_in is None else netlist.signals.get(said.valid_in)
    analysis = _LatencyAnalysis(netlist, boundary, valid)
    for signal in others:
        analysis.of(signal, 0, signal.width)
    latency = analysis.of_outputs()
    for what, names in (("clocks", analysis.clocks), ("clock enables", analysis.enables)):
        if len(names) > 1:
            shown = ", ".join(sorted(name or "none" for name in names))
            raise OutOfStep(
                f"registers of module {netlist.top!r} have different {what}: {shown}; the proof supports one"
            )
    if len(analysis.falling) > 1:
        raise OutOfStep(
            f"registers of module {netlist.top!r} load at edges of a clock and of its inverse, which simulators order"
            " differently; use one of them for all registers"
        )
    if not analysis.clocks:
        return None if said is None else Timing(0, said.clock, said.enable)  # registers that nothing reads
    timing = Timing(latency or 0, next(iter(analysis.clocks)), next(iter(analysis.enables), None))
    for what, pin, found in (
        ()
        if said is None
        else (
            ("clock", said.clock, timing.clock),
            ("clock enable", said.enable, timing.enable),
        )
    ):
        if pin != found:
            raise OutOfStep(f"the {what} of module {netlist.top!r} is {found or 'none'}, not {pin or 'none'} as given")
    return timing


class _Latency(NamedTuple):
    """Latency of a signal, in edges.

    ``vector``: edges since the vector was at the inputs; None for constants. ``settles``: edges until constants have
    their values.
    """

    vector: int | None
    settles: int = 0


def untimely_registers(netlist: Netlist, boundary: Boundary, said: Clocking | None = None) -> list[tuple[Signal, int]]:
    """Return registers with the edges, 1 or -1, that they lack: with these, all would be in step.

    The last one is that at which vectors of different edges meet, with 0 edges. The likelier ones come first: those
    that read what a register reads whose value nothing needs. Empty if all are in step. Raises ``InputError`` as
    ``infer_timing`` does, but for registers that are out of step.
    """
    valid = None if said is None or said.valid_in is None else netlist.signals.get(said.valid_in)
    wanted = None if said is None else said.latency
    reads: _Reads = {}

    meeting: list[Signal] = []

    def in_step(moved: Mapping[Signal, int]) -> bool:
        try:
            latency = _LatencyAnalysis(netlist, boundary, valid, moved, reads).of_outputs()
        except OutOfStep as error:
            if not moved and error.signal is not None:
                meeting.append(error.signal)
            return False
        return wanted is None or latency is None or latency == wanted

    if in_step({}):
        return []
    registers = [signal for signal, _ in reads if any(driver.clock for driver in signal.drivers)]
    asked = list(dict.fromkeys(registers))[:_ASKED]
    found = [(signal, edges) for signal in asked for edges in (1, -1) if in_step({signal: edges})]
    found += [(signal, 0) for signal in meeting]
    unread = {
        source
        for signal in netlist.signals.values()
        for driver in signal.drivers
        if driver.clock is not None and (signal, driver.low) not in reads
        for source in _sources(driver)
    }
    return sorted(found, key=lambda one: not any(_reads_one(one[0], unread)))


def ages_of(netlist: Netlist, boundary: Boundary, said: Clocking | None, asked: Sequence[Signal]) -> list[int | None]:
    """Return how many edges after its vector each signal has its value; None if it has several ages, or none."""
    valid = None if said is None or said.valid_in is None else netlist.signals.get(said.valid_in)
    reads: _Reads = {}
    found: list[int | None] = []
    for signal in asked:
        try:
            analysis = _LatencyAnalysis(netlist, boundary, valid, reads=reads)
            found.append(analysis.of(signal, 0, signal.width).vector)
        except InputError:
            found.append(None)
    return found


def _sources(driver: Driver) -> Iterator[Signal]:
    found: list[Signal] = []

    def read(source: Signal, low: int, width: int) -> Term:
        found.append(source)
        return var(width, "some latency")

    driver.make(read)
    yield from found


def _reads_one(signal: Signal, sources: set[Signal]) -> Iterator[bool]:
    yield from (source in sources for driver in signal.drivers for source in _sources(driver))


#: What the driver of a signal from a bit on reads: signals, and the lowest bits and widths of what is read.
_Reads = dict[tuple[Signal, int], list[tuple[Signal, int, int]]]


class _LatencyAnalysis:
    """``moved``: edges to add to the latency of registers; ``reads``: what earlier analyses of the netlist found."""

    def __init__(
        self,
        netlist: Netlist,
        boundary: Boundary,
        valid: Signal | None,
        moved: Mapping[Signal, int] | None = None,
        reads: _Reads | None = None,
    ) -> None:
        self._netlist, self._boundary = netlist, boundary
        self._moved: Mapping[Signal, int] = {} if moved is None else moved
        self._reads: _Reads = {} if reads is None else reads
        #: The valid input, which is 1 for all vectors that the proof covers, and has latency 0, like these vectors.
        self._valid = valid
        self._known: dict[tuple[Signal, int], _Latency] = {}
        self._open: set[tuple[Signal, int]] = set()
        self._pins = PinReader(netlist)
        self.clocks: set[str] = set()
        self.enables: set[str | None] = set()
        #: The edges at which registers load: whether these are falling ones.
        self.falling: set[bool] = set()

    def of(self, signal: Signal, low: int, width: int) -> _Latency:
        """Return the latency of some bits. Raises ``OutOfStep`` if they have several."""
        if signal is self._valid:
            return _Latency(0)
        if self._boundary.is_input(signal):
            return _Latency(None if signal in self._boundary.constants else 0)
        found = [
            (f"bit {driver.low} of {signal.name}", self._of_driver(signal, driver))
            for driver in signal.drivers
            if driver.low < low + width and low < driver.low + driver.width
        ]
        return self._one(found, signal)

    def of_outputs(self) -> int | None:
        """Return the latency of all output ports; if all of them are constant, the edges until they settle."""
        found = [(signal.name, self.of(signal, 0, max(wire.width, 1))) for signal, wire in self._boundary.wires]
        if not found:
            return None
        latency = self._one(found, self._boundary.wires[-1][0])
        return latency.settles if latency.vector is None else latency.vector

    def _input(self, signal: Signal) -> str:
        """Return the name of the design input that drives ``signal``, a clock or an enable."""
        found = self._pins.input_of(signal)
        pin = None if found is None else self._netlist.signals[found.name]
        if pin is None or pin.width != 1 or self._boundary.is_input(pin):
            raise RegisterError(f"{signal.where}: {signal.name!r}, a clock or an enable, is not an input by itself")
        return pin.name

    def _clock(self, signal: Signal, clock: Clock) -> str:
        """Return the name of the design input at whose rising edges the register ``signal`` loads."""
        found = self._pins.clocked_by(clock)
        if found is None and self._pins.clocked_by(clock._replace(falling=not clock.falling)) is not None:
            raise RegisterError(
                f"{signal.where}: register {signal.name!r} loads at falling edges, and a vector comes at every rising"
                " edge: put the design into a module that inverts its clock, as in .clk(~clk), and verify that module"
            )
        if found is None or not clock.falling:
            return self._input(clock.signal)
        return found.name

    def _one(self, found: Sequence[tuple[str, _Latency]], signal: Signal) -> _Latency:
        """Return the latency of ``signal``, which is computed from all of ``found``."""
        vectors = {latency.vector: name for name, latency in found if latency.vector is not None}
        if len(vectors) > 1:
            shown = ", ".join(f"{name} is {counted(edges, 'edge')} old" for edges, name in sorted(vectors.items()))
            error = OutOfStep(
                f"{signal.where}: signal {signal.name!r} mixes vectors of different clock edges ({shown});"
                " delay all by the same number of registers"
            )
            error.signal = signal
            raise error
        vector = next(iter(vectors), None)
        last, settles = max(
            ((name, latency.settles) for name, latency in found), key=lambda entry: entry[1], default=("", 0)
        )
        if vector is None:
            return _Latency(None, settles)
        if settles > vector:
            raise OutOfStep(
                f"{signal.where}: {signal.name!r} needs {last}, which gets its value only"
                f" {counted(settles, 'edge')} after a reset,"
                f" together with a vector that may arrive after {vector}; the results of the first vectors are wrong"
            )
        return _Latency(vector)

    def _of_driver(self, signal: Signal, driver: Driver) -> _Latency:
        key = signal, driver.low
        if key in self._known:
            return self._known[key]
        if key in self._open:
            raise StateError(f"{signal.where}: signal {signal.name!r} depends on itself; the proof supports no state")
        self._open.add(key)
        if key not in self._reads:
            sources: list[tuple[Signal, int, int]] = []

            def read(source: Signal, low: int, width: int) -> Term:
                sources.append((source, low, width))
                return var(width, "some latency")

            driver.make(read)
            self._reads[key] = sources
        found = [(source.name, self.of(source, low, width)) for source, low, width in self._reads[key]]
        self._open.discard(key)
        latency = self._one(found, signal)
        if driver.clock is not None:
            enable = driver.clock.enable
            self.clocks.add(self._clock(signal, driver.clock))
            self.falling.add(driver.clock.falling)
            if enable is not None or latency.vector is not None:  # without an enable, a constant settles no later
                self.enables.add(None if enable is None else self._input(enable))
            more = 1 + self._moved.get(signal, 0)
            latency = _Latency(None, latency.settles + 1) if latency.vector is None else _Latency(latency.vector + more)
        self._known[key] = latency
        return latency
