"""Prove mutants, each within its time limit, in separate processes, since terms are never freed."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from dais_verif.base.errors import InputError
from dais_verif.base.toolchain.rtl_files import DataFile, copy_into
from dais_verif.base.verdict import Verdict
from dais_verif.base.worker_processes import worker_processes
from dais_verif.campaigns.mutation.mutant import Files, Mutant
from dais_verif.hardware.ports.interface import Dut
from dais_verif.record.proof import Timing
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import CLOCK
from dais_verif.spec.program import Program

if TYPE_CHECKING:
    from dais_verif.prover import variants
    from dais_verif.prover.gates.variants import ProvedNetlist
    from dais_verif.prover.netlist import Netlist
    from dais_verif.prover.results import ProofOptions

__all__ = ["Proved", "Prover", "Question", "ToProve", "prove_all", "prove_original", "with_latency"]

#: The approximate number of mutants that one process proves.
_TOGETHER = 150
_DEPTH = 20_000
#: Seconds for each solver query, and the share of a mutant's time for one query; seconds for the design that others are
#: compared to.
_QUESTION, _SHARE, _BASE_SECONDS = 5.0, 0.25, 60.0


@dataclass(frozen=True)
class Question:
    """The shared part of all mutants. ``files``: the texts of the sources, by name.

    ``includes``: the files that the sources include. ``machine``: the specification of the RTL instead of ``program``;
    ``dut`` names its ports and its clock.
    """

    program: Program
    files: Files
    top: str
    dut: Dut
    data: tuple[DataFile, ...]
    check: bool
    bits: bool
    seed: int
    machine: Machine | None = None
    includes: tuple[DataFile, ...] = ()

    @property
    def read(self) -> tuple[DataFile, ...]:
        """The files that the sources read, by name: tables and included files."""
        return (*self.data, *self.includes)


class ToProve(NamedTuple):
    """A mutant, None for the original design, and the seconds for its proof.

    ``quick``: the mutant differs from the program in a simulator, so only a PASS would be a new result.
    """

    number: int
    mutant: Mutant | None
    seconds: float
    quick: bool = False


class Proved(NamedTuple):
    """The result of a proof. ``verdict``: None if the prover refuses the RTL. ``vector``: inputs with a wrong output.

    ``sequence``: the bits of all elements of a machine's inputs, one row per cycle from power-up. ``seconds``: CPU
    time.
    """

    number: int
    verdict: Verdict | None
    message: str
    vector: tuple[int, ...] | None = None
    timing: Timing | None = None
    held: tuple[tuple[str, int], ...] = ()
    sequence: tuple[tuple[int, ...], ...] | None = None
    seconds: float = 0.0


class _Late(BaseException):
    """Raised in a proof when its time is up."""


def prove_all(
    question: Question, mutants: Sequence[ToProve], folder: Path, jobs: int, tell: Callable[[int], None]
) -> Iterator[Proved]:
    """Yield answers as they arrive. ``tell``: takes the number of answers so far.

    Leaving early, for example by an interrupt, leaves no process running.
    """
    left = list(mutants)
    while left:
        answered = set()
        try:
            for answer in _answers(question, left[: _TOGETHER * jobs], folder, jobs):
                answered.add(answer.number)
                tell(len(mutants) - len(left) + len(answered))
                yield answer
        except BrokenProcessPool:  # probably out of memory
            lost = next(mutant.number for mutant in left if mutant.number not in answered)
            answered.add(lost)
            yield Proved(lost, Verdict.UNKNOWN, "the prover process ended without a result")
        left = [mutant for mutant in left if mutant.number not in answered]


def _answers(question: Question, mutants: Sequence[ToProve], folder: Path, jobs: int) -> Iterator[Proved]:
    with worker_processes(min(jobs, len(mutants)), _begin, question, folder) as pool:
        for future in as_completed([pool.submit(_answer, mutant) for mutant in mutants]):
            yield future.result()


#: The prover of this process, if it is one that proves mutants.
_prover: Prover | None = None


def _begin(question: Question, folder: Path) -> None:
    """Set up a process: terminate silently on request; Ctrl-C is for the process that started this one."""
    global _prover
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.setrecursionlimit(_DEPTH)
    own = folder / f"proof_{multiprocessing.current_process().pid}"
    own.mkdir(parents=True, exist_ok=True)
    copy_into(own, question.includes)
    _prover = Prover(question, own)


def _answer(mutant: ToProve) -> Proved:
    assert _prover is not None
    return _prover.answer(mutant)


class Prover:
    """Prove mutants, one after the other, using the proof of the original design. ``folder``: where RTL is written."""

    def __init__(self, question: Question, folder: Path) -> None:
        self._question, self._folder = question, folder

    def answer(self, mutant: ToProve) -> Proved:
        """Return the answer for a mutant, within its time limit."""
        base = None if mutant.mutant is None or self._question.machine is not None else self._base
        begun = time.process_time()
        try:
            with _at_most(mutant.seconds):
                proved = self._proved(mutant, base)
            return proved._replace(seconds=time.process_time() - begun)
        except InputError as error:
            return Proved(mutant.number, None, str(error).replace(f"{self._folder}/", ""))
        except RecursionError:
            return Proved(mutant.number, None, "its expressions are nested too deeply for the prover")
        except _Late:
            return Proved(
                mutant.number, Verdict.UNKNOWN, f"no answer within {time.process_time() - begun:.0f} s of CPU time"
            )

    def _proved(self, mutant: ToProve, base: variants.Proved | ProvedNetlist | None) -> Proved:
        from dais_verif.prover.proof import prove

        question = self._question
        netlist = self._netlist(question.files if mutant.mutant is None else mutant.mutant.applied(question.files))
        if base is not None:
            suspect = None if mutant.mutant is None else mutant.mutant.op
            seconds = min(_QUESTION, mutant.seconds * _SHARE)
            answer = base.of(netlist, seconds, quick=mutant.quick, suspect=suspect)
            if answer is not None:
                return Proved(mutant.number, answer.verdict, answer.message, answer.vector)
        options = replace(self._options, timeout=min(_QUESTION, mutant.seconds))
        if question.machine is not None:
            return self._proved_machine(mutant.number, question.machine, netlist, options)
        proof = prove(question.program, netlist, question.dut, options)
        vector = None if proof.counterexample is None else proof.counterexample.vector
        held = tuple(proof.held.items())
        return Proved(mutant.number, proof.verdict, proof.message, vector, proof.timing, held)

    def _proved_machine(self, number: int, machine: Machine, netlist: Netlist, options: ProofOptions) -> Proved:
        from dais_verif.prover.clocked.machines.proof import prove_machine

        clocking = self._question.dut.interface.clocking
        answer = prove_machine(machine, netlist, CLOCK if clocking is None else clocking.clock, options)
        proof, found = answer.proof, answer.found
        return Proved(number, proof.verdict, proof.message, sequence=None if found is None else found.inputs)

    def _netlist(self, files: Files) -> Netlist:
        from dais_verif.prover.slang import elaborate

        question, sources = self._question, []
        for name, text in files.items():
            (self._folder / name).write_text(text, encoding="latin-1")
            sources.append(self._folder / name)
        return elaborate(sources, question.top, {f.name: f.path for f in question.data}, question.bits)

    @cached_property
    def _options(self) -> ProofOptions:
        from dais_verif.prover.results import ProofOptions

        question = self._question
        return ProofOptions(
            timeout=_QUESTION, check=question.check, jobs=1, seed=question.seed, bits=question.bits, sample=0
        )

    @cached_property
    def _base(self) -> variants.Proved | ProvedNetlist | None:
        """Return the proof of the original design, by ops or by bits; None: each mutant needs a full proof."""
        from dais_verif.prover.gates.variants import proved_netlist
        from dais_verif.prover.variants import proved_design

        question = self._question
        try:
            with _at_most(_BASE_SECONDS):
                asked = question.program, self._netlist(question.files), question.dut, self._options
                return proved_design(*asked) or proved_netlist(*asked)
        except (InputError, RecursionError, _Late):
            return None


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise ``_Late`` in a block that takes more CPU time, which does not depend on the load of this computer."""
    before = signal.signal(signal.SIGPROF, _ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _ring(number: int, frame: FrameType | None) -> None:
    raise _Late


def prove_original(question: Question, folder: Path, seconds: float) -> Proved:
    """Prove the original design, also in a separate process."""
    return next(prove_all(question, [ToProve(0, None, seconds)], folder, 1, lambda done: None))


def with_latency(dut: Dut, proved: Proved) -> Dut:
    """Return ``dut`` with the proved latency."""
    if proved.timing is None:
        return dut
    return replace(dut, interface=dut.interface.with_latency(proved.timing.latency))
