"""Prove what the machine of a kernel computes: its stated facts, and in every frame, all members together."""

from __future__ import annotations

from dataclasses import replace

from dais_verif.counts import counted
from dais_verif.errors import KernelError
from dais_verif.flows.diff import DiffRequest, diff
from dais_verif.flows.progress import Progress
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.flows.tensors.source import Claimed
from dais_verif.flows.tensors.timed import with_bits, with_signals
from dais_verif.golden.form_facts import check_facts
from dais_verif.golden.stream_control import MOST_STATES, TooManyStates, check_control
from dais_verif.kernels.folder import KernelFolder
from dais_verif.kernels.forms.control import control_of
from dais_verif.kernels.forms.frame import memory_frame, memory_signals, ranges_frame
from dais_verif.kernels.forms.memory import MemoryFacts, MemoryForm
from dais_verif.kernels.forms.raster import raster_of
from dais_verif.kernels.forms.stream import StreamForm, stream_form
from dais_verif.kernels.forms.stream_files import frame_text, valid_cycles
from dais_verif.kernels.instance import KernelInstance
from dais_verif.kernels.unfold import unfold
from dais_verif.machine import Machine, parse_machine
from dais_verif.machine.alirfsm_writer import machine_json
from dais_verif.record.diff import DiffRecord
from dais_verif.record.kernels import ProvedKernel
from dais_verif.stopwatch import Stopwatch
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

__all__ = ["claimed", "compare_with_members", "facts_of"]

#: Verdicts on the hardware from a comparison of machine and members.
_OF_HARDWARE = {Verdict.PROGRAMS_DIFFER: Verdict.RTL_MISMATCH}


def claimed(
    kernel: KernelFolder, proved: ProvedKernel, request: ProveRequest, progress: Progress, watch: Stopwatch
) -> Claimed:
    """Prove the stated facts, and that for all inputs, the machine computes what all members together compute.

    This holds in a frame in which all members run, and in the frames that follow. For a form with memories, it includes
    frames in which members run in many ranges, some of which a reset aborts.
    """
    with watch.stage("facts"), progress.working("simulating the control for all ranges"):
        findings, proved = _facts(kernel, proved)
    if findings:
        return Claimed(proved, Verdict.RTL_MISMATCH, f"the stated facts of {proved.kernel} do not hold: {proved.facts}")
    with watch.stage("members"), progress.working("comparing with all members side by side"):
        found = _folded(kernel, request)
    return _judged(replace(proved, folded=found.verdict, message=found.message))


def _facts(kernel: KernelFolder, proved: ProvedKernel) -> tuple[bool, ProvedKernel]:
    """Return True if a stated fact does not hold, and the record with the findings."""
    try:
        broken, text = facts_of(kernel.instance, kernel.form, kernel.machine, kernel.facts)
    except TypeError as error:
        raise KernelError(f"{str(kernel.path)!r}: its facts are not those of a {kernel.form} form: {error}") from None
    return broken, replace(proved, facts=text)


def facts_of(instance: KernelInstance, form: str, machine: Machine, facts: dict[str, int]) -> tuple[bool, str]:
    """Return True if one of the ``facts`` of a machine does not hold, and the findings."""
    stated: MemoryForm | StreamForm
    if form == "memory":
        stated = MemoryForm(machine, MemoryFacts(**facts))
    else:
        stated = replace(stream_form(instance), machine=machine, **facts)  # type: ignore[arg-type]
    report = check_facts(instance, stated)
    if report.findings:
        return True, str(report.findings[0])
    left = f"; {report.left_out} left out, since they take too long" if report.left_out else ""
    names = ", ".join(f"{name} {value}" for name, value in facts.items())
    return False, f"{names}: hold in {report.runs} runs of control{left}"


def _folded(kernel: KernelFolder, request: ProveRequest) -> DiffRecord:
    record, _ = compare_with_members(kernel.instance, kernel.form, kernel.machine, kernel.facts, request)
    if kernel.form == "stream" and record.verdict is Verdict.PASS:
        verdict, message = _paused(kernel)
        return replace(record, verdict=verdict, message=f"{record.message}; {message}")
    return record


def _paused(kernel: KernelFolder) -> tuple[Verdict, str]:
    """Return whether the results of a stream are the same for any pauses as in the frame that was proved."""
    instance, alone = kernel.instance, "only images without a pause are proved"
    built = [stream_form(instance, printf=printf).machine for printf in (False, True)]
    if kernel.machine.hash not in [parse_machine(machine_json(one)).hash for one in built]:
        return Verdict.UNKNOWN, f"{alone}, since this version builds another machine: build the kernel again"
    raster = raster_of(instance)
    try:
        states = check_control(instance.name, raster, control_of(raster))
    except TooManyStates:
        return Verdict.UNKNOWN, f"{alone}, since control has more than {MOST_STATES} states"
    return Verdict.PASS, f"the same for any pauses, by all {states} states of control"


def compare_with_members(
    instance: KernelInstance,
    form: str,
    machine: Machine,
    facts: dict[str, int],
    request: ProveRequest | None = None,
) -> tuple[DiffRecord, str]:
    """Compare a machine with all members together in a frame; with memories, then also in a frame of many ranges.

    Returns the first comparison that is not a PASS, else the last one, and the name of the part that was compared.
    """
    members = unfold(instance)
    asked = DiffRequest(a=machine, b=members, prove=True)
    if request is not None:
        asked = replace(asked, unchecked=request.unchecked, timeout=request.timeout, seed=request.seed)
    with temporary_folder() as folder:
        timed = _timed(instance, form, facts)
        path = folder.path / "timed.toml"
        # The frame is generated again: the one in the folder is not part of the claim.
        frame = memory_frame(instance, MemoryFacts(**facts)) if form == "memory" else frame_text(raster_of(instance))
        path.write_text(with_signals(frame, timed), encoding="utf-8")
        bits = [bit for cycles in timed.values() for bit in cycles.values()]
        found, part = diff(replace(asked, b=with_bits(members, bits), frame=path)), "in one range"
        if form == "memory" and found.verdict is Verdict.PASS:
            part = "in many ranges"
            path = folder.path / "ranges.toml"
            path.write_text(ranges_frame(instance, MemoryFacts(**facts)), encoding="utf-8")
            other = diff(replace(asked, frame=path))
            found = other if other.verdict is Verdict.PASS else replace(other, message=f"{part}: {other.message}")
    return found, part


def _timed(instance: KernelInstance, form: str, facts: dict[str, int]) -> dict[str, dict[int, int]]:
    """Return the values of the signals that mark outputs as valid, by cycle of a frame, for every initial state."""
    if form == "memory":
        signals = memory_signals(instance, MemoryFacts(**facts))
        return {name: dict(enumerate(values)) for name, values in signals.items()}
    return {"valid_out": valid_cycles(raster_of(instance))}


def _judged(proved: ProvedKernel) -> Claimed:
    if proved.folded is Verdict.PASS:
        pauses = " and any pauses" if proved.form == "stream" else ""
        members = f"{counted(proved.members, 'member')} in every frame, for all inputs{pauses}"
        return Claimed(proved, Verdict.PASS, f"computes kernel {proved.kernel}: {members}")
    verdict = _OF_HARDWARE.get(proved.folded, proved.folded)
    if verdict is Verdict.RTL_MISMATCH:
        return Claimed(proved, verdict, f"RTL and machine agree, but not with kernel {proved.kernel}: {proved.message}")
    unknown = f"whether they compute kernel {proved.kernel} is not known: {proved.message}"
    return Claimed(proved, verdict, f"RTL and machine agree; {unknown}")
