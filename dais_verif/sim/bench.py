"""The cocotb testbench: drive the packed input port, read the packed output port, compare every bit.

Runs inside the simulator. One wide write and one wide read a vector, as strings; packing, unpacking and
comparison are numpy over a thousand vectors at a time. One combinational rule for all simulators: drive,
wait, read.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Timer
from numpy.typing import NDArray

from dais_verif.sim.job import JOB_VARIABLE, Answer, Difference, Job

CHUNK = 1024

_ZERO = ord("0")


@cocotb.test()
async def outputs_equal_golden_model(dut: Any) -> None:
    """Every output bit of every vector equals the golden model's."""
    job = Job.load(Path(os.environ[JOB_VARIABLE]))
    problem = _port_problem(dut, job)
    if problem:
        Answer(port_error=problem).save(Path(job.answer))
        raise AssertionError(problem)
    scoreboard = Scoreboard(job)
    inputs, expected = (
        _rows(job.inputs, job.rows, job.input_bits),
        _rows(job.expected, job.rows, job.output_bits),
    )
    for start in range(0, job.rows, CHUNK):
        stop = min(start + CHUNK, job.rows)
        found = await drive(dut, _port_strings(_unpacked(inputs[start:stop], job.input_bits)))
        scoreboard.compare(start, found, _unpacked(expected[start:stop], job.output_bits))
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


class Scoreboard:
    """Counts what was compared and keeps the first differences."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._digest = hashlib.sha256()
        self._rows = self._mismatching = self._unknown = 0
        self._first_mismatch: Difference | None = None
        self._first_unknown: Difference | None = None

    def compare(self, start: int, found: list[str], expected: NDArray[np.uint8]) -> None:
        """Compare the rows from ``start`` on; ``expected`` holds bits, bit 0 first."""
        text = "".join(found).encode()
        self._digest.update(text)
        bits = np.frombuffer(text, dtype=np.uint8).reshape(len(found), -1)[:, ::-1] - _ZERO
        unknown = bits > 1
        # A port without bits is one bit wide and tied to 0; it is looked at but not counted.
        wanted = expected if self._job.output_bits else np.zeros_like(bits)
        mismatching = np.asarray(((bits != wanted) & ~unknown).any(axis=1))
        unknown_rows = np.asarray(unknown.any(axis=1))
        self._rows += len(found)
        self._mismatching += int(mismatching.sum())
        self._unknown += int(unknown_rows.sum())
        for row in np.flatnonzero(mismatching | unknown_rows).tolist():
            difference = Difference(start + row, found[row])
            if mismatching[row]:
                self._first_mismatch = self._first_mismatch or difference
            if unknown_rows[row]:
                self._first_unknown = self._first_unknown or difference

    def answer(self) -> Answer:
        """What was found so far."""
        return Answer(
            rows=self._rows,
            bits=self._rows * self._job.output_bits,
            mismatching_rows=self._mismatching,
            unknown_rows=self._unknown,
            digest=self._digest.hexdigest(),
            first_mismatch=self._first_mismatch,
            first_unknown=self._first_unknown,
        )


def _port_problem(dut: Any, job: Job) -> str | None:
    """Why the DUT's ports are not the program's, or None."""
    for name, bits in (("model_inp", job.input_bits), ("model_out", job.output_bits)):
        port = getattr(dut, name, None)
        if port is None:
            return f"the design has no port {name}; the program needs {name} with {max(bits, 1)} bits"
        if len(port) != max(bits, 1):
            return f"port {name} of the design has {len(port)} bits; the program needs {max(bits, 1)}"
    return None


def _rows(path: str, rows: int, bits: int) -> NDArray[np.uint8]:
    size = (bits + 7) // 8
    if rows * size == 0:
        return np.zeros((rows, size), dtype=np.uint8)
    return np.memmap(path, dtype=np.uint8, mode="r", shape=(rows, size))


def _unpacked(packed: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    if packed.size == 0:
        return np.zeros((len(packed), bits), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=bits, bitorder="little")


def _port_strings(bits: NDArray[np.uint8]) -> list[str]:
    """Each row as a string, most significant bit first; a port without bits is driven 0 and 1 in turn."""
    if bits.shape[1] == 0:
        return [str(row & 1) for row in range(len(bits))]
    width = bits.shape[1]
    text = (np.ascontiguousarray(bits[:, ::-1]) + _ZERO).tobytes().decode()
    return [text[at : at + width] for at in range(0, len(text), width)]
