"""The spelling of a machine's views and connections, in its text and in messages."""

from __future__ import annotations

from dais_verif.machine.model import Connection, Machine, View
from dais_verif.machine.text.names import INPUTS, OUTPUTS, spelt_name

__all__ = ["Spelling"]


class Spelling:
    """Spells views and connections of a ``machine``; the wires of a block ``b`` are ``b.in`` and ``b.out``."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        #: The names of the wires of blocks.
        self.ports = {
            name: f"{spelt_name(block.name)}.{port}"
            for block in machine.blocks.values()
            for name, port in ((block.inputs, INPUTS), (block.outputs, OUTPUTS))
        }

    def name(self, signal: str) -> str:
        """Return the spelling of the signal ``signal``."""
        return self.ports.get(signal) or spelt_name(signal)

    def connection(self, connection: Connection) -> str:
        """Return ``mem[i] <- x when en``."""
        line = f"{self.view(connection.target)} <- {self.view(connection.source)}"
        if connection.enable is not None:
            line += f" when {self.view(connection.enable)}"
        if connection.alternative is not None:
            line += f" else {self.view(connection.alternative)}"
        return line

    def view(self, view: View) -> str:
        """Return ``x``, ``x[2]``, ``x[2:5]``, ``mem[i]`` or ``mem[0:4 + 4*i]``."""
        name = self.name(view.signal)
        if view.index is None:
            if (view.start, view.stop) == (0, len(self.machine.signals[view.signal].types)):
                return name
            return f"{name}[{_span(view)}]"
        index = self.view(view.index.value)
        if (view.start, view.stop, view.index.stride) == (0, 1, 1):
            return f"{name}[{index}]"
        return f"{name}[{_span(view)} + {view.index.stride}*{index}]"


def _span(view: View) -> str:
    return str(view.start) if view.size == 1 else f"{view.start}:{view.stop}"
