"""Prove the hardware of a kernel: laws of its mapping, RTL = machine in every cycle, machine = all members together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dais_verif.counts import counted
from dais_verif.errors import KernelError
from dais_verif.flows.diff import DiffRequest, diff
from dais_verif.flows.kernels.kept import keep_answer, keep_no_answer
from dais_verif.flows.kernels.simulate import simulate_kernel
from dais_verif.flows.kernels.timed import with_bits, with_signals
from dais_verif.flows.machines.prove import prove_machine
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.flows.simulation_request import SimulationRequest
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
from dais_verif.kernels.laws.check import check_mapping
from dais_verif.kernels.unfold import unfold
from dais_verif.machine import Machine, parse_machine
from dais_verif.machine.alirfsm_writer import machine_json
from dais_verif.own_command import own_command
from dais_verif.prover.results import ProofOptions
from dais_verif.record.diff import DiffRecord
from dais_verif.record.kernels import ProvedKernel
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import Mismatch
from dais_verif.stopwatch import Stopwatch
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

__all__ = ["compare_with_members", "facts_of", "prove_kernel"]

#: Verdicts on the RTL that a simulation with tensors can show.
_SHOWN_BY_DRIVING = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT)
#: Cycles of tensors that are driven through RTL if its proof is undecided.
_CYCLES = 2000
#: Verdicts on the hardware from a comparison of machine and members.
_OF_HARDWARE = {Verdict.PROGRAMS_DIFFER: Verdict.RTL_MISMATCH}


def prove_kernel(
    kernel: KernelFolder, request: ProveRequest, options: ProofOptions, progress: Progress, watch: Stopwatch
) -> tuple[ProofRecord, None, Path | None, Mismatch | None]:
    """Return the record, None for the program, the folder if it was kept, and the mismatch that a simulator showed.

    The proof covers: each element of an output is written once, and no member accesses elements outside its mapping;
    the RTL equals the machine, in every cycle, from power-up; and for all inputs, the machine computes what all members
    together compute, in a frame in which all members run and in the frames that follow. For a form with memories, this
    includes frames in which members run in many ranges, some of which a reset aborts.
    """
    design = request.design
    if not design.rtl and not design.of_bits:
        design = replace(design, rtl=(kernel.rtl,))
    asked = replace(request, design=design, command=lambda _: request.reproduce())
    record, _, folder, mismatch = prove_machine(kernel.machine, asked, options, progress, watch)
    keep_no_answer(folder, record)
    if record.verdict is Verdict.UNKNOWN:
        with watch.stage("replay"), progress.working("driving tensors through the RTL"):
            record, mismatch = _driven(kernel, asked, record)
    mapping = kernel.instance.mapping
    broken = [str(one) for one in check_mapping(mapping).failures]
    proved = ProvedKernel(
        kernel=kernel.instance.name,
        form=kernel.form,
        members=mapping.members,
        laws=broken[0] if broken else "each element is written once, and members access what the mapping states",
        facts="not checked",
        folded=Verdict.NOT_RUN,
        message="not checked, since an earlier claim is not proved",
    )
    if record.verdict is Verdict.PASS and broken:
        message = f"the mapping of {proved.kernel} breaks a law: {proved.laws}"
        record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
    if record.verdict is Verdict.PASS:
        with watch.stage("facts"), progress.working("simulating the control for all ranges"):
            findings, proved = _facts(kernel, proved)
        if findings:
            message = f"the stated facts of {proved.kernel} do not hold: {proved.facts}"
            record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
    if record.verdict is Verdict.PASS:
        with watch.stage("members"), progress.working("comparing with all members side by side"):
            found = _folded(kernel, request)
        proved = replace(proved, folded=found.verdict, message=found.message)
        verdict, message = _judged(record, proved)
        record = replace(record, verdict=verdict, message=message)
    mine = {stage.name: stage.busy for stage in watch.stages if stage.name in ("replay", "facts", "members")}
    record = keep_answer(folder, replace(record, kernel=proved, seconds={**record.seconds, **mine}))
    return record, None, folder, mismatch


def _driven(kernel: KernelFolder, request: ProveRequest, record: ProofRecord) -> tuple[ProofRecord, Mismatch | None]:
    """Return ``record`` updated by a simulation of the RTL with tensors, and its mismatch.

    The random inputs that the proof of any machine tries rarely bring a kernel to a state with visible results.
    """
    asked = SimulationRequest(
        program=request.program,
        design=request.design,
        vectors=_CYCLES,
        simulator=request.simulator,
        seed=request.seed,
        timeout=request.timeout,
        command=request.command,
    )
    found, _, _ = simulate_kernel(kernel, asked, SILENT, Stopwatch())
    if found.verdict not in _SHOWN_BY_DRIVING:
        message = f"{record.message}; driving tensors through the RTL gives {found.verdict.value}: {found.message}"
        return replace(record, message=message), None
    mismatch = found.first_mismatch
    where = "" if mismatch is None or mismatch.place is None else f" at {mismatch.place}"
    message = f"tensors driven through the RTL show a difference{where}: {record.message.partition('; no sequence')[0]}"
    words = ["sim", str(kernel.path), *request.design.words(), "--vectors", str(_CYCLES), "--seed", str(request.seed)]
    return replace(record, verdict=found.verdict, message=message, simulate=own_command(words)), mismatch


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


def _judged(record: ProofRecord, proved: ProvedKernel) -> tuple[Verdict, str]:
    if proved.folded is Verdict.PASS:
        pauses = " and any pauses" if proved.form == "stream" else ""
        members = f"{counted(proved.members, 'member')} in every frame, for all inputs{pauses}"
        return Verdict.PASS, f"{record.message}; and computes kernel {proved.kernel}: {members}"
    verdict = _OF_HARDWARE.get(proved.folded, proved.folded)
    if verdict is Verdict.RTL_MISMATCH:
        return verdict, f"RTL and machine agree, but not with kernel {proved.kernel}: {proved.message}"
    unknown = f"whether they compute kernel {proved.kernel} is not known: {proved.message}"
    return verdict, f"RTL and machine agree; {unknown}"
