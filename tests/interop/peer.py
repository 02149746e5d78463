"""The door to da4ml and alkaid: their C++ interpreters and Python executors, run in a process of their own.

Some programs make them read memory that is not theirs, so they never run in the process of the tests: one that
dies or hangs is an answer like any other. That process runs this file as a script.
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

from dais_verif.program import FixedType, Program, write_binary
from dais_verif.program.conversion import to_alir
from dais_verif.program.json_writers import alir_json
from dais_verif.program.opcodes import low_int32

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

#: The releases that the tables of cases speak of: da4ml's, and alkaid's.
VERSION = "0.6.0"
ALKAID_VERSION = "0.8.2"

THROWS, CRASHES, HANGS, NAN = "throws", "crashes", "hangs", "nan"

#: Outputs (rows, n_out), or one of the first three words above, ``throws`` with a message.
Answer = NDArray[np.float64] | str


class Job(NamedTuple):
    """``rows`` (rows, n_in), doubles, for the ``peer``. ``text``: da4ml's own JSON of the program, if there is one."""

    peer: str
    program: Program
    rows: Sequence[Sequence[float]]
    text: str | None = None

    @property
    def matrix(self) -> NDArray[np.float64]:
        """``rows`` as an array."""
        return np.array(self.rows, dtype=np.float64).reshape(len(self.rows), self.program.n_in)


def answers(jobs: Sequence[Job], timeout: float = 300.0) -> list[Answer]:
    """What the peers answer to ``jobs``, in order. A job that takes the process with it is asked no second time."""
    found: list[Answer] = []
    while len(found) < len(jobs):
        more, ending = _ask(jobs[len(found) :], timeout)
        found += more
        if len(found) < len(jobs):
            found.append(ending)
    return found


def _ask(jobs: Sequence[Job], timeout: float) -> tuple[list[Answer], str]:
    """The answers of one process, and what the first job without an answer must have done to it."""
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
    """The C++ interpreter on the v1 binary. It takes no words that it could not write to."""
    from da4ml._binary import dais_interp_run

    words = np.frombuffer(write_binary(job.program, "v1"), dtype=np.int32).copy()
    return np.array(dais_interp_run(words, job.matrix, 1))


def python(job: Job) -> NDArray[np.float64]:
    """The Python executor, told to quantise the inputs itself."""
    from da4ml.types import CombLogic

    logic = CombLogic.deserialize(json.loads(job.text) if job.text else json_tree(job.program))
    with np.errstate(all="ignore"):
        outputs = [logic(row, quantize=True) for row in job.matrix]
    return np.array(outputs, dtype=np.float64).reshape(len(outputs), job.program.n_out)


def alkaid_logic(job: Job) -> Any:
    """alkaid's ``CombLogic`` of the ALIR that we write of the program."""
    from alkaid.types import CombLogic

    return CombLogic.from_dict(json.loads(alir_json(to_alir(job.program))))


def alkaid_cpp(job: Job) -> NDArray[np.float64]:
    """alkaid's C++ interpreter."""
    outputs = alkaid_logic(job).predict(job.matrix, n_threads=1)
    return np.array(outputs, dtype=np.float64).reshape(len(job.rows), job.program.n_out)


def alkaid_python(job: Job) -> NDArray[np.float64]:
    """alkaid's Python executor, told to quantise the inputs itself."""
    logic = alkaid_logic(job)
    with np.errstate(all="ignore"):
        outputs = [logic(row, quantize=True) for row in job.matrix]
    return np.array(outputs, dtype=np.float64).reshape(len(outputs), job.program.n_out)


#: Of da4ml.
PEERS: dict[str, Callable[[Job], NDArray[np.float64]]] = {"cpp": cpp, "python": python}
#: Of alkaid.
ALIR_PEERS: dict[str, Callable[[Job], NDArray[np.float64]]] = {
    "alkaid-cpp": alkaid_cpp,
    "alkaid-python": alkaid_python,
}


def json_tree(program: Program) -> list[Any]:
    """``program`` as the tree of da4ml's JSON, every interval the whole range of its type.

    A table belongs to the type of the op that reads it, so that every lookup has one of its own.
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
