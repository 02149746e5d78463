"""The cocotb testbench of a machine: sequences from power-up, every output bit before and after every edge.

Runs in the simulator's process. It drives the clock itself: clock low and inputs, wait, read; rising edge, wait, read.
Registers have their initial values only at power-up, so only one sequence can go through the ports. If the simulator
has a bulk path, all sequences go through it, each with a separate instance of the design, and the first cycles of the
first sequence also through the ports: both must agree.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Timer

from dais_verif.dut.interface import DesignInterface
from dais_verif.simulation.scoreboard import digest_of, digest_of_sequence, first_row_of, words_of_text
from dais_verif.simulation.testbench.bulk import run_sequence
from dais_verif.simulation.testbench.idle import driven, filled
from dais_verif.simulation.testbench.machine_job import (
    MACHINE_JOB_VARIABLE,
    UNKNOWN,
    MachineAnswer,
    MachineDifference,
    MachineJob,
    SequenceFiles,
    SequenceRows,
    differs,
    save_answers,
    text_of_rows,
)
from dais_verif.simulation.testbench.packing import Words
from dais_verif.simulation.testbench.pins import PortHandles, handle_of, problem_with

#: The number of cycles that also go through the ports if there is a bulk path.
_SMOKE = 256
#: The number of cycles whose rows are converted to text at once.
_BLOCK = 1024


@cocotb.test()
async def outputs_equal_golden_model(dut: Any) -> None:
    """Every known output bit of every cycle equals the golden model's."""
    job = MachineJob.load(Path(os.environ[MACHINE_JOB_VARIABLE]))
    problem = problem_with(dut, job.interface)
    if problem:
        answers = [MachineAnswer(port_error=f"the design does not fit the machine: {problem}")]
    elif job.threads:
        answers = await _in_bulk(dut, job)
    else:
        (files,) = job.sequences
        answers = [(await _Ports(dut, job.interface).run(files.rows(), files.number))]
    save_answers(Path(job.answer), answers)
    problem = _problem(answers, job)
    # Not ``assert``, which Python's optimisation removes.
    if problem:
        raise AssertionError(problem)


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
        rows = files.rows()
        found = run_sequence(driven(job.interface), filled(rows.inputs, job.interface, first_row_of(files.number), 0))
        own = found[: 2 * _SMOKE] if files is job.sequences[0] else None
        return compare(rows, found, job.interface.output_bits, files.number), own

    with ThreadPoolExecutor(job.threads) as pool:
        done = list(pool.map(run, job.sequences))
    bulk = done[0][1]
    assert bulk is not None
    rows = job.sequences[0].rows()
    first = job.sequences[0].number
    same = await _Ports(dut, job.interface).run(SequenceRows(rows.inputs[:_SMOKE], bulk), first)
    if same.first is not None:
        raise RuntimeError(f"cycle {same.first.cycle} gives different outputs through the ports and in bulk")
    return [answer for answer, _ in done]


def compare(rows: SequenceRows, found: Words, bits: int, number: int = 0) -> MachineAnswer:
    """Return the result of sequence ``number`` in bulk, where outputs have no X."""
    wrong = found ^ rows.expected
    if rows.known is not None:
        wrong &= rows.known
    differing = np.flatnonzero(wrong.any(axis=1))
    first = None
    if differing.size:
        at = int(differing[0])
        known = None if rows.known is None else rows.known[at : at + 1]
        (expected,) = text_of_rows(rows.expected[at : at + 1], bits, known)
        (seen,) = text_of_rows(found[at : at + 1], bits)
        first = MachineDifference(at // 2, at % 2 == 1, expected, seen)
    compared = len(found) * bits if rows.known is None else int(np.unpackbits(rows.known.view(np.uint8)).sum())
    cycles = len(found) // 2
    digest = digest_of_sequence(number, found, rows.known)
    wrong_cycles = len(set((differing // 2).tolist()))
    return MachineAnswer(cycles, compared, wrong_cycles, 0, first, bulk=cycles, digest=f"{digest:064x}")


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
        mismatching = unknown = 0
        first: MachineDifference | None = None
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
                wrong = [
                    MachineDifference(cycle, edge == 1, *pair)
                    for edge, pair in enumerate(zip(wanted, found, strict=True))
                    if differs(*pair)
                ]
                if wrong:
                    first = first or wrong[0]
                    if any(one.unknown for one in wrong):
                        unknown += 1
                    else:
                        mismatching += 1
                bits += sum(len(text) - text.count(UNKNOWN) for text in wanted)
                cycle += 1
            words, with_x = words_of_text(seen, self._interface.output_bits)
            digest ^= digest_of(first_row_of(number) + 2 * start, words, with_x)
        return MachineAnswer(cycle, bits, mismatching, unknown, first, digest=f"{digest:064x}")

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
