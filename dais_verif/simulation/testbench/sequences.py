"""Drive sequences of a machine from power-up; compare every output bit before and after every edge.

Runs in the simulator's process. It drives the clock itself: clock low and inputs, wait, read; rising edge, wait, read.
Registers have their initial values only at power-up, so only one sequence can go through the ports. If the simulator
has a bulk path, all sequences go through it, each with a separate instance of the design, and the first cycles of the
first sequence also through the ports: both must agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from cocotb.triggers import Timer

from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.simulation.departures import departure, followed
from dais_verif.simulation.scoreboard import digest_of, digest_of_sequence, first_row_of, words_of_text
from dais_verif.simulation.testbench.bulk import FILLINGS, run_sequence, unknown_bits
from dais_verif.simulation.testbench.idle import driven, filled
from dais_verif.simulation.testbench.packed_rows import Words
from dais_verif.simulation.testbench.pins import PortHandles, handle_of, problem_with
from dais_verif.simulation.testbench.sequence_job import (
    UNKNOWN,
    MachineAnswer,
    MachineDifference,
    MachineJob,
    SequenceFiles,
    SequenceRows,
    differs,
    text_of_rows,
)

#: The number of cycles that also go through the ports if there is a bulk path.
_SMOKE = 256
#: The number of sequences, and of their cycles, that run again with other values for what nothing drives.
_FILLED_SEQUENCES, _FILLED = 8, 4096
#: The number of cycles whose rows are converted to text at once.
_BLOCK = 1024

JOB = MachineJob


async def drive(dut: Any, job: MachineJob) -> tuple[list[MachineAnswer], str | None]:
    """Return the answer of each sequence, and why the test does not pass."""
    problem = problem_with(dut, job.interface)
    if problem:
        answers = [MachineAnswer(port_error=f"the design does not fit the machine: {problem}")]
    elif job.threads:
        answers = await _in_bulk(dut, job)
    else:
        (files,) = job.sequences
        answers = [(await _Ports(dut, job.interface).run(files.rows(), files.number))]
    return answers, _problem(answers, job)


def _problem(answers: list[MachineAnswer], job: MachineJob) -> str | None:
    """Return why the test does not pass; None if it passes."""
    for answer in answers:
        if answer.port_error:
            return answer.port_error
        if answer.first is not None:
            return f"{answer.mismatching + answer.unknown} cycles differ from the golden model"
    if [answer.cycles for answer in answers] != [files.cycles for files in job.sequences]:
        return "not every cycle was compared"
    return None if any(answer.bits for answer in answers) else "no bit was compared"


async def _in_bulk(dut: Any, job: MachineJob) -> list[MachineAnswer]:
    """Run all sequences in threads, before simulated time passes; then the first cycles of one through the ports."""

    def run(files: SequenceFiles) -> tuple[MachineAnswer, Words | None]:
        rows, bits = files.rows(), job.interface.output_bits
        inputs, interface = filled(rows.inputs, job.interface, first_row_of(files.number), 0), driven(job.interface)
        found = run_sequence(interface, inputs)
        some = inputs[:_FILLED] if files in job.sequences[:_FILLED_SEQUENCES] else inputs[:0]
        unknown = unknown_bits(
            found[: 2 * len(some)] & _mask(rows, len(some)),
            [run_sequence(interface, some, filling) & _mask(rows, len(some)) for filling in FILLINGS],
            bits,
        )
        own = found[: 2 * _SMOKE] if files is job.sequences[0] else None
        return compare(rows, found, bits, files.number, unknown), own

    with ThreadPoolExecutor(job.threads) as pool:
        done = list(pool.map(run, job.sequences))
    bulk = done[0][1]
    assert bulk is not None
    rows = job.sequences[0].rows()
    first = job.sequences[0].number
    known = None if rows.known is None else rows.known[: 2 * _SMOKE]  # the others may be X, of any value
    same = await _Ports(dut, job.interface).run(SequenceRows(rows.inputs[:_SMOKE], bulk, known), first)
    if same.first is not None:
        raise RuntimeError(f"cycle {same.first.cycle} gives different outputs through the ports and in bulk")
    return [answer for answer, _ in done]


def _mask(rows: SequenceRows, cycles: int) -> Words | np.uint64:
    """Return the bits of the first ``cycles`` whose value is known."""
    return np.uint64(0xFFFF_FFFF_FFFF_FFFF) if rows.known is None else rows.known[: 2 * cycles]


def compare(
    rows: SequenceRows, found: Words, bits: int, number: int = 0, unknown: Mapping[int, str] = {}
) -> MachineAnswer:
    """Return the result of sequence ``number`` in bulk. ``unknown``: the rows that have X, as ``unknown_bits`` does."""
    wrong = found ^ rows.expected
    if rows.known is not None:
        wrong &= rows.known
    cycles, tally = len(found) // 2, _Tally(bits)
    differing = sorted({*np.flatnonzero(wrong.any(axis=1)).tolist(), *unknown})
    for cycle in dict.fromkeys(row // 2 for row in differing):
        pair = slice(2 * cycle, 2 * cycle + 2)
        known = None if rows.known is None else rows.known[pair]
        seen = text_of_rows(found[pair], bits)
        texts = [unknown.get(2 * cycle + edge, text) for edge, text in enumerate(seen)]
        tally.take(cycle, list(text_of_rows(rows.expected[pair], bits, known)), texts)
    compared = len(found) * bits if rows.known is None else int(np.unpackbits(rows.known.view(np.uint8)).sum())
    digest = digest_of_sequence(number, found, rows.known)
    return replace(
        tally.answer, cycles=cycles, bits=compared, bulk=cycles, digest=f"{digest:064x}", filled=tally.answer.unknown
    )


class _Tally:
    """Counts cycles that differ, in order, and keeps the first differences. ``answer``: the counts so far."""

    def __init__(self, bits: int) -> None:
        self.answer, self._followed = MachineAnswer(), followed(2 * bits)

    def take(self, cycle: int, wanted: Sequence[str], found: Sequence[str]) -> None:
        """Take the two rows of a cycle."""
        wrong = [
            MachineDifference(cycle, edge == 1, *pair)
            for edge, pair in enumerate(zip(wanted, found, strict=True))
            if differs(*pair)
        ]
        if not wrong:
            return
        known, unknown = self.answer, any(one.unknown for one in wrong)
        departures = known.departures
        if cycle < self._followed:
            expected = "".join(wanted).replace(UNKNOWN, "0")
            departures = {**departures, str(cycle): departure(expected, "".join(map(_known, wanted, found)))}
        self.answer = replace(
            known,
            mismatching=known.mismatching + (not unknown),
            unknown=known.unknown + unknown,
            first=known.first or wrong[0],
            departures=departures,
        )


class _Ports:
    """The path through the ports."""

    def __init__(self, dut: Any, interface: DesignInterface) -> None:
        self._handles, self._wait = PortHandles(dut, driven(interface)), Timer(1, unit="ns")
        self._interface = interface
        clocking = interface.clocking
        self._clock = None if clocking is None else handle_of(dut, clocking.clock)

    async def run(self, rows: SequenceRows, number: int = 0) -> MachineAnswer:
        """Run sequence ``number``, and compare every cycle."""
        bits, cycle, digest = 0, 0, 0
        tally = _Tally(self._interface.output_bits)
        inputs = filled(rows.inputs, self._interface, first_row_of(number), 0)
        for start in range(0, len(inputs), _BLOCK):
            given = text_of_rows(inputs[start : start + _BLOCK], driven(self._interface).input_bits)
            span = slice(2 * start, 2 * (start + _BLOCK))
            known = None if rows.known is None else rows.known[span]
            expected = text_of_rows(rows.expected[span], self._interface.output_bits, known)
            seen: list[str] = []
            for row in given:
                wanted = (next(expected), next(expected))
                found = await self._cycle(row)
                seen += map(_known, wanted, found)
                tally.take(cycle, wanted, found)
                bits += sum(len(text) - text.count(UNKNOWN) for text in wanted)
                cycle += 1
            words, with_x = words_of_text(seen, self._interface.output_bits)
            digest ^= digest_of(first_row_of(number) + 2 * start, words, with_x)
        return replace(tally.answer, cycles=cycle, bits=bits, digest=f"{digest:064x}")

    async def _cycle(self, row: str) -> list[str]:
        """Return the outputs before the edge of a cycle, and after it."""
        found = []
        for level in (0, 1):
            if self._clock is not None:
                self._clock.value = level
            if level == 0:
                self._handles.write(row)
            await self._wait
            found.append(self._handles.read())
        return found


def _known(expected: str, found: str) -> str:
    """Return the bits of ``found``, with 0 for bits that are not compared."""
    if UNKNOWN not in expected:
        return found
    return "".join("0" if e == UNKNOWN else f for e, f in zip(expected, found, strict=True))
