"""The task of ``hil`` for programs: compare the results of a board with the golden model, and return a verdict.

stimulus -> golden model -> expected bits ─┐
        └-> packed -> frames -> board -> results -> compare -> verdict
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dais_verif.base.errors import BoardError, BoardFailure, DaisError, ToolError, ViolationError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.text import equal_text
from dais_verif.base.verdict import Verdict
from dais_verif.golden import Golden
from dais_verif.hardware.ports.interface import packed
from dais_verif.record.simulation import Blame, Mismatch, SimulatorResult
from dais_verif.simulation.boards.identity import Identity
from dais_verif.simulation.boards.session import Bytes, Journal, Session
from dais_verif.simulation.diagnosis.blame import blame_engines, blame_expectation, judge_rows
from dais_verif.simulation.diagnosis.mismatch import describe
from dais_verif.simulation.outputs import outputs_of
from dais_verif.simulation.scoreboard import Chunk, Scoreboard, words_of_text
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.task import SimulationOptions, SimulationWatcher, Task
from dais_verif.simulation.testbench.idle import driven, filled, idle_text, phases, worst
from dais_verif.simulation.testbench.job import Answer, Difference, Job, merged
from dais_verif.simulation.testbench.packed_rows import Words, bits_of_row, row_words
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.simulation.verify import Finding
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import Vectors

__all__ = ["AGAIN", "BOARD", "Run", "as_bytes", "as_words"]

#: The name of a board where a record has the name of a simulator.
BOARD = "board"

#: Rows between two entries of the journal; a multiple of the rows that the digest hashes together.
_CHUNK = 1024
#: The number of times that a failing vector is sent again.
AGAIN = 8
#: The largest number of ops that the oracle evaluates to check the golden model, and the largest number of rows.
_ORACLE_OPS, _ORACLE_ROWS = 100_000, 4


@dataclass
class Run:
    """One run of ``vectors`` on a board. ``folder``: for temporary files. ``check``: check the program's promises."""

    program: Program
    vectors: Vectors
    session: Session
    identity: Identity
    journal: Journal
    folder: Path
    watcher: SimulationWatcher
    check: bool = True

    def __post_init__(self) -> None:
        self._ports = ports_of(self.program)
        self._golden = Golden(self.program)
        self._dut = packed(self.program)
        rows = self.vectors.rows
        self._starts = [*range(0, rows, _CHUNK), rows]
        if self.journal.rows not in self._starts or self.journal.rows != self.journal.answer.rows:
            raise BoardError.of("the files of the earlier run cannot be used; start again without {resume}")
        self._board = Scoreboard(
            Job(
                chunks="",
                starts=self._starts,
                progress=str(self.folder / "progress"),
                interface=self._dut.interface,
            )
        )
        self._phases, self._driven_bits = len(phases(self._dut.interface)), driven(self._dut.interface).input_bits
        #: The vectors that were sent to the board but not yet compared: the inputs of each phase of a chunk, and the
        #: chunks.
        self._given: deque[Words] = deque()
        self._made: deque[Chunk] = deque()
        self._noted: dict[int, str] = {}
        self._wanted = _few(rows, max(1, min(_ORACLE_ROWS, _ORACLE_OPS // max(self.program.n_ops, 1))))

    def finding(self) -> Finding:
        """Run the vectors on the board, and return the result. Failures and broken promises are also findings."""
        begin = time.monotonic()
        total = self.vectors.rows
        if not total or not self._ports.output_bits:
            reason = "there was no vector" if not total else "the program has no output bits"
            return Finding(Verdict.NOT_RUN, f"nothing was compared: {reason}", [self._result(begin)])
        try:
            self._compare()
        except ViolationError as error:
            message = f"{error}; --unchecked continues with the quantised value"
            return Finding(Verdict.PROGRAM_INVALID, message, [self._result(begin)])
        except AssertionError as error:  # the golden engine and the oracle disagree
            message = f"{error}; this is a bug of dais-verif, please report it"
            return Finding(Verdict.UNKNOWN, message, [self._result(begin)])
        except ToolError as error:
            done = self.answer.rows
            message = f"after {done} of {total} vectors: {error}"
            # The result of the compared vectors must not be lost, but other vectors must not count as compared.
            return Finding(
                Verdict.TOOL_FAILURE, message, [replace(self._result(begin), failure=str(error), code=error.code)]
            )
        result = self._result(begin)
        suspect = self._check_golden()
        if suspect is not None:
            return Finding(Verdict.UNKNOWN, suspect.text, [result])
        answer = self.answer
        if answer.rows != total:
            raise AssertionError(f"{answer.rows} of {total} vectors were compared")
        outputs = outputs_of(self._ports, answer.rows, int(answer.wrong, 16))
        if answer.first_mismatch is None:
            message = equal_text(answer.bits, answer.rows)
            return Finding(Verdict.PASS, message, [result], outputs=outputs)
        mismatch = self._mismatch(answer.first_mismatch)
        if mismatch.blame is not None and mismatch.blame.kind == "golden":
            return Finding(Verdict.UNKNOWN, mismatch.blame.text, [result], mismatch)
        message = f"{answer.mismatching_rows} of {answer.rows} vectors differ from the golden model"
        message += idle_text(self._dut.interface)
        return Finding(Verdict.RTL_MISMATCH, message, [result], mismatch, outputs=outputs)

    @property
    def answer(self) -> Answer:
        """The result for all vectors so far, including those of an earlier run."""
        return merged([self.journal.answer, self._board.answer()])

    def _compare(self) -> None:
        before = self.journal.rows
        results = self.session.run(
            self._blocks(before),
            self.identity,
            lambda rows: self.watcher.vectors(BOARD, before + rows // self._phases, self.vectors.rows),
        )
        answers: list[tuple[Words, Words, dict[int, str]]] = []
        for result in results:
            answers.append((self._given.popleft(), as_words(result, self._ports.output_bits), {}))
            if len(answers) < self._phases:
                continue
            chunk = self._made.popleft()
            given, found, _ = worst(chunk.expected, answers)
            answers = []
            self._board.compare(replace(chunk, inputs=given), found)
            self.journal.save(chunk.start + chunk.rows, self.answer)

    def _blocks(self, first: int) -> Iterator[Bytes]:
        """Yield the vectors from row ``first`` on as bytes, one chunk at a time, and add each chunk to ``_made``."""
        for number, (start, stop) in enumerate(itertools.pairwise(self._starts)):
            if start < first:
                continue
            batch = self.vectors.slice(start, stop)
            outputs = self._golden.run_raw(batch, check=self.check, jobs=1, named=start)
            inputs = pack_inputs(batch, self._ports)
            expected = pack_outputs(outputs, self._ports, batch.rows)
            for row in self._wanted:
                if start <= row < stop:
                    self._noted[row] = bits_of_row(expected, row - start, self._ports.output_bits)
            self._made.append(Chunk(number, start, inputs, expected))
            for phase in range(self._phases):
                given = filled(inputs, self._dut.interface, start, phase)
                self._given.append(given)
                yield as_bytes(given, self._driven_bits)

    def _check_golden(self) -> Blame | None:
        """Return the contradiction between the oracle and the golden model in one of a few rows; None without one.

        A contradiction means that nothing is known about the board.
        """
        for row, expected in self._noted.items():
            suspect = self._judge(row, expected)
            if suspect is not None:
                return suspect
        return None

    def _judge(self, row: int, expected: str) -> Blame | None:
        judged = judge_rows(self.program, self.vectors.slice(row, row + 1), [row])
        return blame_expectation(self.program, self._dut, judged, {row: expected}, self.check)

    def _mismatch(self, difference: Difference) -> Mismatch:
        row = difference.row
        batch = self.vectors.slice(row, row + 1)
        task = Task(self.program, RtlDesign((), ""), self.folder, SimulationOptions(()), self.watcher, Stopwatch())
        mismatch = describe(task, batch, BOARD, difference)
        judged = judge_rows(self.program, batch, [row])
        suspect = blame_engines(self.program, self._golden.compiled, batch, judged)
        suspect = suspect or self._judge(row, difference.expected)
        return replace(mismatch, blame=suspect or self._again(difference))

    def _again(self, difference: Difference) -> Blame:
        """Send a failed vector again, and return how often it fails; an unstable result is not a fault of the logic."""
        row = difference.row
        self.watcher.notice(f"sending vector {row} again, {AGAIN} times")
        vector = as_bytes(words_of_text([difference.inputs], self._driven_bits)[0], self._driven_bits)
        bits = self._ports.output_bits
        try:
            (results,) = self.session.run([np.repeat(vector, AGAIN, axis=0)], self.identity)
        except DaisError as error:
            return Blame(BOARD, f"vector {row} could not be sent again: {error}")
        found = [bits_of_row(as_words(results, bits), k, bits) for k in range(AGAIN)]
        same, right = found.count(difference.found), found.count(difference.expected)
        what = f"vector {row}, sent again {AGAIN} times,"
        if same == AGAIN:
            text = f"{what} gives the same wrong bits each time: the logic on the board is wrong"
        elif right == AGAIN:
            text = f"{what} is right each time: it depends on what was sent before, or the clock is too fast"
        else:
            text = f"{what} is right {right} times and gives the same wrong bits {same} times: is the clock too fast?"
        return Blame(BOARD, text)

    def _result(self, begin: float) -> SimulatorResult:
        answer = self.answer
        return SimulatorResult(
            BOARD,
            f"protocol-{self.identity.protocol}",
            vectors_compared=answer.rows,
            bits_compared=answer.bits,
            mismatches=answer.mismatching_rows,
            digest=answer.digest,
            run_seconds=round(time.monotonic() - begin, 3),
        )


def _few(total: int, count: int) -> list[int]:
    """Return the numbers of ``count`` evenly spread rows of ``total``, including the first and the last."""
    return sorted({int(row) for row in np.linspace(0, total - 1, count)}) if total else []


def as_bytes(words: Words, bits: int) -> Bytes:
    """Return packed rows as they are sent on the link, with only as many bytes as the port needs."""
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), -1)
    return np.ascontiguousarray(octets[:, : (max(bits, 1) + 7) // 8])


def as_words(found: Bytes, bits: int) -> Words:
    """Return received rows as packed rows. Raises ``ToolError`` if bits beyond the port are set."""
    octets = np.zeros((len(found), 8 * row_words(bits)), dtype=np.uint8)
    octets[:, : found.shape[1]] = found
    if bits % 8 and (found[:, -1] >> bits % 8).any():
        raise BoardFailure(
            "the board sets bits beyond its output port: its bridge does not keep the protocol; make its bitstream "
            "again (dais-verif emit --wrap)"
        )
    return octets.view("<u8")
