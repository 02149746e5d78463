"""Prove hardware that computes tensors: RTL = machine in every cycle, and every frame computes the function."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.prover.results import ProofOptions
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import Mismatch
from dais_verif.verbs.machines.prove import prove_machine
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.tensors.simulate import simulate_tensors
from dais_verif.verbs.tensors.source import TensorSource

__all__ = ["prove_tensors"]

#: Verdicts on the RTL that a simulation with tensors can show.
_SHOWN_BY_DRIVING = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT)
#: The stages of the watch that are this proof's own.
_STAGES = ("replay", "facts", "members")


def prove_tensors(
    source: TensorSource, request: ProveRequest, options: ProofOptions, progress: Progress, watch: Stopwatch
) -> tuple[ProofRecord, None, Path | None, Mismatch | None]:
    """Return the record, None for the program, the folder if it was kept, and the mismatch that a simulator showed.

    The proof covers: each element of a tensor is written once, and no member accesses elements outside its mapping; the
    RTL equals the machine, in every cycle, from power-up; and for all inputs, every frame of the machine computes what
    ``source.claimed`` says.
    """
    design = request.design
    if not design.rtl and not design.of_bits:
        design = replace(design, rtl=(source.rtl,))
    asked = replace(request, design=design, command=lambda _: request.reproduce())
    broken = source.broken_laws()  # read before anything runs, so that unreadable folders are refused
    record, _, folder, mismatch = prove_machine(source.machine, asked, options, progress, watch)
    if record.verdict is Verdict.PASS:
        # An interruption must leave no PASS: that of the machine alone must never look like one of the function.
        unfinished = f"what frames compute was not compared with {source.function}"
        _keep(folder, replace(record, verdict=Verdict.NOT_RUN, message=unfinished))
    if record.verdict is Verdict.UNKNOWN:
        with watch.stage("replay"), progress.working(f"driving {source.sample}s through the RTL"):
            record, mismatch = _driven(source, asked, record)
    proved = source.unproved(broken[0] if broken else "each element is written once, and members access what is stated")
    if record.verdict is Verdict.PASS and broken:
        message = f"a mapping of {source.function} breaks a law: {proved.laws}"
        record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
    if record.verdict is Verdict.PASS:
        claimed = source.claimed(proved, request, progress, watch)
        proved, message = claimed.proved, claimed.message
        if claimed.verdict is Verdict.PASS:
            message = f"{record.message}; and {message}"
        record = replace(record, verdict=claimed.verdict, message=message)
    mine = {stage.name: stage.busy for stage in watch.stages if stage.name in _STAGES}
    record = replace(record, kernel=proved, seconds={**record.seconds, **mine})
    _keep(folder, record)
    return record, None, folder, mismatch


def _keep(folder: Path | None, record: ProofRecord) -> None:
    if folder is not None:
        write_atomically(folder / "result.json", record.to_json().encode())


def _driven(source: TensorSource, request: ProveRequest, record: ProofRecord) -> tuple[ProofRecord, Mismatch | None]:
    """Return ``record`` updated by a simulation of the RTL with tensors, and its mismatch.

    The random inputs that the proof of any machine tries rarely bring such hardware to a state with visible results.
    """
    asked = SimulationRequest(
        program=request.program,
        design=request.design,
        vectors=source.cycles_undecided,
        simulator=request.simulator,
        seed=request.seed,
        timeout=request.timeout,
        command=request.command,
    )
    found, _, _ = simulate_tensors(source, asked, SILENT, Stopwatch())
    if found.verdict not in _SHOWN_BY_DRIVING:
        message = f"{record.message}; driving {source.sample}s through the RTL gives {found.verdict.value}"
        return replace(record, message=f"{message}: {found.message}"), None
    mismatch = found.first_mismatch
    where = "" if mismatch is None or mismatch.place is None else f" at {mismatch.place}"
    message = f"{source.sample}s driven through the RTL show a difference{where}"
    message = f"{message}: {record.message.partition('; no sequence')[0]}"
    counts = ["--vectors", str(source.cycles_undecided), "--seed", str(request.seed)]
    words = ["sim", str(source.path), *request.design.words(), *counts]
    return replace(record, verdict=found.verdict, message=message, simulate=own_command(words)), mismatch
