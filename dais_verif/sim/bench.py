"""The cocotb testbench: drive the packed input port, read the packed output port, compare every bit.

Runs inside the simulator. Vectors come in chunks, while later ones are still being made. Through the ports goes one
wide write and one wide read a vector, as strings; one combinational rule for all simulators: drive, wait, read.
Where the simulator has a bulk path, the first vectors go through the ports and everything through the bulk path,
and both must agree on the first.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Timer

from dais_verif.sim.bulk import evaluator
from dais_verif.sim.job import Answer, Job
from dais_verif.sim.packing import Words
from dais_verif.sim.scoreboard import Chunk, Scoreboard, words_of_text

#: Vectors that also go through the ports where there is a bulk path: all corners are among them.
SMOKE = 256

#: Vectors between two looks at the clock, and the seconds after which the progress is told.
_BLOCK = 256


@cocotb.test()
async def outputs_equal_golden_model(dut: Any) -> None:
    """Every output bit of every vector equals the golden model's."""
    job = Job.given()
    problem = _port_problem(dut, job)
    if problem:
        Answer(port_error=problem).save(Path(job.answer))
        raise AssertionError(problem)
    scoreboard = Scoreboard(job)
    if job.threads:
        await _in_bulk(dut, job, scoreboard)
    else:
        for number in job.numbers:
            chunk = Chunk.wait(job, number)
            scoreboard.compare(chunk, *await _through_ports(dut, job, chunk.inputs, scoreboard))
    answer = scoreboard.answer()
    answer.save(Path(job.answer))
    assert answer.rows == job.rows > 0, "no vector was compared"
    assert not answer.unknown_rows, f"{answer.unknown_rows} vectors with X or Z in the output"
    assert not answer.mismatching_rows, f"{answer.mismatching_rows} vectors differ from the golden model"


async def drive(dut: Any, vectors: list[str]) -> list[str]:
    """The output port's bits for each vector of the input port's bits, most significant bit first."""
    port, out, wait = dut.model_inp, dut.model_out, Timer(1, unit="ns")
    found = []
    for vector in vectors:
        port.value = vector
        await wait
        found.append(str(out.value))
    return found


async def _through_ports(dut: Any, job: Job, inputs: Words, scoreboard: Scoreboard) -> tuple[Words, dict[int, str]]:
    begin = time.monotonic()
    found: list[str] = []
    for start in range(0, len(inputs), _BLOCK):
        found += await drive(dut, _port_strings(inputs[start : start + _BLOCK], job.input_bits))
        scoreboard.tell(len(found))
    words = words_of_text(found, job.output_bits)
    scoreboard.spent("run", begin)
    return words


async def _in_bulk(dut: Any, job: Job, scoreboard: Scoreboard) -> None:
    """The first vectors through the ports, then all in threads, each with an instance of the design."""
    numbers = iter(job.numbers)

    def work() -> None:
        with evaluator(job.output_bits) as evaluate:
            for number in numbers:  # the next one that nobody has taken
                chunk = Chunk.wait(job, number)
                run(chunk, evaluate)

    def run(chunk: Chunk, evaluate: Any) -> Words:
        begin = time.monotonic()
        found: Words = evaluate(chunk.inputs)
        scoreboard.spent("run", begin)
        scoreboard.compare(chunk, found, bulk=True)
        return found

    first = next(numbers, None)
    if first is None:
        return
    chunk = Chunk.wait(job, first)
    with ThreadPoolExecutor(job.threads) as pool:
        others = [pool.submit(work) for _ in range(job.threads if len(job.numbers) > 1 else 0)]
        with evaluator(job.output_bits) as evaluate:
            found = run(chunk, evaluate)
        seen, unknown = await _through_ports(dut, job, chunk.inputs[:SMOKE], scoreboard)
        for other in others:
            other.result()
    differing = np.flatnonzero((seen != found[:SMOKE]).any(axis=1)).tolist() + list(unknown)
    if differing:
        raise RuntimeError(f"vector {chunk.start + min(differing)} gives other outputs through the ports than in bulk")


def _port_problem(dut: Any, job: Job) -> str | None:
    """Why the DUT's ports are not the program's, or None."""
    for name, bits in (("model_inp", job.input_bits), ("model_out", job.output_bits)):
        port = getattr(dut, name, None)
        if port is None:
            return f"the design has no port {name}; the program needs {name} with {max(bits, 1)} bits"
        if len(port) != max(bits, 1):
            return f"port {name} of the design has {len(port)} bits; the program needs {max(bits, 1)}"
    return None


def _port_strings(words: Words, bits: int) -> list[str]:
    """Each row as a string, most significant bit first; a port without bits is driven 0 and 1 in turn."""
    if bits == 0:
        return [str(row & 1) for row in range(len(words))]
    little = np.unpackbits(words.view(np.uint8), axis=1, count=bits, bitorder="little")
    text = (np.ascontiguousarray(little[:, ::-1]) + np.uint8(ord("0"))).tobytes().decode()
    return [text[at : at + bits] for at in range(0, len(text), bits)]
