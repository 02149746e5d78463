"""Convert the logic of a bitstream into gates of a graph, for proofs over many cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.base.errors import BitstreamError
from dais_verif.hardware.bitstream.logic import Ram, ReadBack, Register, Signal
from dais_verif.hardware.bitstream.verilog import PLACES, WIDTHS
from dais_verif.prover.clocked.sequential.sides import Bank, BankOutput, Gates, Port, RegisterBit
from dais_verif.prover.gates.aig import FALSE, TRUE, Aig

__all__ = ["bitstream_gates"]

_COLUMNS, _ROW_BITS = 16, 8


def bitstream_gates(logic: ReadBack, graph: Aig, inputs: dict[Port, int], clock: str) -> Gates:
    """Return ``logic`` as gates, clocked by its input ``clock``; missing shared ``inputs`` are added.

    Registers are 0 at power-up; outputs of block RAMs are unknown then. Raises ``InputError`` for another clock, for
    signals that change between edges, for loops, and for multipliers.
    """
    if logic.multipliers:
        raise BitstreamError(
            f"{logic.multipliers[0].name} of the bitstream is a multiplier, which proofs behind a link do not support: "
            "build without DSPs"
        )
    return _Reader(logic, graph, inputs, clock).gates()


class _Reader:
    def __init__(self, logic: ReadBack, graph: Aig, inputs: dict[Port, int], clock: str) -> None:
        self._logic, self._graph, self._inputs, self._clock = logic, graph, inputs, clock
        self._literals: dict[Signal, int] = {"1'b0": FALSE, "1'b1": TRUE}
        for bit in logic.inputs:
            if str(bit) != clock:
                port = bit.name, bit.place or 0
                if port not in inputs:
                    inputs[port] = graph.input()
                self._literals[str(bit)] = inputs[port]
        for register in logic.registers:
            self._require(register.name, register.clock, register.falling, register.asynchronous)
            self._literals[register.name] = graph.input()
        # Unused bits, such as those above a table narrower than a block RAM, are left out: their values at power-up
        # are unknown, and a constant 0 would be matched with them.
        read = _signals_read(logic)
        for ram in logic.rams:
            for place in PLACES[ram.read_mode]:
                if (name := f"{ram.name}[{place}]") in read:
                    self._literals[name] = graph.input()
        self._make_logic()

    def gates(self) -> Gates:
        registers = [self._register(register) for register in self._logic.registers]
        banks = []
        for ram in self._logic.rams:
            bank, shown = self._bank(ram)
            banks.append(bank)
            registers += shown
        outputs = {(bit.name, bit.place or 0): self._at(signal) for bit, signal in self._logic.driven.items()}
        return Gates(self._inputs, outputs, tuple(registers), banks=tuple(banks))

    def _require(self, name: str, clock: Signal, falling: bool, asynchronous: bool) -> None:
        if clock != self._clock:
            raise BitstreamError(f"{name} of the bitstream is clocked by {clock}, not by the pin of {self._clock!r}")
        if falling or asynchronous:
            raise BitstreamError(f"{name} of the bitstream changes at other times than rising edges of {self._clock!r}")

    def _at(self, signal: Signal) -> int:
        found = self._literals.get(signal)
        if found is None:
            raise BitstreamError(f"the logic of the bitstream reads {signal!r}, the clock")
        return found

    def _word(self, signals: Sequence[Signal]) -> list[int]:
        return [self._at(signal) for signal in signals]

    def _make_logic(self) -> None:
        """Build the gates of tables and carries, each after its inputs."""
        cells: dict[Signal, tuple[Sequence[Signal], Callable[[], int]]] = {}
        for lut in self._logic.luts:
            cells[lut.name] = lut.inputs, lambda lut=lut: self._table(lut.table, self._word(lut.inputs))  # type: ignore[misc]
        for one in self._logic.carries:
            cells[one.name] = one.inputs, lambda one=one: self._graph.sum(*self._word(one.inputs))[1]  # type: ignore[misc]
        waiting, open_ = list(cells), set()
        while waiting:
            name = waiting[-1]
            if name in self._literals:
                waiting.pop()
                continue
            inputs, make = cells[name]
            missing = [signal for signal in inputs if signal in cells and signal not in self._literals]
            if not missing:
                self._literals[name] = make()
            elif name in open_:
                raise BitstreamError(f"{name} of the bitstream depends on itself")
            else:
                open_.add(name)
                waiting += missing

    def _table(self, table: int, inputs: Sequence[int]) -> int:
        if not inputs:
            return table & 1
        half = 1 << (len(inputs) - 1)
        low, high = table & ((1 << half) - 1), table >> half
        rest = inputs[:-1]
        return self._graph.choice(inputs[-1], self._table(high, rest), self._table(low, rest))

    def _register(self, register: Register) -> RegisterBit:
        graph, now = self._graph, self._literals[register.name]
        after = self._at(register.data)
        if register.reset != "1'b0":
            after = graph.choice(self._at(register.reset), register.value, after)
        after = graph.choice(self._at(register.enable), after, now)
        return RegisterBit(register.name, now, after, 0)

    def _bank(self, ram: Ram) -> tuple[Bank, list[RegisterBit]]:
        graph, pins = self._graph, ram.pins
        self._require(ram.name, pins["RCLK"][0], ram.read_falling, False)
        writing = graph.both(self._at(pins["WCLKE"][0]), self._at(pins["WE"][0]))
        if writing != FALSE:
            self._require(ram.name, pins["WCLK"][0], ram.write_falling, False)
        writes, data = self._written(ram, writing)
        reading = graph.both(self._at(pins["RCLKE"][0]), self._at(pins["RE"][0]))
        read_row = self._word(pins["RADDR"][:_ROW_BITS])
        if writing == FALSE:  # a table
            read = [_entry(graph, ram.contents, column, read_row) for column in range(_COLUMNS)]
        else:
            read = [graph.input() for _ in range(_COLUMNS)]
        outputs, registers = [], []
        step = _COLUMNS // WIDTHS[ram.read_mode]
        part = self._word(pins["RADDR"][_ROW_BITS : _ROW_BITS + step.bit_length() - 1])
        for number, place in enumerate(PLACES[ram.read_mode]):
            name = f"{ram.name}[{place}]"
            if name not in self._literals:
                continue
            now = self._literals[name]
            columns = tuple(range(number * step, number * step + step))
            outputs.append(BankOutput(name, columns))
            taken = _chosen(graph, [read[column] for column in columns], part)
            registers.append(RegisterBit(name, now, graph.choice(reading, taken, now), None))
        row = self._word(pins["WADDR"][:_ROW_BITS])
        bank = Bank(ram.name, row, writes, data, read_row, read, ram.contents, tuple(outputs))
        return bank, registers

    def _written(self, ram: Ram, writing: int) -> tuple[list[int], list[int]]:
        graph, data = self._graph, self._word(ram.pins["WDATA"])
        if ram.write_mode == 0:
            return [graph.both(writing, mask ^ 1) for mask in self._word(ram.pins["MASK"])], data
        step = _COLUMNS // WIDTHS[ram.write_mode]
        part = self._word(ram.pins["WADDR"][_ROW_BITS : _ROW_BITS + step.bit_length() - 1])
        here = [graph.all([bit ^ (number >> n & 1) ^ 1 for n, bit in enumerate(part)]) for number in range(step)]
        places = PLACES[ram.write_mode]
        writes = [graph.both(writing, here[column % step]) for column in range(_COLUMNS)]
        return writes, [data[places[column // step]] for column in range(_COLUMNS)]


def _signals_read(logic: ReadBack) -> set[Signal]:
    cells = (*(one.inputs for one in logic.luts), *(one.inputs for one in logic.carries))
    registers = ((one.data, one.enable, one.reset) for one in logic.registers)
    pins = (bits for ram in logic.rams for bits in ram.pins.values())
    return {signal for signals in (*cells, *registers, *pins, logic.driven.values()) for signal in signals}


def _chosen(graph: Aig, bits: list[int], index: Sequence[int]) -> int:
    for one in index:
        bits = [graph.choice(one, high, low) for low, high in zip(bits[::2], bits[1::2], strict=True)]
    return bits[0]


def _entry(graph: Aig, contents: int, column: int, row: Sequence[int]) -> int:
    return _chosen(graph, [contents >> (_COLUMNS * number + column) & 1 for number in range(1 << len(row))], row)
