"""Memories that ``initial`` blocks fill, from Yosys' cells for filling and reading."""

from __future__ import annotations

from collections.abc import Callable

from dais_verif.errors import UnsupportedVerilog
from dais_verif.prover.memory import Memory
from dais_verif.prover.netlist import Bits, Read
from dais_verif.prover.terms import Term
from dais_verif.prover.yosys.form import Bit, Cell, Module, place

__all__ = ["Memories"]

_FILLING, _WRITING = ("$meminit", "$meminit_v2"), ("$memwr", "$memwr_v2")


class Memories:
    """The memories of one instance of a module."""

    def __init__(self, module: Module, path: str) -> None:
        self._module, self._path = module, path
        self._filled: dict[str, Memory] = {}
        self._buffered: dict[Bit, Bit] = {}

    def fills(self, cell: Cell) -> bool:
        """Return whether the cell initialises or writes a memory."""
        return cell.type in _FILLING or cell.type in _WRITING

    def reader(self, cell: Cell, address: Bits, where: str) -> Callable[[Read], Term]:
        """Return a function that makes the word that ``cell`` reads. Raises ``InputError`` for a clocked read."""
        name, width = cell.parameters["MEMID"].removeprefix("\\"), len(cell.connections["ADDR"])
        if cell.number("CLK_ENABLE"):
            raise UnsupportedVerilog(
                f"{where}: memory {name!r} is read at a clock edge; the proof supports asynchronous reads only"
            )

        def make(read: Read) -> Term:
            if name not in self._filled:
                self._filled[name] = self._memory(name)
            return self._filled[name].read((address(read, 0, width), False))

        return make

    def _memory(self, name: str) -> Memory:
        words = self._module.memories[name]
        where, first = place(words.attributes), words.start_offset
        if first < 0:
            raise UnsupportedVerilog(f"{where}: memory {name!r} has negative indices, which Yosys treats as unsigned")
        memory = Memory(self._path + name, where, words.width, first + words.size - 1, first)
        cells = [
            cell
            for cell in self._module.cells.values()
            if self.fills(cell) and cell.parameters["MEMID"].removeprefix("\\") == name
        ]
        for cell in sorted(cells, key=lambda cell: cell.number("PRIORITY")):
            if cell.type in _WRITING:
                memory.written = True
            else:
                self._fill(memory, cell, words.width)
        memory.settle()
        return memory

    def _fill(self, memory: Memory, cell: Cell, width: int) -> None:
        where = place(cell.attributes)
        address = self._constant(cell.connections["ADDR"], where)
        enable = self._digits(cell.connections.get("EN", ["1"]))
        if set(enable) != {"1"}:
            raise UnsupportedVerilog(f"{where}: memory {memory.name!r} is filled in parts of words; fill whole words")
        data = self._digits(cell.connections["DATA"])
        for n in range(cell.number("WORDS")):
            digits = data[n * width : (n + 1) * width]
            position = memory.position(address + n)
            if position is not None:
                known = not set(digits) - {"0", "1"}
                memory.words[position] = int("".join(digits[::-1]), 2) if known else None

    def _digits(self, bits: list[Bit]) -> list[str]:
        """Return ``bits`` as digits, constant ones also through buffers; ``x`` for bits that are not constant."""
        if not self._buffered:
            for cell in self._module.cells.values():
                if cell.type == "$_BUF_":
                    self._buffered[cell.connections["Y"][0]] = cell.connections["A"][0]
        digits = []
        for bit in bits:
            for _ in range(len(self._buffered) + 1):
                if isinstance(bit, str) or bit not in self._buffered:
                    break
                bit = self._buffered[bit]
            digits.append(bit if isinstance(bit, str) else "x")
        return digits

    def _constant(self, bits: list[Bit], where: str) -> int:
        digits = self._digits(bits)
        if set(digits) - {"0", "1"}:
            raise UnsupportedVerilog(f"{where}: a memory is filled at an index that is not constant")
        return int("".join(digits[::-1]), 2)
