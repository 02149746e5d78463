"""Run the C++ interpreters and Python executors of da4ml and alkaid, in a separate process.

Some programs make them read out of bounds, and therefore they never run in the process of the tests: a crash or a hang
is an answer like any other. The separate process runs this file as a script.
"""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.spec.program import FixedType, Program, write_binary
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.json_writers import alir_json
from dais_verif.spec.program.opcodes import low_int32

__all__ = [
    "ALIR_PEERS",
    "ALKAID_VERSION",
    "CRASHES",
    "HANGS",
    "NAN",
    "PEERS",
    "THROWS",
    "VERSION",
    "Answer",
    "Job",
    "answers",
]

#: The releases of da4ml and alkaid that the tables of cases describe.
VERSION = "0.6.0"
ALKAID_VERSION = "0.8.2"

THROWS, CRASHES, HANGS, NAN = "throws", "crashes", "hangs", "nan"

#: Outputs (rows, n_out), or one of the first three words above; ``throws`` is followed by a message.
Answer = NDArray[np.float64] | str


class Job(NamedTuple):
    """A job for ``peer``. ``rows``: doubles (rows, n_in). ``text``: da4ml's own JSON of the program, if any."""

    peer: str
    program: Program
    rows: Sequence[Sequence[float]]
    text: str | None = None

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Return ``rows`` as an array."""
        return np.array(self.rows, dtype=np.float64).reshape(len(self.rows), self.program.n_in)


def answers(jobs: Sequence[Job], timeout: float = 300.0) -> list[Answer]:
    """Return the peers' answers to ``jobs``, in order. A job that crashes or hangs is not repeated."""
    found: list[Answer] = []
    while len(found) < len(jobs):
        more, ending = _ask(jobs[len(found) :], timeout)
        found += more
        if len(found) < len(jobs):
            found.append(ending)
    return found


def _ask(jobs: Sequence[Job], timeout: float) -> tuple[list[Answer], str]:
    """Return the answers of one process, and how the first job without an answer must have ended that process."""
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            stdout, stderr = process.communicate(pickle.dumps([tuple(job) for job in jobs]), timeout)
            ending = CRASHES
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            ending = HANGS
    if process.returncode > 0:  # neither an answer nor a signal: a mistake of ours
        raise RuntimeError(stderr.decode(errors="replace"))
    return _frames(io.BytesIO(stdout)), ending


def _frames(stream: BinaryIO) -> list[Answer]:
    frames: list[Answer] = []
    while True:
        try:
            frames.append(pickle.load(stream))
        except (EOFError, pickle.UnpicklingError):
            return frames


def cpp(job: Job) -> NDArray[np.float64]:
    """Run da4ml's C++ interpreter on the v1 binary, as a copy, since it refuses arrays that are read-only."""
    from da4ml._binary import dais_interp_run

    words = np.frombuffer(write_binary(job.program, "v1"), dtype=np.int32).copy()
    return np.array(dais_interp_run(words, job.matrix, 1))


def python(job: Job) -> NDArray[np.float64]:
    """Run da4ml's Python executor, which quantises the inputs itself."""
    from da4ml.types import CombLogic

    logic = CombLogic.deserialize(json.loads(job.text) if job.text else json_tree(job.program))
    with np.errstate(all="ignore"):
        outputs = [logic(row, quantize=True) for row in job.matrix]
    return np.array(outputs, dtype=np.float64).reshape(len(outputs), job.program.n_out)


def alkaid_logic(job: Job) -> Any:
    """Return alkaid's ``CombLogic`` of the program, read from the ALIR that we write."""
    from alkaid.types import CombLogic

    return CombLogic.from_dict(json.loads(alir_json(to_alir(job.program))))


def alkaid_cpp(job: Job) -> NDArray[np.float64]:
    """Run alkaid's C++ interpreter."""
    outputs = alkaid_logic(job).predict(job.matrix, n_threads=1)
    return np.array(outputs, dtype=np.float64).reshape(len(job.rows), job.program.n_out)


def alkaid_python(job: Job) -> NDArray[np.float64]:
    """Run alkaid's Python executor, which quantises the inputs itself."""
    logic = alkaid_logic(job)
    with np.errstate(all="ignore"):
        outputs = [logic(row, quantize=True) for row in job.matrix]
    return np.array(outputs, dtype=np.float64).reshape(len(outputs), job.program.n_out)


#: The executors of da4ml, by name.
PEERS: dict[str, Callable[[Job], NDArray[np.float64]]] = {"cpp": cpp, "python": python}
#: The executors of alkaid, by name.
ALIR_PEERS: dict[str, Callable[[Job], NDArray[np.float64]]] = {
    "alkaid-cpp": alkaid_cpp,
    "alkaid-python": alkaid_python,
}


def json_tree(program: Program) -> list[Any]:
    """Return ``program`` as the tree of da4ml's JSON; every interval is the whole range of its type.

    A table belongs to the type of the op that reads it; each lookup therefore gets its own table.
    """
    ops: list[list[Any]] = []
    tables: list[dict[str, Any]] = []
    for op in program.ops:
        data = op.data
        if op.code == 8:
            data = len(tables)
            tables.append(_table(program.tables[low_int32(op.data)].tolist(), op.type))
        ops.append([op.id0, op.id1, op.code, data, _interval(op.type), 0.0, 0.0])
    shifts, outputs = program.inp_shift.tolist(), [list(column) for column in zip(*program.outputs, strict=True)]
    return [[program.n_in, program.n_out], shifts, *(outputs or [[], [], []]), ops, -1, -1, tables or None]


def _interval(kind: FixedType) -> list[float]:
    step = 2.0**-kind.f
    return [kind.raw_min * step, kind.raw_max * step, step]


def _table(entries: list[int], kind: FixedType) -> dict[str, Any]:
    interval = dict(zip(("min", "max", "step"), _interval(kind), strict=True))
    return {"spec": {"hash": "", "out_qint": interval, "inp_width": 0}, "table": entries}


def _serve(stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer every job as soon as it is done, so that the answers before a crash are not lost."""
    for fields in pickle.load(stdin):
        job = Job(*fields)
        try:
            answer: Answer = (PEERS | ALIR_PEERS)[job.peer](job)
        except Exception as error:
            answer = f"{THROWS} {type(error).__name__}: {error}"
        pickle.dump(answer, stdout)
        stdout.flush()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
