"""A scoreboard for users' cocotb benches, which watches the ports of a design and compares every output bit.

The scoreboard drives nothing. A combinational design is sampled in each time step in which an input changes, once its
signals are stable; a clocked design is sampled at each rising edge, with the values before the edge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import cocotb
import numpy as np
from cocotb.triggers import Event, ReadOnly, Timer, ValueChange
from cocotb.utils import get_sim_steps, get_sim_time

from dais_verif.base.errors import BenchError, ViolationError
from dais_verif.base.text import counted, equal_text
from dais_verif.cocotb.delay_line import DelayLine
from dais_verif.cocotb.diagnosis import Rtl, explain
from dais_verif.cocotb.model import DaisModel
from dais_verif.cocotb.port_rows import RowLayout, input_layout
from dais_verif.hardware.ports.bind import bind
from dais_verif.hardware.ports.discover import Port
from dais_verif.hardware.ports.encode import encode_outputs
from dais_verif.hardware.ports.interface import Clocking, DesignInterface, Dut, Wire
from dais_verif.hardware.ports.ports_file import PortsFile, Side, ports_from_tree, read_ports_file
from dais_verif.record.simulation import Mismatch
from dais_verif.simulation.testbench.job import Difference
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_outputs
from dais_verif.simulation.testbench.pins import PortHandles, handle_of
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.verbs.pins import Pins

__all__ = ["Changes", "LastWord", "PinReader", "PinState", "RowReader", "Scoreboard", "ScoreboardError", "dut_of"]


_Path = str | PathLike[str]


class ScoreboardError(AssertionError):
    """Raised if the design is wrong, or if nothing was compared; the message names the mismatch and the faulty op."""


class _Sample(NamedTuple):
    """One input vector: its number, its inputs, and the expected output row."""

    number: int
    inputs: str
    vector: Batch
    before: Batch | None
    expected: str


class _Snapshot(NamedTuple):
    """The ports of a clocked design at the end of a time step."""

    pins: PinState
    inputs: str
    outputs: str


class Scoreboard:
    """Compares every output bit of a design with the golden model of ``program`` until the test ends.

    ``ports``: a ports file (docs/any-dut.md), or its tables as a dict; None: ``model_inp`` and ``model_out``. ``clock``
    and ``latency`` (rising edges from an input to its output), ``reset`` (``rst`` or ``rst_n:low``), ``enable``,
    ``valid_in`` and ``valid_out`` are the pins of a clocked design; without ``valid_in``, each edge takes a vector.
    ``settle``: nanoseconds after which the outputs of a combinational design with delays are stable.

    ``rtl``, ``top``, ``data``: the files of the design, for a replay that names the faulty op and leaves waves in the
    folder ``output`` (None: a temporary folder). ``stop``: the first mismatch ends the test; otherwise all mismatches
    are counted, and the test fails at its end. ``check``: a vector on which the program breaks a promise is an error.

    The test also fails if no output bit was compared: at ``verify``, or, without that call, at its end.
    """

    def __init__(
        self,
        dut: Any,
        program: Program | str | Path,
        *,
        layout: str | None = None,
        ports: _Path | Mapping[str, Any] | None = None,
        clock: str | None = None,
        latency: int | None = None,
        reset: str | None = None,
        enable: str | None = None,
        valid_in: str | None = None,
        valid_out: str | None = None,
        settle: float | None = None,
        rtl: Sequence[_Path] | _Path = (),
        top: str | None = None,
        data: Sequence[_Path] | _Path = (),
        output: _Path | None = None,
        stop: bool = True,
        check: bool = True,
    ) -> None:
        pins = Pins(clock, latency, reset, enable, valid_in, valid_out)
        self.model = DaisModel(program, layout=layout, check=check)
        where = ports if ports is None or isinstance(ports, Mapping) else Path(ports)
        self._dut, self._interface = dut, dut_of(dut, self.model.program, where, pins)
        if settle is not None and (self._interface.interface.clocking is not None or not settle > 0):
            raise BenchError(f"settle must be a time above 0 in ns, for a combinational design, not {settle!r}")
        #: The layout of inputs and outputs in the ports of the design.
        self.inputs: RowLayout = input_layout(self.model.program, self._interface.ports.inputs)
        self.outputs = RowLayout(self._interface.ports.outputs, self._interface.output_types, "output")
        sources = _paths(rtl)
        self._rtl = Rtl(sources, top or _module_of(dut), _paths(data), where, _words(pins)) if sources else None
        self._output, self._stop, self._settle = None if output is None else Path(output), stop, settle
        self._reads = RowReader(dut, self._interface.interface.inputs)
        self._found = RowReader(dut, self._interface.interface.outputs)
        #: The numbers of compared vectors and output bits, of vectors with a wrong output bit or X, and of inputs that
        #: were not taken as vectors because they held X or Z.
        self.vectors = self.bits = self.mismatches = self.skipped = 0
        #: The first mismatch, with its blame, and the text that describes it.
        self.first_mismatch: Mismatch | None = None
        self._failure: str | None = None
        self._told = False
        self._taken = 0
        self._last: Batch | None = None
        clocking = self._interface.interface.clocking
        watch = self._watch_inputs() if clocking is None else self._watch_clock(clocking)
        cocotb.start_soon(LastWord(watch, self._end), name=f"Scoreboard {dut._name}")

    def verify(self) -> None:
        """Raise ``ScoreboardError`` if any output bit was wrong, or if no output bit was compared; else log a line."""
        problem = self._problem()
        if problem:
            self._told = True
            raise ScoreboardError(problem)
        self._dut._log.info(
            "dais-verif: PASS  %s (%s)",
            equal_text(self.bits, self.vectors),
            self.model.program.hash,
        )

    def _problem(self) -> str | None:
        if self._failure:
            more = (
                f"{self.mismatches} of {self.vectors} vectors differ from the golden model; " if self.mismatches else ""
            )
            return f"{more}{self._failure}"
        if not self.bits:
            seen = f"; {counted(self.skipped, 'input')} held X or Z" if self.skipped else ""
            under_way = self._taken - self.vectors
            seen += (
                f"; {counted(under_way, 'vector')} entered the design, but the test ended before their outputs appeared"
                if under_way
                else ""
            )
            return f"NOT_RUN: no output bit of {self._dut._name} was compared{seen}; this run verifies nothing"
        return None

    def _end(self) -> None:
        """Raise ``ScoreboardError`` at the end of the test, unless it was already raised."""
        problem = None if self._told else self._problem()
        if problem:
            # cocotb fails the test but does not print the message of this exception.
            self._dut._log.error("dais-verif: %s", problem)
            raise ScoreboardError(problem)

    async def _watch_inputs(self) -> None:
        """Check a combinational design in each time step in which a port changes.

        An output that changes while the inputs are stable is compared again, since a correct earlier value does not
        show that the later value is correct.
        """
        changes = Changes(self._reads.handles, self._found.handles)
        settle = 0 if self._settle is None else get_sim_steps(self._settle, "ns", round_mode="ceil")
        seen: str | None = None
        sample: _Sample | None = None
        while True:
            while (left := changes.when + settle - int(get_sim_time("step"))) > 0:
                await Timer(left, unit="step")
            await ReadOnly()
            changes.clear()
            row = self._reads.read()
            new = row != seen
            if new:
                seen, sample = row, self._sample(row)
            if sample is not None:
                self._compare(sample, self._found.read(), count=new)
            await changes.wait()

    async def _watch_clock(self, clocking: Clocking) -> None:
        """Check a clocked design at each rising edge, with the values before it.

        In the time step of an edge, a simulator may show the value of a signal before or after the edge. Therefore all
        signals are read at the end of each time step in which any of them changes, for use at the next edge.
        """
        line = DelayLine[_Sample](clocking.latency or 0)
        pins, clock = PinReader(self._dut, clocking), handle_of(self._dut, clocking.clock)
        changed = Changes([clock, *pins.handles, *self._reads.handles, *self._found.handles])
        before: _Snapshot | None = None
        low, defined = False, 0  # the number of edges after which every register of the design has been loaded or reset
        while True:
            await ReadOnly()
            changed.clear()
            level = str(clock.value)
            if level == "1" and low and before is not None:
                state = before.pins
                if state.unknown:
                    defined = 0
                elif state.reset:
                    defined = clocking.latency or 0
                else:
                    defined += state.enable
                self._pass_edge(clocking, line, before, defined)
            low = level == "0"
            before = _Snapshot(pins.read(), self._reads.read(), self._found.read())
            await changed.wait()

    def _pass_edge(self, clocking: Clocking, line: DelayLine[_Sample], before: _Snapshot, defined: int) -> None:
        state = before.pins
        if state.problem:
            self._fail(state.problem)
            return
        sample = None
        if state.valid and state.enable and not state.reset:
            sample = self._sample(before.inputs, required=clocking.valid_in)
        due = line.step(sample, enable=state.enable, reset=state.reset)
        if state.reset:
            return
        if state.valid_out is not None and (due is not None or defined > (clocking.latency or 0)):
            self._expect_valid(clocking, due, state.valid_out)
        if due is not None:
            self._compare(due, before.outputs, count=state.enable)

    def _expect_valid(self, clocking: Clocking, due: _Sample | None, found: str) -> None:
        if found != str(int(due is not None)):
            self._fail(
                f"{clocking.valid_out} is {found} before the clock edge at {get_sim_time('ns')} ns, must be "
                f"{int(due is not None)}: a vector taken with {clocking.valid_in} must appear "
                f"{counted(clocking.latency or 0, 'edge')} later (the latency), and no other output may be valid"
            )

    def _sample(self, row: str, *, required: str | None = None) -> _Sample | None:
        """Return the vector of ``row``; None if the row holds X or Z, which is an error if ``required`` is set."""
        if self.inputs.bits and set(row) - {"0", "1"}:
            self.skipped += 1
            if required:
                self._fail(f"{required} is 1 at {get_sim_time('ns')} ns, but the inputs {row:.80} hold X or Z")
            return None
        batch = self.inputs.batch(self.inputs.of_row(row if self.inputs.bits else ""))
        try:
            raw = self.model.run(batch).raw
            columns = [np.array([value], dtype=object) for value in raw]
            given = encode_outputs(columns, self.model.program.output_types, self._interface.output_types, self._taken)
        except ViolationError as error:
            self._fail(f"PROGRAM_INVALID: {error}")
            return None
        ports = self._interface.ports
        expected = bits_of_row(pack_outputs(given, ports, 1), 0, ports.output_bits)
        sample = _Sample(self._taken, row, batch, self._last, expected)
        self._taken, self._last = self._taken + 1, batch
        return sample

    def _compare(self, sample: _Sample, found: str, *, count: bool) -> None:
        """Compare a row. ``count``: False while a stalled pipeline repeats the row."""
        bits = self.outputs.bits
        if count:
            self.vectors += 1
            self.bits += bits
        if not bits or found == sample.expected:
            return
        self.mismatches += count
        if self.first_mismatch is not None:
            return
        difference = Difference(sample.number, sample.inputs, sample.expected, found)
        self.first_mismatch, text = explain(
            self._dut,
            self.model.program,
            self._interface,
            difference,
            sample.vector,
            sample.before,
            self._rtl,
            self._output,
        )
        self._fail(f"{'X_IN_OUTPUT' if set(found) - {'0', '1'} else 'RTL_MISMATCH'} at {get_sim_time('ns')} ns\n{text}")

    def _fail(self, text: str) -> None:
        self._failure = self._failure or text
        if self._stop:
            self._told = True
            raise ScoreboardError(text)


def _module_of(dut: Any) -> str:
    """Return the module name of ``dut``; for an instance, the name of the instantiated module."""
    name = str(dut._def_name)
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else str(dut._name)


def _paths(given: Sequence[_Path] | _Path) -> tuple[Path, ...]:
    return (Path(given),) if isinstance(given, str | PathLike) else tuple(map(Path, given))


def _words(pins: Pins) -> tuple[str, ...]:
    """Return the options of ``dais-verif sim`` for ``pins``."""
    valued = {
        "--clock": pins.clock,
        "--latency": pins.latency,
        "--reset": pins.reset,
        "--enable": pins.enable,
        "--valid-in": pins.valid_in,
        "--valid-out": pins.valid_out,
    }
    return tuple(word for name, value in valued.items() if value is not None for word in (name, str(value)))


# Tasks that watch a design until the test ends, and can then let the test fail.


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
        # By name, since the class is asyncio's or, where a simulator starts without asyncio, cocotb's own.
        if type(kind).__name__ != "CancelledError":
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


# The control pins of a clocked design, as driven by a user's bench.


class PinState(NamedTuple):
    """The state of the pins. ``valid_out``: the bit of this pin; None if there is no such pin.

    ``unknown``: some pin has never been 0 or 1 yet, so checking has not started. ``problem``: why the pins cannot be
    used.
    """

    reset: bool = False
    enable: bool = True
    valid: bool = True
    valid_out: str | None = None
    unknown: bool = False
    problem: str | None = None


class PinReader:
    """Reads the pins, and records which of them have ever been 0 or 1: from then on, X is an error."""

    def __init__(self, dut: Any, clocking: Clocking) -> None:
        names = {"reset": clocking.reset, "enable": clocking.enable, "valid": clocking.valid_in}
        self._pins = {what: (name, handle_of(dut, name)) for what, name in names.items() if name}
        self._valid_out = handle_of(dut, clocking.valid_out) if clocking.valid_out else None
        self._active = "0" if clocking.reset_low else "1"
        self._known = set[str]()

    @property
    def handles(self) -> list[Any]:
        """The handles of all pins."""
        return [*(handle for _, handle in self._pins.values()), *([] if self._valid_out is None else [self._valid_out])]

    def read(self) -> PinState:
        """Return the current state of the pins."""
        seen = {}
        for what, (name, handle) in self._pins.items():
            value = str(handle.value)
            if value in ("0", "1"):
                self._known.add(what)
            elif what in self._known:
                return PinState(problem=f"{name} is {value} at {get_sim_time('ns')} ns, must be 0 or 1")
            seen[what] = value
        if len(self._known) < len(self._pins):
            return PinState(reset=True, unknown=True)
        return PinState(
            seen.get("reset") == self._active,
            seen.get("enable", "1") == "1",
            seen.get("valid", "1") == "1",
            None if self._valid_out is None else str(self._valid_out.value),
        )


# The interface of a design in a user's bench: read from the simulator, and checked against the ports file.


def dut_of(dut: Any, program: Program, ports: str | Path | Mapping[str, Any] | None, pins: Pins) -> Dut:
    """Return how the ports of the design with the handle ``dut`` carry the values of ``program``.

    ``ports``: a ports file, or its tables; None: everything is packed in ``model_inp`` and ``model_out``. Raises
    ``InputError`` if the design does not fit, or the latency of a clocked one is not given.
    """
    if ports is None:
        said = PortsFile()
    else:
        said = ports_from_tree(ports) if isinstance(ports, Mapping) else read_ports_file(ports)
    # The user's bench also drives tied inputs; a replay ties them.
    said = replace(said, clocking=pins.over(said.clocking, "ports has no [clock]"))
    if said.clocking is not None and said.clocking.latency is None:
        raise BenchError(
            "a clocked design needs its latency, in rising edges from an input to its output: give latency=N; "
            "`dais-verif sim PROGRAM --rtl FILE --clock CLOCK` finds it"
        )
    found = [*_there(dut, said.inputs, program.n_in, "in"), *_there(dut, said.outputs, program.n_out, "out")]
    if said.clocking is not None:
        clocking = said.clocking
        read = [clocking.valid_out] if clocking.valid_out else []
        named = [*((name, "in") for name in clocking.driven), *((name, "out") for name in read)]
        found += [port for name, way in named if (port := _port(dut, name, way)) is not None]
    found += [port for name, _ in said.ties if (port := _port(dut, name, "in")) is not None]
    return bind(program, said, found, open_inputs=True)


def _there(dut: Any, side: Side, count: int, direction: str) -> list[Port]:
    """Return the ports of ``side`` that the design has."""
    names = side.names(count)
    ports = (_port(dut, name, direction) for name in ([side.port] if names is None else names))
    return [port for port in ports if port is not None]


def _port(dut: Any, name: str, direction: str) -> Port | None:
    handle = handle_of(dut, name)
    try:
        return None if handle is None else Port(name, direction, len(handle))
    except TypeError:
        raise BenchError(f"{name} of the design is not a port with a bit vector") from None


class RowReader:
    """Reads the ports of ``wires`` as one row of bits, most significant first."""

    def __init__(self, dut: Any, wires: Sequence[Wire]) -> None:
        self._pins = PortHandles(dut, DesignInterface((), tuple(wires)))
        #: The handles of the ports, for triggers.
        self.handles = [handle_of(dut, wire.name) for wire in wires]

    def read(self) -> str:
        """Return the current row, including X and Z."""
        return self._pins.read()
