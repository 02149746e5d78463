"""The layout of a machine's signals in the ports and vectors of a module, and their names.

Element 0 takes the least significant bits, there are no gaps, and an element without bits takes none. A port without
any bits is one bit wide; as an input it is ignored, as an output it is tied to 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dais_verif.base.verilog_names import Names
from dais_verif.spec.machine.model import Machine, Role, Signal
from dais_verif.spec.program import FixedType

__all__ = ["CLOCK", "bits_of", "offsets_of", "port_names", "ports", "signal_names"]

#: The clock port of all registers; there is none if there are no registers.
CLOCK = "clk"


def bits_of(types: Iterable[FixedType]) -> int:
    """Return the total number of bits of elements of ``types``."""
    return sum(kind.width for kind in types)


def offsets_of(types: Sequence[FixedType]) -> tuple[int, ...]:
    """Return the first bit of each element, then the total number of bits."""
    found = [0]
    for kind in types:
        found.append(found[-1] + kind.width)
    return tuple(found)


def ports(machine: Machine) -> tuple[Signal, ...]:
    """Return the signals that are ports, in the order of ports, without the clock port, which is the first port."""
    return tuple(signal for signal in machine.signals.values() if signal.role is not Role.INTERNAL)


def port_names(machine: Machine) -> dict[str, str]:
    """Name each port by its signal's name, if that is an identifier and not the name of the clock port."""
    names = Names([CLOCK] if machine.registers else [])
    return names.take_all(signal.name for signal in ports(machine))


def signal_names(machine: Machine) -> dict[str, str]:
    """Return the names of all signals in the emitted RTL: ports have their port names, all others get unused names."""
    named = port_names(machine)
    names = Names([CLOCK, *named.values()])
    return named | names.take_all(name for name in machine.signals if name not in named)
