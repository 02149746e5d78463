"""The measurements, each in a separate process: ``python -m bench.tasks NAME``, with arguments and result as JSON.

A separate process has its own peak of memory, first call and instruction set, and a crash does not affect others.
Within a process, the sides run alternately (``rounds.interleaved``).
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.alkaid import interpreter
from bench.networks import WIDTH, network
from bench.rounds import interleaved
from bench.subjects import Subject, peer_outputs, verified
from dais_verif import golden as model
from dais_verif.base.files import write_atomically
from dais_verif.golden import Golden
from dais_verif.golden.vm import accept_instructions, compile_forward_and_backward
from dais_verif.spec.program import load, write_binary

__all__ = ["TASKS"]

Result = dict[str, Any]


def _subject(program: str, vectors: str | None, rows: int) -> Subject:
    return Subject.of(Path(program), Path(vectors) if vectors else None, rows)


def throughput(*, engine: str, program: str, vectors: str | None, rows: int, rounds: int) -> Result:
    """Measure CPU seconds per call on one thread: both peers, ours with doubles, integers and checks, and copying.

    ``plain``: doubles into a new array, as the peers give them. Only this and ``checked`` (integers) check promises.
    ``copy`` moves as many bytes as the call with doubles reads and writes, from one warm buffer to another, each of
    half that size.
    """
    subject = _subject(program, vectors, rows)
    golden, raw, doubles = Golden(subject.program, engine=engine), subject.raw, subject.doubles
    out, real = golden.run_planar(raw, check=False), golden.run(doubles, check=False)
    theirs, alkaid = peer_outputs(subject), interpreter(subject.program)
    words = {
        "alkaid": verified(subject, real, alkaid(doubles), "alkaid"),
        "integers": verified(subject, subject.real(out), theirs),
        "doubles": verified(subject, real, theirs),
        "checked": verified(subject, subject.real(golden.run_planar(raw, check=True)), theirs),
    }
    source = np.ones(subject.bytes_of_doubles // 16)
    target = np.ones_like(source)
    functions: dict[str, Callable[[], object]] = {
        "peer": lambda: peer_outputs(subject),
        "alkaid": lambda: alkaid(doubles),
        "doubles": lambda: golden.run(doubles, check=False, out=real),
        "plain": lambda: model.run(subject.program, doubles, engine=engine),
        "integers": lambda: golden.run_planar(raw, check=False, out=out),
        "checked": lambda: golden.run_planar(raw, check=True, out=out),
        "copy": lambda: np.copyto(target, source),
    }
    seconds = interleaved(functions, rounds, of_cpu=True)
    return {"seconds": seconds, "rows": rows, "bytes": subject.bytes_of_doubles, "verified": words}


def formats(*, engine: str, n_ops: int, width: int, rows: int, rounds: int) -> Result:
    """Measure CPU seconds per call on one thread with each input type, by rows and by columns, and of copying as much.

    The network has ``width`` inputs and outputs; its inputs are integers that every type holds. Outputs are float64.
    """
    program = network(n_ops, width=width)
    golden, out = Golden(program, engine=engine), np.empty((rows, program.n_out))
    whole = np.random.default_rng(0).integers(-8, 8, (rows, program.n_in)).astype(np.int8)
    expected = golden.run(whole.astype(np.float64), check=False)
    functions: dict[str, Callable[[], object]] = {}
    sizes: dict[str, int] = {}
    for kind in ("float64", "float32", "float16", "int32", "int16", "int8"):
        for order in ("rows", "columns"):
            x = np.asarray(whole, dtype=kind, order="C" if order == "rows" else "F")
            assert np.array_equal(golden.run(x, check=False), expected), f"{kind} by {order} gives something else"
            name = f"{kind} by {order}"
            functions[name] = partial(golden.run, x, check=False, out=out)
            source = np.ones((x.nbytes + out.nbytes) // 16)
            functions[f"copying for {name}"] = partial(np.copyto, np.ones_like(source), source)
            sizes[name] = x.nbytes + out.nbytes
    seconds = interleaved(functions, rounds, of_cpu=True)
    return {"seconds": seconds, "rows": rows, "bytes": sizes, "ops": n_ops, "inputs": program.n_in}


def threads(*, engine: str, program: str, vectors: str | None, rows: int, rounds: int) -> Result:
    """Measure seconds per call on one thread and on two, with integers and with doubles."""
    subject = _subject(program, vectors, rows)
    golden = Golden(subject.program, engine=engine)
    out, real = golden.run_planar(subject.raw, check=False), golden.run(subject.doubles, check=False)
    functions: dict[str, Callable[[], object]] = {}
    for jobs in (1, 2):
        functions[f"integers {jobs}"] = partial(golden.run_planar, subject.raw, check=False, jobs=jobs, out=out)
        functions[f"doubles {jobs}"] = partial(golden.run, subject.doubles, check=False, jobs=jobs, out=real)
    for run, x in ((golden.run, subject.doubles), (golden.run_planar, subject.raw)):
        one, two = (run(x, check=False, jobs=jobs) for jobs in (1, 2))
        assert np.array_equal(one, two), "two threads compute something else than one"
    return {"seconds": interleaved(functions, rounds), "rows": rows}


def single(*, engine: str, program: str, vectors: str | None, rounds: int) -> Result:
    """Measure CPU seconds per call with one sample, as doubles."""
    subject = _subject(program, vectors, 1)
    golden, doubles = Golden(subject.program, engine=engine), subject.doubles
    found = verified(subject, golden.run(doubles, check=False), peer_outputs(subject))
    functions: dict[str, Callable[[], object]] = {
        "peer": lambda: peer_outputs(subject),
        "doubles": lambda: golden.run(doubles, check=False),
    }
    return {"seconds": interleaved(functions, rounds, of_cpu=True), "verified": {"doubles": found}}


def preparation(*, engine: str, program: str, rounds: int) -> Result:
    """Measure seconds from a file to a golden model that can run: decode, check, compile."""
    functions: dict[str, Callable[[], object]] = {
        "load": lambda: load(program),
        "load and compile": lambda: Golden(load(program), engine=engine),
    }
    return {"seconds": interleaved(functions, rounds)}


def memory(*, engine: str, program: str, rows: int, kind: str, jobs: int = 1) -> Result:
    """Measure the peak of resident memory in a call with ``rows`` samples, integers or doubles, and bytes of arrays."""
    loaded = load(program)
    golden = Golden(loaded, engine=engine)
    if kind == "integers":
        x: NDArray[Any] = np.empty((WIDTH, rows), dtype=np.int8)
        for j in range(WIDTH):
            x[j] = np.random.default_rng(j).integers(-128, 128, rows, dtype=np.int8)
        y = golden.run_planar(x, check=False, jobs=jobs)
        first = y[:, :256].T.astype(np.float64)
    else:
        x = np.empty((rows, WIDTH))
        for j in range(WIDTH):
            x[:, j] = np.random.default_rng(j).integers(-128, 128, rows, dtype=np.int8)
        x /= 16
        y = golden.run(x, check=False, jobs=jobs)
        first = y[:256] * 16
    digest = hashlib.sha256(np.ascontiguousarray(first)).hexdigest()
    return {"peak": _peak_bytes(), "arrays": x.nbytes + y.nbytes, "first rows": digest}


def peer_digest(*, program: str, rows: int) -> Result:
    """Return the digest that ``first rows`` of ``memory`` must have, by the peer's outputs."""
    raw = [np.random.default_rng(j).integers(-128, 128, rows, dtype=np.int8)[:256] for j in range(WIDTH)]
    outputs = peer_outputs(Subject(load(program), np.array(raw))) * 16
    return {"first rows": hashlib.sha256(np.ascontiguousarray(outputs)).hexdigest()}


def levels(*, program: str, vectors: str | None, rows: int, runs: int, rounds: int) -> Result:
    """Measure seconds of ``runs`` runs of the virtual machine at each level of checking, each freshly compiled."""
    subject = _subject(program, vectors, rows)
    seconds: dict[str, list[float]] = {f"level {level}": [] for level in (1, 2, 3)}
    for number in range(rounds + 1):  # the first is a warm-up
        for level in (1, 2, 3) if number % 2 else (3, 2, 1):
            sequence = compile_forward_and_backward(subject.program, need_backward=False).forward
            start = time.perf_counter()
            for _ in range(runs):
                accept_instructions(sequence, subject.doubles, opt_level=level)
            seconds[f"level {level}"] += [time.perf_counter() - start] if number else []
    return {"seconds": seconds, "rows": rows}


def _peak_bytes() -> int:
    """Return the peak of this process only; that of ``getrusage`` includes the peak of the process that started it."""
    status = Path("/proc/self/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def synthesize(*, n_ops: int, path: str) -> Result:
    """Write a network of ``n_ops`` ops."""
    write_atomically(Path(path), write_binary(network(n_ops), "v1"))
    return {}


TASKS: dict[str, Callable[..., Result]] = {
    task.__name__: task
    for task in (throughput, formats, threads, single, preparation, levels, memory, peer_digest, synthesize)
}

if __name__ == "__main__":
    json.dump(TASKS[sys.argv[1]](**json.load(sys.stdin)), sys.stdout)
