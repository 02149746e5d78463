"""Views of signals in the module: bits of a vector, or, for a view with an index, a wire with the selected bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dais_verif.emitter.machines.bits import Bits, Vector, copied
from dais_verif.emitter.machines.storage import Memory, window_of
from dais_verif.emitter.writer import Writer
from dais_verif.machine import Machine, View
from dais_verif.machine.ports import bits_of, offsets_of
from dais_verif.program import FixedType
from dais_verif.verilog_names import Names

__all__ = ["Reader", "address", "element", "index_bits", "step_of"]


def element(machine: Machine, vectors: Mapping[str, Vector], view: View) -> Bits:
    """Return the bits of ``view``, which has no index."""
    offsets = offsets_of(machine.signals[view.signal].types)
    low = offsets[view.start]
    return Bits(vectors[view.signal], low, offsets[view.stop] - low)


def index_bits(machine: Machine, vectors: Mapping[str, Vector], view: View) -> Bits | None:
    """Return the bits of the index of ``view`` that select positions within its signal; None if it has no bits."""
    assert view.index is not None
    whole = element(machine, vectors, view.index.value)
    needed = max(window_of(machine, view).reach.bit_length(), 1)
    return whole._replace(width=min(whole.width, needed)) if whole.width else None


def step_of(machine: Machine, view: View) -> int | None:
    """Return the number of bits by which ``view`` moves if its index grows by 1; None if this is not constant."""
    assert view.index is not None
    offsets = offsets_of(machine.signals[view.signal].types)
    stride, window = view.index.stride, window_of(machine, view)
    places = [offsets[view.start + index * stride] for index in range(window.reach + 1)]
    if len(places) == 1:
        return 0
    step = places[1] - places[0]
    return step if all(place == places[0] + index * step for index, place in enumerate(places)) else None


def address(index: Bits, factor: int, first: int) -> str:
    """Return the Verilog expression ``first + index * factor``."""
    product = str(index) if factor == 1 else f"{index} * {factor}"
    return f"{first} + {product}" if first else product


class Reader:
    """Writes the reads of views. A view with an index, or of a memory, gets one wire, even if it is read many times."""

    def __init__(
        self,
        machine: Machine,
        out: Writer,
        names: Names,
        vectors: Mapping[str, Vector],
        memories: Mapping[str, Memory],
    ) -> None:
        self.machine, self.out, self.names = machine, out, names
        self.vectors, self.memories = vectors, memories
        self._wires: dict[View, Vector] = {}

    def copy(self, view: View, types: Sequence[FixedType]) -> list[Bits]:
        """Return the elements of ``view`` as elements of ``types``, least significant bits first."""
        own = self.machine.signals[view.signal].types[view.start : view.stop]
        if not bits_of(own):
            return copied(Vector("", 0), 0, own, types)
        if view.index is None and view.signal not in self.memories:
            low = offsets_of(self.machine.signals[view.signal].types)[view.start]
            return copied(self.vectors[view.signal], low, own, types)
        if view not in self._wires:
            self._wires[view] = self._wire(view, bits_of(own))
        return copied(self._wires[view], 0, own, types)

    def _wire(self, view: View, width: int) -> Vector:
        found = Vector(self.names.take(f"{self.vectors[view.signal].name}_read"), width)
        self.out.wrapped(f"wire [{width - 1}:0] {found.name} = ", self._chosen(view, width).split(" "), ";")
        return found

    def _chosen(self, view: View, width: int) -> str:
        """Return the expression of the bits of ``view``; X if its index is too large."""
        name, memory = self.vectors[view.signal].name, self.memories.get(view.signal)
        if memory is not None and view.index is None:
            return f"{name}[{view.start // memory.size}]"
        assert view.index is not None
        index, window = index_bits(self.machine, self.vectors, view), window_of(self.machine, view)
        if index is None:
            return self._at(view, 0, width)
        whole = element(self.machine, self.vectors, view.index.value)
        if memory is not None:
            factor, first = view.index.stride // memory.size, view.start // memory.size
            text = f"{name}[{address(index, factor, first)}]"
        else:
            step = step_of(self.machine, view)
            if step is None or window.torn:
                arms = [f"{whole} == {k} ? {self._at(view, k, width)} :" for k in range(window.reach + 1)]
                return " ".join([*arms, f"{{{width}{{1'bx}}}}"])
            low = offsets_of(self.machine.signals[view.signal].types)[view.start]
            text = f"{name}[{address(index, step, low)} +: {width}]"
        return f"{whole} <= {window.last} ? {text} : {{{width}{{1'bx}}}}" if window.leaves else text

    def _at(self, view: View, index: int, width: int) -> str:
        """Return the expression of the bits of ``view`` if its index is ``index``; bits beyond the signal are X."""
        assert view.index is not None
        memory = self.memories.get(view.signal)
        start = view.start + index * view.index.stride
        if memory is not None:
            return f"{self.vectors[view.signal].name}[{start // memory.size}]"
        offsets = offsets_of(self.machine.signals[view.signal].types)
        stop = min(start + view.size, len(offsets) - 1)
        own = Bits(self.vectors[view.signal], offsets[start], offsets[stop] - offsets[start])
        return str(own) if own.width == width else f"{{{{{width - own.width}{{1'bx}}}}, {own}}}"
