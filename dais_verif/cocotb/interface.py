"""The interface of a design in a user's bench: read from the simulator, and checked against the ports file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dais_verif.base.errors import BenchError
from dais_verif.hardware.ports.bind import bind
from dais_verif.hardware.ports.discover import Port
from dais_verif.hardware.ports.interface import DesignInterface, Dut, Wire
from dais_verif.hardware.ports.ports_file import PortsFile, Side, ports_from_tree, read_ports_file
from dais_verif.simulation.testbench.pins import PortHandles, handle_of
from dais_verif.spec.program import Program
from dais_verif.verbs.pins import Pins

__all__ = ["RowReader", "dut_of"]


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
