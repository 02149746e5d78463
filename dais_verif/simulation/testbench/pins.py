"""Access a design's ports in the simulator: rows of bits in, rows of bits out.

For use in a cocotb test only. Rows are written most significant bit first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cocotb.triggers import Timer

from dais_verif.base.text import counted
from dais_verif.hardware.ports.interface import DesignInterface, Wire

__all__ = ["Combinational", "PortHandles", "handle_of", "problem_with", "read_named"]

_ELEMENT = re.compile(r"(.*)\[(\d+)\]$")


def handle_of(dut: Any, name: str) -> Any:
    """Return the handle of port ``name``, or of an element such as ``name[3]``; None if the design has none."""
    element = _ELEMENT.match(name)
    port = getattr(dut, element[1] if element else name, None)
    if port is None or element is None:
        return port
    try:
        return port[int(element[2])]
    except IndexError:
        return None


def problem_with(dut: Any, interface: DesignInterface) -> str | None:
    """Return why the design's ports do not match ``interface``, or None."""
    pins = [
        name for name in interface.ports if name not in {wire.port for wire in (*interface.inputs, *interface.outputs)}
    ]
    wanted = {wire.name: wire.width for wire in (*interface.inputs, *interface.outputs)}
    ties = dict(interface.ties)
    for name, bits in {**wanted, **{name: None if name in ties else 1 for name in pins}}.items():
        port = handle_of(dut, name)
        if port is None:
            needs = f"; the program needs {name} with {counted(max(bits, 1), 'bit')}" if bits is not None else ""
            return f"the design has no port {name}{needs}"
        if bits is not None and len(port) != max(bits, 1):
            return f"port {name} of the design has {counted(len(port), 'bit')}; the program needs {max(bits, 1)}"
    return None


def read_named(dut: Any, names: Sequence[str]) -> tuple[dict[str, str], dict[str, tuple[int, int]]]:
    """Return the bits of those signals of ``names`` that exist, most significant first, and their declared bounds.

    Bounds are left and right; a scalar has none.
    """
    # Scope by scope: to look up a single name, Icarus tries one signal after the other.
    signals = {signal._name: signal for signal in dut}
    for scope in {name.rpartition(".")[0] for name in names} & set(signals):
        signals.update({f"{scope}.{signal._name}": signal for signal in signals[scope]})
    bits: dict[str, str] = {}
    ranges: dict[str, tuple[int, int]] = {}
    for name in names:
        signal = signals.get(name) if not name.endswith("]") else handle_of(dut, name)
        value = str(getattr(signal, "value", ""))
        if not value or set(value) - set("01xXzZuUwWlLhH-"):
            continue  # missing, or not a vector: a memory, an instance
        bits[name] = value
        bounds = getattr(signal, "range", None)
        if bounds is not None:
            ranges[name] = bounds.left, bounds.right
    return bits, ranges


class PortHandles:
    """The data ports of a design, written and read as rows. Constant inputs get their values here."""

    def __init__(self, dut: Any, interface: DesignInterface) -> None:
        self._inputs = _cuts(dut, interface.inputs, interface.input_bits)
        self._outputs = [handle_of(dut, wire.name) for wire in reversed(interface.outputs) if wire.width] or [
            handle_of(dut, wire.name) for wire in interface.outputs
        ]
        for name, value in interface.ties:
            handle_of(dut, name).value = value

    def write(self, row: str) -> None:
        """Drive one row."""
        for handle, start, stop in self._inputs:
            handle.value = row[start:stop]

    def read(self) -> str:
        """Return the current output row, with X and Z."""
        if len(self._outputs) == 1:
            return str(self._outputs[0].value)
        return "".join([str(handle.value) for handle in self._outputs])


def _cuts(dut: Any, wires: Sequence[Wire], bits: int) -> list[tuple[Any, int, int]]:
    """Return the handle and position in a row of every input port; ``idle.driven`` adds ports that carry nothing."""
    return [
        (handle_of(dut, wire.name), bits - wire.offset - wire.width, bits - wire.offset) for wire in wires if wire.width
    ]


class Combinational:
    """A design whose outputs follow its inputs: each row is driven, and after a wait, its outputs are read."""

    def __init__(self, pins: PortHandles) -> None:
        self._pins = pins

    async def run(self, rows: Sequence[str]) -> list[str]:
        """Return the outputs for each of ``rows``."""
        pins, wait, found = self._pins, Timer(1, unit="ns"), []
        for row in rows:
            pins.write(row)
            await wait
            found.append(pins.read())
        return found
