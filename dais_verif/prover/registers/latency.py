"""Latency analysis: how many registers lie between the inputs and a signal, in clock edges.

If all that a signal is made of has one latency, it is a function of one vector, the same function as if its registers
were wires. Then a pipeline is proved as the combinational logic that it is, and its latency is that of its outputs.

A register that takes in constants only holds them after an edge, and not before: it *settles*, later by one edge behind
every such register. A vector may follow a reset at once: where one of some latency is, as many edges have passed, and
maybe not more, so what settles later is not there yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dais_verif.counts import counted
from dais_verif.dut.interface import Clocking
from dais_verif.errors import InputError, StateError
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.netlist import Driver, Netlist, Signal
from dais_verif.prover.registers.pins import PinReader
from dais_verif.prover.terms import Term, var
from dais_verif.record.proof import Timing

__all__ = ["OutOfStep", "infer_timing"]


class OutOfStep(InputError):
    """Registers do not move together. That is most often wrong; a simulator can tell."""


def infer_timing(
    netlist: Netlist, boundary: Boundary, others: list[Signal], said: Clocking | None = None
) -> Timing | None:
    """Return the timing of a pipeline, None without registers; every one of ``others`` must have one latency, too.

    ``said``: its pins, where they are known. Raises ``OutOfStep`` if two latencies meet, if there are several clocks or
    enables, or others than those.
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
            raise OutOfStep(f"registers of module {netlist.top!r} have different {what}: {shown}; the proof knows one")
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
            raise OutOfStep(
                f"the {what} of module {netlist.top!r} is {found or 'none'}, not {pin or 'none'} as was said"
            )
    return timing


class _Latency(NamedTuple):
    """Edges since the vector was at the inputs, None for constants; and after how many edges these are there."""

    vector: int | None
    settles: int = 0


class _LatencyAnalysis:
    def __init__(self, netlist: Netlist, boundary: Boundary, valid: Signal | None) -> None:
        self._netlist, self._boundary = netlist, boundary
        #: It has one value for the vectors of which the proof speaks, and like these a value at every edge.
        self._valid = valid
        self._known: dict[tuple[Signal, int], _Latency] = {}
        self._open: set[tuple[Signal, int]] = set()
        self._pins = PinReader(netlist)
        self.clocks: set[str] = set()
        self.enables: set[str | None] = set()

    def of(self, signal: Signal, low: int, width: int) -> _Latency:
        """Return the latency of some bits. Raises ``InputError`` if they have several."""
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
        """Return the latency: the one latency of all that carries outputs, or when they are all settled."""
        found = [(signal.name, self.of(signal, 0, max(wire.width, 1))) for signal, wire in self._boundary.wires]
        if not found:
            return None
        latency = self._one(found, self._boundary.wires[-1][0])
        return latency.settles if latency.vector is None else latency.vector

    def _input(self, signal: Signal) -> str:
        """Return the input of the design that clocks or enables registers, maybe by another name within an instance."""
        found = self._pins.input_of(signal)
        pin = None if found is None else self._netlist.signals[found.name]
        if pin is None or pin.width != 1 or self._boundary.is_input(pin):
            raise InputError(f"{signal.where}: {signal.name!r}, a clock or an enable, is not an input by itself")
        return pin.name

    def _one(self, found: Sequence[tuple[str, _Latency]], signal: Signal) -> _Latency:
        """Return the latency of ``signal``, which is computed from all of ``found``."""
        vectors = {latency.vector: name for name, latency in found if latency.vector is not None}
        if len(vectors) > 1:
            shown = ", ".join(f"{name} is {counted(edges, 'edge')} old" for edges, name in sorted(vectors.items()))
            raise OutOfStep(
                f"{signal.where}: signal {signal.name!r} mixes vectors of different clock edges ({shown});"
                " delay all by as many registers"
            )
        vector = next(iter(vectors), None)
        last, settles = max(
            ((name, latency.settles) for name, latency in found), key=lambda entry: entry[1], default=("", 0)
        )
        if vector is None:
            return _Latency(None, settles)
        if settles > vector:
            raise OutOfStep(
                f"{signal.where}: {signal.name!r} needs {last}, which has its value only"
                f" {counted(settles, 'edge')} after a reset,"
                f" together with a vector that may be there after {vector}; the first vectors come out wrong"
            )
        return _Latency(vector)

    def _of_driver(self, signal: Signal, driver: Driver) -> _Latency:
        key = signal, driver.low
        if key in self._known:
            return self._known[key]
        if key in self._open:
            raise StateError(f"{signal.where}: signal {signal.name!r} depends on itself; the proof knows no state")
        self._open.add(key)
        found: list[tuple[str, _Latency]] = []

        def read(source: Signal, low: int, width: int) -> Term:
            found.append((source.name, self.of(source, low, width)))
            return var(width, "some latency")

        driver.make(read)
        self._open.discard(key)
        latency = self._one(found, signal)
        if driver.clock is not None:
            enable = driver.clock.enable
            self.clocks.add(self._input(driver.clock.signal))
            if enable is not None or latency.vector is not None:  # without one, a constant is there even earlier
                self.enables.add(None if enable is None else self._input(enable))
            latency = _Latency(None, latency.settles + 1) if latency.vector is None else _Latency(latency.vector + 1)
        self._known[key] = latency
        return latency
