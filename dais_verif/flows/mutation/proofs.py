"""Mutants before the prover, each within its time, in processes of their own: terms are never forgotten."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from dais_verif.dut.interface import Dut
from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.record.proof import Timing
from dais_verif.toolchain.data_files import DataFile
from dais_verif.verdict import Verdict

__all__ = ["Proved", "Question", "ToProve", "prove_all", "prove_original", "with_latency"]

#: Mutants that a process proves.
_TOGETHER = 25
_DEPTH = 20_000


@dataclass(frozen=True)
class Question:
    """What all mutants have in common."""

    program: Program
    top: str
    dut: Dut
    data: tuple[DataFile, ...]
    check: bool
    bits: bool
    seed: int


class ToProve(NamedTuple):
    """The texts of the sources of a mutant, by name, and the seconds that its proof may take."""

    number: int
    files: dict[str, str]
    seconds: float


class Proved(NamedTuple):
    """``verdict``: None where the prover refuses the text. ``vector``: the bits of inputs on which it is wrong."""

    number: int
    verdict: Verdict | None
    message: str
    vector: tuple[int, ...] | None = None
    timing: Timing | None = None
    held: tuple[tuple[str, int], ...] = ()


class _Late(BaseException):
    """The time of a mutant is over."""


def prove_all(
    question: Question, mutants: Sequence[ToProve], folder: Path, jobs: int, tell: Callable[[int], None]
) -> Iterator[Proved]:
    """Yield the answers, in the order of ``mutants``. ``tell``: how many there are so far."""
    stretches = [mutants[n : n + _TOGETHER] for n in range(0, len(mutants), _TOGETHER)]
    if not stretches:
        return
    context = multiprocessing.get_context("spawn")
    done = 0
    pool = ProcessPoolExecutor(min(jobs, len(stretches)), mp_context=context, max_tasks_per_child=1)
    try:
        waiting = [pool.submit(_stretch, question, of, folder / f"proof_{n}") for n, of in enumerate(stretches)]
        for future in waiting:
            for answer in future.result():
                done += 1
                tell(done)
                yield answer
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _stretch(question: Question, mutants: Sequence[ToProve], folder: Path) -> list[Proved]:
    sys.setrecursionlimit(_DEPTH)
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGALRM, _ring)
    return [_proved(question, mutant, folder) for mutant in mutants]


def _ring(number: int, frame: FrameType | None) -> None:
    raise _Late


def _proved(question: Question, mutant: ToProve, folder: Path) -> Proved:
    from dais_verif.prover.proof import prove
    from dais_verif.prover.results import ProofOptions
    from dais_verif.prover.slang import elaborate

    sources = []
    for name, text in mutant.files.items():
        (folder / name).write_text(text, encoding="latin-1")
        sources.append(folder / name)
    options = ProofOptions(
        timeout=min(mutant.seconds, 5.0), check=question.check, jobs=1, seed=question.seed, bits=question.bits, sample=0
    )
    begun = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, mutant.seconds)
    try:
        netlist = elaborate(sources, question.top, {f.name: f.path for f in question.data}, question.bits)
        proof = prove(question.program, netlist, question.dut, options)
    except InputError as error:
        return Proved(mutant.number, None, str(error).replace(f"{folder}/", ""))
    except RecursionError:
        return Proved(mutant.number, None, "its expressions nest deeper than a proof can follow")
    except _Late:
        return Proved(mutant.number, Verdict.UNKNOWN, f"no answer within {time.monotonic() - begun:.0f} s")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    vector = None if proof.counterexample is None else proof.counterexample.vector
    return Proved(mutant.number, proof.verdict, proof.message, vector, proof.timing, tuple(proof.held.items()))


def prove_original(question: Question, files: dict[str, str], folder: Path, seconds: float) -> Proved:
    """The design as it was, in a process of its own, too."""
    return next(prove_all(question, [ToProve(0, files, seconds)], folder, 1, lambda done: None))


def with_latency(dut: Dut, proved: Proved) -> Dut:
    """``dut`` with the latency that was proved."""
    if proved.timing is None:
        return dut
    return replace(dut, interface=dut.interface.with_latency(proved.timing.latency))
