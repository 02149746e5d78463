"""Drive the input ports, read the output ports, compare every bit.

Runs in the simulator's process. Vectors come in chunks, while later ones are still being made. Each vector takes one
wide write or read per port, as strings. If the simulator has a bulk path, all vectors go through it, and the first ones
also through the ports; both must agree on these. The first vectors (``Job.filled``) run again with other values for
what nothing drives: a bit of the output that changes is X, though no two-state simulator shows it. A clocked design
gets bubbles, stalls and resets in the first vectors, as far as it has pins for them, and later a sample at every edge.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from cocotb.utils import get_sim_time

from dais_verif.base.text import counted
from dais_verif.simulation.scoreboard import Chunk, Scoreboard, other_in_bulk, words_of_text
from dais_verif.simulation.testbench.bulk import FILLINGS, Evaluator, evaluator, outputs_and_unknown
from dais_verif.simulation.testbench.clocked import AmbiguousLatency, Clocked, ProtocolError, find_latency
from dais_verif.simulation.testbench.idle import driven, filled, phases, worst
from dais_verif.simulation.testbench.job import Answer, Job
from dais_verif.simulation.testbench.packed_rows import Words, port_strings
from dais_verif.simulation.testbench.pins import Combinational, PortHandles, problem_with

#: The number of vectors that also go through the ports if there is a bulk path; they include all corners.
SMOKE = 256

#: The number of vectors between two looks at the wall clock, and the seconds between progress reports.
_BLOCK = 256

JOB = Job


async def drive(dut: Any, job: Job) -> tuple[Answer, str | None]:
    """Return the answer to ``job``, and why the test does not pass."""
    problem = problem_with(dut, job.interface)
    answer = Answer(port_error=problem and f"the design does not fit the program: {problem}")
    if not answer.port_error:
        scoreboard = Scoreboard(job)
        try:
            await _run(dut, job, scoreboard)
            answer = scoreboard.answer()
        except AmbiguousLatency as error:
            answer = Answer(port_error=str(error))
        except ProtocolError as error:
            answer = replace(scoreboard.answer(), protocol_error=str(error))
    return answer, problem_of(answer, job.closed().rows)


def problem_of(answer: Answer, rows: int) -> str | None:
    """Return why the test does not pass."""
    if answer.port_error or answer.protocol_error:
        return answer.port_error or answer.protocol_error
    if not answer.rows == rows > 0:
        return "no vector was compared"
    if answer.unknown_rows:
        return f"{counted(answer.unknown_rows, 'vector')} with X or Z in the output"
    wrong = answer.mismatching_rows
    return f"{wrong} of {answer.rows} vectors differ from the golden model" if wrong else None


async def _run(dut: Any, job: Job, scoreboard: Scoreboard) -> None:
    """Run and compare all chunks of the job."""
    numbers = iter(job.numbers)
    first = next(numbers, None)
    if first is None:
        return
    with ExitStack() as opened:
        # This must happen before simulated time passes.
        # The first chunk runs with all fillings, other chunks with one. All instances of a thread run the same chunks,
        # so that only the filling tells them apart.
        filled_with = [FILLINGS, *[FILLINGS[:1]] * job.threads] if job.filled else []
        evaluators = [
            [opened.enter_context(evaluator(driven(job.interface), filling=filling)) for filling in (0, *fillings)]
            for fillings in filled_with
        ]
        chunk = Chunk.wait(job, first)
        if chunk is None:
            return
        ports = await _Ports.of(dut, job, chunk, scoreboard)
        if job.threads:
            await _in_bulk(job, chunk, evaluators, ports, scoreboard)
            return
        instances = evaluators[0] if evaluators else []
        await ports.compare(chunk, instances, lively=True)
    for number in numbers:
        following = Chunk.wait(job, number)
        if following is None:
            return
        await ports.compare(following)


def _given(job: Job, chunk: Chunk) -> list[Words]:
    """Return the inputs of a design for ``chunk``: its rows, or if some ports carry no data, its rows in two phases."""
    return [filled(chunk.inputs, job.interface, chunk.start, phase) for phase in phases(job.interface)]


class _Ports:
    """The path through the ports."""

    def __init__(self, driver: Combinational | Clocked, job: Job, scoreboard: Scoreboard) -> None:
        self._driver, self._job, self._scoreboard = driver, job, scoreboard

    @classmethod
    async def of(cls, dut: Any, job: Job, chunk: Chunk, scoreboard: Scoreboard) -> _Ports:
        """Return the path of the design, ready to run: the design is reset, and its latency is known."""
        interface = driven(job.interface)
        pins = PortHandles(dut, interface)
        if job.interface.clocking is None:
            return cls(Combinational(pins), job, scoreboard)
        driver = Clocked(dut, pins, job.interface.clocking, job.seed)
        rows = port_strings(_given(job, chunk)[0][:SMOKE], interface.input_bits)
        await driver.begin(rows[0])
        if driver.latency is None:
            expected = port_strings(chunk.expected[:SMOKE], job.interface.output_bits)
            driver.latency = await find_latency(driver, rows, expected)
            await driver.begin(rows[0])
        scoreboard.latency = driver.latency
        scoreboard.begins = int(get_sim_time("step"))
        return cls(driver, job, scoreboard)

    async def compare(self, chunk: Chunk, instances: Sequence[Evaluator] = (), *, lively: bool = False) -> None:
        """Run and compare all of ``chunk``. ``lively``: with bubbles, stalls and resets in its first block of rows.

        ``instances``: the design with several fillings, whose outputs must be the same.
        """
        answers, hidden = [], 0
        for phase, given in enumerate(_given(self._job, chunk)):
            found, unknown = await self.run(given, lively=lively and phase == 0)
            if instances:
                _, more = outputs_and_unknown(instances, given, self._scoreboard.latency or 0, self._job.output_bits)
                unknown, hidden = more | unknown, hidden + len(more)
            answers.append((given, found, unknown))
        given, found, unknown = worst(chunk.expected, answers)
        self._scoreboard.compare(replace(chunk, inputs=given), found, unknown, filled=hidden > 0)

    async def run(self, inputs: Words, *, lively: bool = False) -> tuple[Words, dict[int, str]]:
        """Return the outputs for packed ``inputs``, and the rows that hold X or Z. ``lively``: as in ``compare``."""
        begin = time.monotonic()
        found: list[str] = []
        bits = driven(self._job.interface).input_bits
        for start in range(0, len(inputs), _BLOCK):
            rows = port_strings(inputs[start : start + _BLOCK], bits)
            found += await self._block(rows, lively and start == 0)
            self._scoreboard.tell(len(found))
        words = words_of_text(found, self._job.interface.output_bits)
        self._scoreboard.spent("run", begin)
        return words

    async def _block(self, rows: Sequence[str], lively: bool) -> list[str]:
        if isinstance(self._driver, Clocked):
            return await self._driver.run(rows, lively=lively)
        return await self._driver.run(rows)


async def _in_bulk(
    job: Job, first: Chunk, evaluators: Sequence[Sequence[Evaluator]], ports: _Ports, scoreboard: Scoreboard
) -> None:
    """Run the first vectors through the ports, and all vectors in threads, each with instances of the design."""
    numbers = iter(job.numbers[1:])
    own, *others = evaluators

    def work(instances: Sequence[Evaluator]) -> None:
        for number in numbers:  # shared: the next chunk that no thread has taken
            chunk = Chunk.wait(job, number)
            if chunk is None:
                return
            run(chunk, instances if chunk.start < job.filled else instances[:1])

    def run(chunk: Chunk, instances: Sequence[Evaluator]) -> tuple[Words, dict[int, str]]:
        begin, latency = time.monotonic(), scoreboard.latency or 0
        answers = [
            (given, *outputs_and_unknown(instances, given, latency, job.output_bits)) for given in _given(job, chunk)
        ]
        scoreboard.spent("run", begin)
        given, found, unknown = worst(chunk.expected, answers)
        scoreboard.compare(replace(chunk, inputs=given), found, unknown, bulk=True, filled=True)
        return answers[0][1:]

    with ThreadPoolExecutor(job.threads) as pool:
        working = [pool.submit(work, instances) for instances in (others if len(job.numbers) > 1 else [])]
        found, changing = run(first, own)
        seen, unknown = await ports.run(_given(job, first)[0][:SMOKE], lively=True)
        for future in working:
            future.result()
    unequal = np.flatnonzero((seen != found[:SMOKE]).any(axis=1)).tolist()
    differing = [row for row in (*unequal, *unknown) if row not in changing]
    if differing and job.interface.clocking is not None:
        raise ProtocolError(other_in_bulk(first, found, differing, scoreboard.latency))
    if differing:
        raise RuntimeError(
            f"vector {first.start + min(differing)} gives different outputs through the ports and in bulk"
        )
