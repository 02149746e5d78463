"""Confirm a proof by simulation: simulators share no code with the prover, and reveal errors of its front ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from dais_verif.base.errors import ViolationError
from dais_verif.base.toolchain import process
from dais_verif.base.verdict import Verdict
from dais_verif.coverage.boundaries import with_boundaries
from dais_verif.golden import Golden
from dais_verif.record.proof import Confirmation
from dais_verif.simulation.simulate import PendingRun, begin
from dais_verif.simulation.simulators.build import RtlDesign, simulators_for
from dais_verif.simulation.verify import Finding, SimulationOptions, verify
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch

__all__ = ["Confirmation", "ConfirmationRequest", "confirm", "kept_promises", "prepare", "sum_up"]


# Run the RTL of a proof in every installed simulator that can build it.
#
# A proof relies on how the prover reads the RTL; a simulator reads it with other code, by other authors. Each
# simulator runs and is judged on its own: if one cannot build the RTL, the results of the others still count.


#: Verdicts of a simulator that contradict a proof.
_CONTRADICTING = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE)

#: The typical length of a line of generated Verilog, in bytes; an op takes about one line.
_BYTES_PER_OP = 100
#: Above this many ops, compiling with Verilator takes longer than a proof: only Icarus is used, which builds at once.
_LARGE = 20_000
#: Seconds for each build and each run: the first number, or one second per this many ops if that is more. Icarus takes
#: 35 s of CPU time for a netlist of 15 MB before its first vector.
_SECONDS, _OPS_PER_SECOND = 120.0, 500
#: Ops times vectors that Icarus simulates in a few seconds, and the smallest useful number of vectors.
_ICARUS_BUDGET, _FEWEST = 8_000_000, 20
#: Ops times vectors from which on Icarus first runs a trial, and the time limit for all vectors as estimated from it.
#: Logic in which changes run through deep sums repeatedly, such as that of XLS, takes ten times as long for each op.
_WORTH_A_TRIAL, _ICARUS_SECONDS = 2_000_000, 15.0
#: The number of vectors in a first trial of large RTL: Icarus takes 16 s of CPU time per vector for 100,000 cells.
_TRIED = 2


@dataclass(frozen=True)
class ConfirmationRequest:
    """The program and the RTL to simulate, and how.

    ``design``: the RTL with its ports and, if it is clocked, the latency that was proved. ``folder`` receives builds,
    logs and waves. ``check``: leave out vectors that break a promise of ``program``, as the proof does. ``declared``:
    vectors are within the intervals that the program's source declares. ``timeout``: seconds for each build and each
    run; None: chosen by the size of the RTL. ``only``: the simulators to use; None: chosen by the language and the size
    of the RTL. ``directed``: further vectors, which reach the first number of ``sides`` of conditions of the second.
    """

    program: Program
    design: RtlDesign
    folder: Path
    vectors: int = 1000
    seed: int = 0
    check: bool = True
    declared: bool = True
    timeout: float | None = None
    only: tuple[str, ...] | None = None
    directed: Batch | None = None
    sides: tuple[int, int] = (0, 0)

    @cached_property
    def size(self) -> int:
        """The number of ops, of the program or estimated from the length of the RTL, whichever is larger."""
        written = sum(source.stat().st_size for source in self.design.sources)
        return max(self.program.n_ops, written // _BYTES_PER_OP)

    @property
    def limit(self) -> float:
        """Seconds for each build and each run."""
        return max(_SECONDS, self.size / _OPS_PER_SECOND) if self.timeout is None else self.timeout

    @property
    def simulators(self) -> tuple[str, ...]:
        """The names of the simulators to use."""
        if self.only is not None:
            return self.only
        every = simulators_for(None, self.design.sources)
        return every[:1] if self.size > _LARGE else every

    @property
    def rows(self) -> int:
        """The number of vectors to run: fewer if the design is large."""
        return min(self.vectors, max(_FEWEST, _ICARUS_BUDGET // (self.size + 1)))


@contextmanager
def prepare(request: ConfirmationRequest) -> Iterator[dict[str, PendingRun]]:
    """Build ``request.design`` in each simulator in the background; kill builds that still run when the block ends."""
    with ExitStack() as stack:
        begun: dict[str, PendingRun] = {}
        for name in request.simulators:
            folder = request.folder / name
            begun |= stack.enter_context(
                begin((name,), request.design, folder, seed=request.seed, timeout=request.limit)
            )
        yield begun


def confirm(request: ConfirmationRequest, begun: Mapping[str, PendingRun]) -> Confirmation:
    """Run ``request.rows`` vectors in each simulator of ``begun``, and return the combined result.

    ``begun``: as ``prepare`` yields it for the same sources. If all these simulators refuse to build the RTL, the other
    installed simulators are tried, unless the request names the simulators.
    """
    if not begun:
        return Confirmation(Verdict.NOT_RUN, "no simulator was selected")
    batch = _vectors(request)
    if not batch.rows:
        return Confirmation(Verdict.NOT_RUN, "every generated vector breaks a promise of the program")

    with process.workers(len(begun)) as pool:
        running = {name: pool.submit(_run, request, name, batch, begun) for name in begun}
        findings = {name: process.result_of(future, name) for name, future in running.items()}
    found = sum_up(findings)
    if found.verdict is Verdict.PASS and request.sides[1]:
        reached, sides = request.sides
        found = replace(found, message=f"{found.message}; {reached} of {sides} sides of conditions reached")
    left = tuple(name for name in simulators_for(None, request.design.sources) if name not in begun)
    refused = all(one.cannot_build for one in begun.values())  # after a timeout, the others would time out as well
    if found.verdict is not Verdict.NOT_RUN or not refused or not left or request.only is not None:
        return found
    second = replace(request, only=left)
    with prepare(second) as others:
        after = confirm(second, others)
    return replace(
        after, simulators=[*found.simulators, *after.simulators], unconfirmed={**found.unconfirmed, **after.unconfirmed}
    )


def _run(request: ConfirmationRequest, name: str, batch: Batch, begun: Mapping[str, PendingRun]) -> Finding:
    """Run ``batch`` in one simulator; in Icarus only as many vectors as it simulates in a few seconds."""
    options = SimulationOptions(
        (name,), check=request.check, seed=request.seed, timeout=request.limit, declared=request.declared
    )

    def run(rows: int, folder: Path, begun: Mapping[str, PendingRun] | None) -> Finding:
        return verify(request.program, batch.slice(0, rows), request.design, folder, options, begun=begun)

    folder = request.folder / name
    if name != "icarus" or request.size * batch.rows < _WORTH_A_TRIAL or batch.rows <= _FEWEST:
        return run(batch.rows, folder, begun)
    if request.size > _LARGE:
        trial, seconds = _timed(lambda: run(_TRIED, folder, begun))
        # A timeout of the next run must not discard what this trial confirmed.
        if trial.verdict is not Verdict.PASS or seconds > min(_ICARUS_SECONDS, request.limit * _TRIED / _FEWEST):
            return trial
        trial, seconds = _timed(lambda: run(_FEWEST, folder / "few", None))
    else:
        trial, seconds = _timed(lambda: run(_FEWEST, folder, begun))
    rows = min(batch.rows, int(_FEWEST * _ICARUS_SECONDS / seconds))
    return run(rows, folder / "all", None) if rows > _FEWEST and trial.verdict is Verdict.PASS else trial


def _timed(run: Callable[[], Finding]) -> tuple[Finding, float]:
    began = time.monotonic()
    return run(), time.monotonic() - began


def sum_up(findings: Mapping[str, Finding]) -> Confirmation:
    """Return the combined result of the findings of single simulators."""
    results = [result for finding in findings.values() for result in finding.simulators]
    agreeing = [name for name, finding in findings.items() if finding.verdict is Verdict.PASS]
    for name, finding in findings.items():
        if finding.verdict in (*_CONTRADICTING, Verdict.UNKNOWN):
            verdict, message = finding.verdict, f"{name}: {finding.message}"
            if agreeing and verdict in _CONTRADICTING:
                verdict = Verdict.SIMULATORS_DISAGREE
                message = f"{message}; {agreeing[0]} finds nothing wrong"
            return Confirmation(verdict, message, results, first_mismatch=finding.first_mismatch)
    unconfirmed = {name: f.message for name, f in findings.items() if f.verdict is not Verdict.PASS}
    stopped = next((one for one in results if one.stopped), None)
    if stopped is not None:
        return Confirmation(Verdict.TOOL_FAILURE, f"{stopped.name}: {stopped.failure}", results, unconfirmed)
    passed = {name: finding for name, finding in findings.items() if name not in unconfirmed}
    if not passed:
        why = "; ".join(text if text.startswith(name) else f"{name}: {text}" for name, text in unconfirmed.items())
        return Confirmation(Verdict.NOT_RUN, why, results, unconfirmed)
    ran = ", ".join(f"{one.vectors_compared} in {one.name}" for one in results if one.name in passed)
    return Confirmation(Verdict.PASS, f"vectors: {ran}", results, unconfirmed)


def _vectors(request: ConfirmationRequest) -> Batch:
    program = request.program if request.declared else replace(request.program, intervals=None)
    generated, _ = with_boundaries(program, request.rows, request.seed, check=request.check)
    batch = generated.slice(0, generated.rows)
    if request.directed is not None:  # first, so that none is left out where few vectors are run
        batch = Batch.concatenate([request.directed.slice(0, request.rows), batch])
    return Batch.concatenate(list(kept_promises(Golden(program), batch))) if request.check else batch


def kept_promises(golden: Golden, batch: Batch) -> Iterator[Batch]:
    """Yield the rows that do not break a promise, in parts; a part with a broken promise is split into halves."""
    try:
        golden.run_raw(batch, check=True)
    except ViolationError:
        if batch.rows > 1:
            middle = batch.rows // 2
            yield from kept_promises(golden, batch.slice(0, middle))
            yield from kept_promises(golden, batch.slice(middle, batch.rows))
        return
    yield batch
