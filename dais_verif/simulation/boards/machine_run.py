"""The task of ``hil`` for machines: compare sequences from a reset, one per vector, with the golden model."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from dais_verif.base.errors import BoardFailure, DaisError, ToolError, ViolationError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter.machines.board import board_bits
from dais_verif.record.simulation import Blame, Mismatch, SimulatorResult
from dais_verif.simulation.boards.compare import AGAIN, BOARD
from dais_verif.simulation.boards.identity import Identity
from dais_verif.simulation.boards.session import Bytes, Session
from dais_verif.simulation.machines.expected import contradiction, describe, expect
from dais_verif.simulation.task import SimulationWatcher
from dais_verif.simulation.testbench.packed_rows import Words
from dais_verif.simulation.testbench.sequence_job import UNKNOWN, MachineDifference, SequenceRows
from dais_verif.simulation.verify import Finding
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import bits_of
from dais_verif.stimulus.generate_sequences import generate_sequence, generate_sequences
from dais_verif.stimulus.machines import InputSequence

__all__ = ["MachineRun", "hidden_outputs"]


#: The number of sequences in a block.
_BLOCK = 64


@dataclass(frozen=True)
class _Rows:
    """A sequence of ``cycles`` cycles. Each integer concatenates the bits of all cycles, with the first cycle lowest.

    ``vector``: the inputs of the sequence. ``expected``: the outputs before each edge, 0 where they are not ``known``.
    """

    cycles: int
    vector: int
    expected: int
    known: int


@dataclass
class MachineRun:
    """One run of ``sequences``, none of which has more cycles than a vector of the board.

    ``machine``: the machine as given. ``begun``: the same machine, with the initial values that it has after a reset of
    the board. ``check``: check its promises.
    """

    machine: Machine
    begun: Machine
    sequences: Sequence[InputSequence]
    session: Session
    identity: Identity
    watcher: SimulationWatcher
    check: bool = True
    _compared: int = field(default=0, init=False)
    _bits: int = field(default=0, init=False)
    _wrong: int = field(default=0, init=False)
    _first: tuple[int, MachineDifference] | None = field(default=None, init=False)

    def finding(self) -> Finding:
        """Run the sequences on the board, and return the result. Failures and broken promises are also findings."""
        begin = time.monotonic()
        total = sum(sequence.cycles for sequence in self.sequences)
        if not total or not sum(bits_of(signal.types) for signal in self.machine.outputs):
            reason = "there was no cycle" if not total else "the machine has no output bits"
            return Finding(Verdict.NOT_RUN, f"nothing was compared: {reason}", [self._result(begin)])
        try:
            expected = expect(self.begun, self.sequences, check=self.check)
        except ViolationError as error:
            message = f"{error}; --unchecked carries on as hardware would"
            return Finding(Verdict.PROGRAM_INVALID, message, [self._result(begin)])
        try:
            self._compare([self._rows(rows) for rows in expected])
        except ToolError as error:
            message = f"after {self._compared} of {total} cycles: {error}"
            return Finding(
                Verdict.TOOL_FAILURE, message, [replace(self._result(begin), failure=str(error), code=error.code)]
            )
        result = self._result(begin)
        if self._compared != total:
            raise AssertionError(f"{self._compared} of {total} cycles were compared")
        if self._first is not None:
            return self._differing(*self._first, result)
        for number in {0, len(self.sequences) - 1}:
            wrong = self._contradicted(number, self._rows(expected[number]))
            if wrong is not None:
                return Finding(Verdict.UNKNOWN, wrong, [result])
        if not self._bits:
            why = "nothing was compared: every output depends on registers that no reset reaches"
            return Finding(Verdict.NOT_RUN, why, [result])
        cycles = self.identity.latency
        hidden = hidden_outputs(self.machine, self.begun, expected, cycles)
        if hidden:
            shown = ", ".join(hidden[:4]) + (f" and {len(hidden) - 4} more" if len(hidden) > 4 else "")
            message = (
                f"{shown}: never known, or always the same, in the {cycles} cycles of a vector, unlike in longer"
                " sequences; all that was compared is equal, but no fault there would be found: make a board with more"
                f" cycles (emit --wrap KIND --cycles N, hil --target sim://KIND?cycles=N){self._or_reset()}"
            )
            return Finding(Verdict.NOT_RUN, message, [result])
        message = (
            f"all {self._bits} known output bits of {total} cycles, before each edge, in sequences of at most {cycles}"
            " from a reset, equal the golden model"
        )
        return Finding(Verdict.PASS, message, [result])

    def _or_reset(self) -> str:
        """Return a further hint for outputs that may be unknown because they depend on state that is not reset."""
        before, after = self.machine.signals, self.begun.signals
        lost = [name for name in before if before[name].initial is not None and after[name].initial is None]
        return f", or reset {', '.join(lost)}, which may hold anything when a vector begins" if lost else ""

    def _compare(self, rows: Sequence[_Rows]) -> None:
        total = sum(one.cycles for one in rows)

        def blocks() -> Iterator[Bytes]:
            for start in range(0, len(rows), _BLOCK):
                yield np.stack([self._bytes(one.vector) for one in rows[start : start + _BLOCK]])

        def told(done: int) -> None:
            self.watcher.vectors(BOARD, min(done * self.identity.latency, total), total)

        numbers = iter(range(len(rows)))
        for results in self.session.run(blocks(), self.identity, told):
            for result in results:
                number = next(numbers)
                self._judge(number, rows[number], self._integer(result))

    def _judge(self, number: int, rows: _Rows, found: int) -> None:
        """Compare ``found``, the outputs of the board for sequence ``number``, with the expected ones."""
        bits = board_bits(self.machine)[1]
        self._bits += rows.known.bit_count()
        self._compared += rows.cycles
        wrong = (found ^ rows.expected) & rows.known
        for cycle in range(rows.cycles if wrong else 0):
            if wrong >> cycle * bits & (1 << bits) - 1:
                self._wrong += 1
                if self._first is None:
                    self._first = number, self._difference(rows, found, cycle)

    def _difference(self, rows: _Rows, found: int, cycle: int) -> MachineDifference:
        bits = board_bits(self.machine)[1]
        return MachineDifference(cycle, False, self._expected(rows, cycle), _text(found >> cycle * bits, bits))

    def _expected(self, rows: _Rows, cycle: int) -> str:
        """Return the expected outputs before the edge of ``cycle`` as text, with ``UNKNOWN`` for each unknown bit."""
        bits = board_bits(self.machine)[1]
        values, known = (_text(whole >> cycle * bits, bits) for whole in (rows.expected, rows.known))
        return "".join(value if said == "1" else UNKNOWN for value, said in zip(values, known, strict=True))

    def _rows(self, rows: SequenceRows) -> _Rows:
        bits_in, bits_out = board_bits(self.machine)
        cycles = len(rows.inputs)
        known = (1 << cycles * bits_out) - 1 if rows.known is None else _packed(rows.known[::2], bits_out)
        return _Rows(cycles, _packed(rows.inputs, bits_in), _packed(rows.expected[::2], bits_out) & known, known)

    def _bytes(self, vector: int) -> Bytes:
        width = -(-self.identity.input_bits // 8)
        return np.frombuffer(vector.to_bytes(width, "little"), np.uint8)

    def _integer(self, result: Bytes) -> int:
        """Return the outputs of all cycles. Raises ``ToolError`` if bits beyond the port are set."""
        value = int.from_bytes(result.tobytes(), "little")
        if value >> self.identity.output_bits:
            raise BoardFailure(
                "the board sets bits beyond its output port: its bridge does not keep the protocol; make its bitstream "
                "again (dais-verif emit --wrap)"
            )
        return value

    def _contradicted(self, number: int, rows: _Rows) -> str | None:
        """Return the contradiction between the oracle and the expected outputs in a sequence's last cycle, or None."""
        text = self._expected(rows, rows.cycles - 1)
        same = MachineDifference(rows.cycles - 1, False, text, text)
        return contradiction(self.begun, self.sequences[number], same, check=self.check)

    def _differing(self, number: int, difference: MachineDifference, result: SimulatorResult) -> Finding:
        mismatch = describe(self.machine, self.sequences, BOARD, number, difference)
        wrong = contradiction(self.begun, self.sequences[number], difference, check=self.check)
        if wrong is not None:
            return Finding(Verdict.UNKNOWN, wrong, [result], replace(mismatch, blame=Blame("golden", wrong)))
        text = f"{self._wrong} of {self._compared} cycles differ from the golden model"
        return Finding(Verdict.RTL_MISMATCH, text, [result], self._again(mismatch, number, difference))

    def _again(self, mismatch: Mismatch, number: int, difference: MachineDifference) -> Mismatch:
        """Send a failed sequence again; add to ``mismatch`` how many times the first wrong cycle was the same."""
        self.watcher.notice(f"sending sequence {number} again, {AGAIN} times")
        (expected,) = expect(self.begun, [self.sequences[number]], check=False)
        rows, bits = self._rows(expected), board_bits(self.machine)[1]
        place = str(mismatch.place)
        try:
            (results,) = self.session.run([np.stack([self._bytes(rows.vector)] * AGAIN)], self.identity)
            found = [self._integer(result) for result in results]
        except DaisError as error:
            text = f"{place}; sequence {number} could not be sent again: {error}"
            return replace(mismatch, blame=Blame(BOARD, text))
        until = (1 << (difference.cycle + 1) * bits) - 1
        wrong = int(difference.found, 2) << difference.cycle * bits
        there = rows.known & until & ~(until >> bits)
        same = sum(not (one ^ wrong) & there for one in found)
        right = sum(not (one ^ rows.expected) & rows.known & until for one in found)
        what = f"{place}; sequence {number}, sent again {AGAIN} times,"
        if same == AGAIN:
            text = f"{what} gives the same wrong bits each time: the logic on the board is wrong"
        elif right == AGAIN:
            text = f"{what} is right each time: it depends on what was sent before, or the clock is too fast"
        else:
            text = f"{what} is right {right} times and gives the same wrong bits {same} times: is the clock too fast?"
        return replace(mismatch, blame=Blame(BOARD, text))

    def _result(self, begin: float) -> SimulatorResult:
        return SimulatorResult(
            BOARD,
            f"protocol-{self.identity.protocol}",
            vectors_compared=self._compared,
            bits_compared=self._bits,
            mismatches=self._wrong,
            run_seconds=round(time.monotonic() - begin, 3),
        )


def _packed(words: Words, bits: int) -> int:
    """Return the concatenated lowest ``bits`` bits of all packed rows as an integer, with the first row lowest."""
    little = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    rows = np.unpackbits(little, axis=1, count=bits, bitorder="little")
    return int.from_bytes(np.packbits(rows.reshape(-1), bitorder="little").tobytes(), "little")


def _text(value: int, bits: int) -> str:
    """Return the lowest ``bits`` bits of an integer as text, most significant first."""
    return format(value & (1 << bits) - 1, f"0{bits}b")


# Find the outputs of a machine that a board cannot show: they change in longer sequences, but not within a vector.


#: The largest number of short sequences that are tried, and the largest number of cycles of long sequences.
_SHORT, _LONG = 256, 4096
#: The largest product of ops and cycles, which takes only seconds in any engine.
_MOST_EXACT = 2_000_000


class _Shown(IntEnum):
    """The values of an element before the observed edges: no known bits, constant bits, or a bit with both values."""

    UNKNOWN = 0
    STILL = 1
    CHANGING = 2


def hidden_outputs(machine: Machine, begun: Machine, rows: Sequence[SequenceRows], cycles: int) -> list[str]:
    """Return the output elements that change or are known in longer sequences, but not within ``cycles`` cycles.

    ``rows``: the sequences that were run, which have at most ``cycles`` cycles from a reset. More such sequences are
    tried, so that the result depends on the number of cycles, and not on the choice of sequences. ``begun``:
    ``machine`` with the initial values that it has after a reset of the board.
    """
    seen = _shown(machine, rows)
    if all(shown is _Shown.CHANGING for shown in seen.values()):
        return []
    n_ops = sum(block.program.n_ops for block in machine.blocks.values())
    most = max(min(_LONG, _MOST_EXACT // max(n_ops, 1)), 4 * cycles)
    long = _shown(machine, expect(machine, generate_sequences(machine, most), check=False))
    if all(seen[name] >= long[name] for name in seen):
        return []
    tried = [generate_sequence(begun, cycles, number, number) for number in range(min(_SHORT, -(-2 * most // cycles)))]
    short = _shown(machine, expect(begun, tried, check=False))
    return [name for name in seen if max(seen[name], short[name]) < long[name]]


def _shown(machine: Machine, rows: Iterable[SequenceRows]) -> dict[str, _Shown]:
    """Return the kind of observed values of each output element that has bits, by the name of the element."""
    total = sum(bits_of(signal.types) for signal in machine.outputs)
    words = max(-(-total // 64), 1)
    ones, zeros = np.zeros(words, dtype="<u8"), np.zeros(words, dtype="<u8")
    for one in rows:
        expected = one.expected[::2]
        known = ~np.zeros_like(expected) if one.known is None else one.known[::2]
        ones |= np.bitwise_or.reduce(expected & known, axis=0)
        zeros |= np.bitwise_or.reduce(~expected & known, axis=0)
    both, some = (int.from_bytes(found.tobytes(), "little") for found in (ones & zeros, ones | zeros))
    shown, offset = {}, 0
    for signal in machine.outputs:
        for place, kind in enumerate(signal.types):
            name = signal.name if len(signal.types) == 1 else f"{signal.name}[{place}]"
            bits = (1 << kind.width) - 1 << offset
            if kind.width:
                shown[name] = _Shown.CHANGING if both & bits else _Shown.STILL if some & bits else _Shown.UNKNOWN
            offset += kind.width
    return shown
