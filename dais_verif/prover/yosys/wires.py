"""The wires of one instance of a module as signals, and the connections between wires.

Yosys inserts a buffer wherever a wire is assigned to another one (``insbuf``). Every bit then belongs to one wire,
wires keep their names in the RTL, and two drivers of one bit are detected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.memory import Memory
from dais_verif.prover.netlist import Bits, Clock, Driver, NoValue, Read, Signal, Signals, driver_of
from dais_verif.prover.terms import Term, concat, const, extract, undefined
from dais_verif.prover.yosys.json_form import Bit, Cell, Module, place

__all__ = ["BUFFERS", "Memories", "YosysWires"]


BUFFERS = ("$_BUF_", "$buf")


class _Piece(NamedTuple):
    """Adjacent bits of one signal, from ``low`` on; without a signal, a constant with value ``low``, or X."""

    signal: Signal | None
    low: int
    width: int
    unknown: bool = False


class _Wire(NamedTuple):
    """Adjacent bits of one signal."""

    signal: Signal
    low: int
    width: int


class YosysWires:
    """The signals of one instance, by bit number. ``signals``: receives registers and all signals named in the RTL."""

    def __init__(self, module: Module, path: str, signals: Signals) -> None:
        self._module, self._path, self._signals = module, path, signals
        self._wires: dict[Bit, tuple[Signal, int]] = {}
        #: The signals of the ports.
        self.ports: dict[str, Signal] = {}
        buffers = [cell.connections for cell in module.cells.values() if cell.type in BUFFERS]
        self._buffers = [(bits["Y"][0], bits["A"][0]) for bits in buffers]
        several = {bit for bit, times in Counter(bit for bit, _ in self._buffers).items() if times > 1}
        #: Bits to which several blocks assign constants, such as loop variables; these bits must not be read.
        self._spoilt = several - {bit for bit, source in self._buffers if not isinstance(source, str)}
        #: The bit that is assigned to each buffered bit.
        self._given = {bit: source for bit, source in self._buffers if bit not in several}
        #: The number of times that an X has been read.
        self._unknown = 0
        self._declare(self._merged())
        self._join()
        self._aliases = self._other_names()

    def _merged(self) -> dict[str, str]:
        """Return, for each wire that Yosys generated and copies to other wires, one of these, preferably of the RTL.

        An ``always`` block reads signals that it has assigned from such wires. After merging, it reads the signal of
        the RTL, which can be a cut point.
        """
        nets = self._module.netnames
        hidden = {tuple(net.bits): name for name, net in nets.items() if net.hide_name}
        merged: dict[str, str] = {}
        for name, net in sorted(nets.items(), key=lambda entry: entry[1].hide_name):
            source = hidden.get(tuple(self._given.get(bit, "") for bit in net.bits))
            if source is None or source == name:
                continue
            if source not in merged or source.startswith(f"$0\\{name}["):
                merged[source] = name
        return merged

    def _declare(self, merged: dict[str, str]) -> None:
        for name, net in self._module.netnames.items():
            if name in merged:
                continue
            signal = self._signals.new(
                self._path + name, len(net.bits), place(net.attributes), hidden=bool(net.hide_name)
            )
            if not signal.hidden:
                self._signals[signal.name] = signal
            for index, bit in enumerate(net.bits):
                if isinstance(bit, str) or bit in self._wires:  # a constant, or an alias
                    signal.drive(driver_of(self.bits([bit], signal.where), 0, 1, index, signal.where))
                else:
                    self._wires[bit] = signal, index
            if name in self._module.ports:
                self.ports[name] = signal
        for name, other in merged.items():
            while other in merged:
                other = merged[other]
            for bit, same in zip(*(self._module.netnames[n].bits for n in (name, other)), strict=True):
                self._wires[bit] = self._wires[same]

    def _join(self) -> None:
        """Drive wires to which other wires are assigned, with one driver per run of bits adjacent in both wires."""
        given = sorted(
            (
                (*self._wires[target], source)
                for target, source in self._buffers
                if target not in self._spoilt and self._wires[target] != self._wires.get(source)
            ),
            key=lambda entry: (id(entry[0]), entry[1]),
        )
        for bit in self._spoilt:
            signal, index = self._wires[bit]
            signal.drive(Driver(index, 1, partial(_spoilt, signal), signal.where))
        start = 0
        for n in range(1, len(given) + 1):
            if n < len(given) and self._beside(given[n - 1], given[n]):
                continue
            signal, low, _ = given[start]
            bits = self.bits([source for _, _, source in given[start:n]], signal.where)
            signal.drive(driver_of(bits, 0, n - start, low, signal.where))
            start = n

    def _beside(self, a: tuple[Signal, int, Bit], b: tuple[Signal, int, Bit]) -> bool:
        if a[0] is not b[0] or a[1] + 1 != b[1]:
            return False
        if isinstance(a[2], str) or isinstance(b[2], str):
            return isinstance(a[2], str) and isinstance(b[2], str)
        (first, low), (second, following) = self._wires[a[2]], self._wires[b[2]]
        return first is second and low + 1 == following

    def _other_names(self) -> dict[tuple[Bit, ...], list[Bit]]:
        """Return, for bits of which a wire of the RTL is a copy, the bits of that wire.

        An ``always`` block that has assigned such a wire reads the copied bits in its place.
        """
        found: dict[tuple[Bit, ...], list[Bit]] = {}
        for name, net in self._module.netnames.items():
            source = tuple(self._given.get(bit, "") for bit in net.bits)
            if net.hide_name or name in self._module.ports or set(source) & {"", "x", "z"}:
                continue
            pieces = list(self._runs(source, ""))
            whole = len(pieces) == 1 and pieces[0].signal and pieces[0].width == pieces[0].signal.width
            if not whole or pieces[0].signal in self.ports.values():
                found.setdefault(source, net.bits)
        return found

    def power_up(self) -> dict[Signal, Term]:
        """Return the initial values of signals from ``init`` attributes of wires; undefined where there is none.

        The attribute of a wire also applies to wires that drive it through buffers. Conflicting attributes give an
        undefined value.
        """
        found: dict[tuple[Signal, int], str] = {}
        for net in self._module.netnames.values():
            for bit, digit in zip(net.bits, reversed(net.attributes.get("init", "")), strict=False):
                for _ in range(len(self._given) + 1):
                    if isinstance(bit, str):
                        break
                    place = self._wires[bit]
                    found[place] = digit if found.get(place, digit) == digit else "x"
                    if bit not in self._given:
                        break
                    bit = self._given[bit]
        signals: dict[Signal, dict[int, str]] = {}
        for (signal, index), digit in found.items():
            signals.setdefault(signal, {})[index] = digit
        return {signal: _known(signal, digits) for signal, digits in signals.items()}

    # reading and driving

    def _runs(self, bits: Sequence[Bit], where: str) -> Iterator[_Piece]:
        """Yield ``bits`` as pieces, the least significant first. Raises ``NoValue`` for Z."""
        last = _Piece(None, 0, 0)
        for bit in bits:
            joined = last._replace(width=last.width + 1)
            if bit == "x":
                following = _Piece(None, 0, 1, unknown=True)
                fits = last.unknown
            elif isinstance(bit, str):
                if bit not in "01":
                    raise NoValue(where)
                following = _Piece(None, int(bit), 1)
                fits = last.signal is None and not last.unknown
                joined = joined._replace(low=last.low | int(bit) << last.width)
            else:
                signal, index = self._wires[bit]
                following = _Piece(signal, index, 1)
                fits = last.signal is signal and last.low + last.width == index
            if last.width and not fits:
                yield last
            last = joined if last.width and fits else following
        if last.width:
            yield last

    def bits(self, bits: Sequence[Bit], where: str) -> Bits:
        """Return a function that gives the values of all or some of ``bits``."""

        def value(read: Read, low: int, width: int) -> Term:
            return concat(*reversed([self._piece(p, read, where) for p in self._runs(bits[low : low + width], where)]))

        return value

    def _piece(self, piece: _Piece, read: Read, where: str) -> Term:
        """Return the value of ``piece``; each X is a new undefined value."""
        if piece.unknown:
            self._unknown += 1
            return undefined(piece.width, f"X {self._unknown} of line {where.rpartition(':')[2]}")
        return const(piece.width, piece.low) if piece.signal is None else read(piece.signal, piece.low, piece.width)

    def operand(self, bits: Sequence[Bit], where: str, chosen: bool = False) -> Bits:
        """Return the values of ``bits`` as an operand of a cell, read from the wire of the RTL that is a copy, if any.

        ``chosen``: whether the cell only passes the operand on; only then is X allowed. Raises ``NoValue`` for other X
        and for Z.
        """
        if "x" in bits and not chosen:
            raise NoValue(where)
        return self.bits(self._aliases.get(tuple(bits), bits), where)

    def drive(self, bits: Sequence[Bit], make: Callable[[Read], Term], where: str) -> None:
        """Drive ``bits`` with the value that ``make`` returns."""
        for piece, at in self._places(bits, where):
            cut = partial(_part, make, at, piece.width) if piece.width < len(bits) else make
            piece.signal.drive(Driver(piece.low, piece.width, cut, where))

    def carry(self, bits: Sequence[Bit], value: Bits, where: str, clock: Clock | None = None) -> None:
        """Drive ``bits`` with the bits of ``value``, through a register if there is a ``clock``."""
        for piece, at in self._places(bits, where):
            piece.signal.drive(driver_of(value, at, piece.width, piece.low, where, clock))
            if clock is not None:
                self._signals[piece.signal.name] = piece.signal

    def _places(self, bits: Sequence[Bit], where: str) -> Iterator[tuple[_Wire, int]]:
        """Yield the wires of which ``bits`` consist, each with its position in ``bits``."""
        at = 0
        for piece in self._runs(bits, where):
            if piece.signal is not None:
                yield _Wire(piece.signal, piece.low, piece.width), at
            at += piece.width

    def name_of(self, bits: Sequence[Bit], where: str) -> str:
        """Return the name of the signal to which ``bits`` belong; of the first one if there are several."""
        return next((piece.signal.name for piece in self._runs(bits, where) if piece.signal), "?")

    def one_bit(self, bits: Sequence[Bit], where: str) -> Signal:
        """Return a one-bit signal for a clock or a reset. Raises ``InputError`` if ``bits`` are not such a signal."""
        pieces = list(self._runs(bits, where))
        signal = pieces[0].signal
        if len(pieces) != 1 or signal is None or signal.width != 1:
            raise UnsupportedVerilog(
                f"{where}: a clock or a reset is a part of a vector; the proof needs a signal of one bit"
            )
        return signal


def _known(signal: Signal, digits: Mapping[int, str]) -> Term:
    bits = (digits.get(index, "x") for index in reversed(range(signal.width)))
    nothing = f"{signal.name!r} at power-up"
    return concat(*(const(1, int(bit)) if bit in ("0", "1") else undefined(1, nothing) for bit in bits))


def _spoilt(signal: Signal, read: Read) -> Term:
    raise UnsupportedVerilog(
        f"{signal.where}: signal {signal.name!r} is also driven by another block; give it one driver"
    )


def _part(make: Callable[[Read], Term], low: int, width: int, read: Read) -> Term:
    return extract(make(read), low, width)


# Memories that ``initial`` blocks fill, from Yosys' cells for filling and reading.


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
