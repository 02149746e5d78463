"""A kernel's members as a source of tensors: what ``sim`` drives, and what every frame must compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dais_verif.base.errors import KernelError, RequestError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.driving.frames import Found, Ints, Run, random_tensors
from dais_verif.compile.kernels.driving.memory import drive_memory
from dais_verif.compile.kernels.driving.stream import drive_stream
from dais_verif.compile.kernels.folder import KernelFolder
from dais_verif.compile.kernels.forms.control import control_of
from dais_verif.compile.kernels.forms.frame import memory_frame, memory_signals, ranges_frame
from dais_verif.compile.kernels.forms.memory import MemoryFacts, MemoryForm, MemoryTiming
from dais_verif.compile.kernels.forms.raster import raster_of
from dais_verif.compile.kernels.forms.stream import StreamForm, frame_text, stream_form, valid_cycles
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping_laws import check_mapping
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.golden.form_facts import check_facts
from dais_verif.golden.members import run_instance
from dais_verif.golden.stream_control import MOST_STATES, TooManyStates, check_control
from dais_verif.record.diff import DiffRecord
from dais_verif.record.kernels import KernelRun, ProvedKernel
from dais_verif.record.simulation import SimulationRecord
from dais_verif.simulation.simulators.build import simulators_for
from dais_verif.spec.machine import Machine, parse_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.diff import DiffRequest, diff
from dais_verif.verbs.kernels.printing import print_folder, require_shown
from dais_verif.verbs.kernels.tensors import read_tensors
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.tensors.source import Claimed, Drive, Output
from dais_verif.verbs.tensors.timed import with_bits, with_signals
from dais_verif.verbs.work_folder import work_folder

__all__ = ["KernelSource", "claimed", "compare_with_members", "facts_of"]


@dataclass(frozen=True)
class KernelSource:
    """The instance in a folder of ``kernel build``."""

    kernel: KernelFolder

    sample = "sample"
    settings: tuple[str, ...] = ()
    fewest = 2
    cycles_undecided = 2000

    @property
    def path(self) -> Path:
        """The folder."""
        return self.kernel.path

    @property
    def machine(self) -> Machine:
        """The machine of the instance."""
        return self.kernel.machine

    @property
    def rtl(self) -> Path:
        """The RTL in the folder."""
        return self.kernel.rtl

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.kernel.instance.name

    @property
    def function(self) -> str:
        """The function in messages."""
        return f"kernel {self.name}"

    @property
    def form(self) -> str:
        """The form, which says what holds the tensors."""
        return self.kernel.form

    @property
    def members(self) -> int:
        """The number of members in a frame."""
        return self.kernel.instance.mapping.members

    @property
    def outputs(self) -> list[Output]:
        """The output tensors."""
        instance = self.kernel.instance
        shapes = [one.sizes[::-1] for one in instance.mapping.outputs]
        return [Output(*one) for one in zip(self.kernel.outputs, instance.output_types, shapes, strict=True)]

    def given(self, path: Path, rng: np.random.Generator) -> Drive | None:
        """Return a sequence with the samples of a file; one sample if there are no inputs."""
        tensors, _ = read_tensors(path, self.kernel)
        return self.drive(tensors, len(tensors[0]) if tensors else 1, rng)

    def generated(self, samples: int, rng: np.random.Generator) -> Drive:
        """Return a sequence with random samples."""
        instance = self.kernel.instance
        shapes = [one.sizes[::-1] for one in instance.mapping.inputs]
        return self.drive(random_tensors(instance.input_types, shapes, samples, rng), samples, rng)

    def drive(self, tensors: tuple[Ints, ...], samples: int, rng: np.random.Generator) -> Drive:
        """Return a sequence that drives ``tensors``, which are ``samples`` samples."""
        kernel = self.kernel
        try:
            if kernel.form == "memory":
                timing = MemoryTiming.of(kernel.instance, kernel.facts["parallel"])
                driven = drive_memory(kernel.instance, timing, kernel.machine, tensors, rng, samples)
            else:
                driven = drive_stream(kernel.instance, kernel.facts["flush"], kernel.machine, tensors, rng)
        except (KeyError, TypeError) as error:
            raise KernelError(
                f"{str(kernel.path)!r}: its facts are not those of a {kernel.form} form: {error}"
            ) from None
        return Drive(driven, tensors, (0,) * samples)

    def expected(self, drive: Drive, *, check: bool = True) -> tuple[Ints, ...]:
        """Return the outputs of the golden model of all members; without inputs all samples are the same one."""
        found = run_instance(self.kernel.instance, drive.tensors)
        return found if drive.tensors else tuple(np.repeat(one, len(drive.settings), axis=0) for one in found)

    def describe(self, drives: Sequence[Drive]) -> str:
        """Return what the sequences do, in words."""
        parts = [f"tensors of kernel {self.name} in sequences from power-up, back to back"]
        ranges, resets, stalls = (
            sum(getattr(one.driven, name) for one in drives) for name in ("ranges", "broken_off", "stalls")
        )
        parts += [f"{ranges} ranges of the index space in random order"] * bool(ranges)
        return ", ".join([*parts, f"{resets} aborted by a reset", f"{counted(stalls, 'cycle')} of stalls and pauses"])

    def running(self, found: Found, cycle: int) -> str | None:
        """Return the members active in a cycle."""
        run: Run | None = next((run for run in found.runs if run.first <= cycle <= run.last), None)
        return None if run is None else f"member {list(run.member)} of sample {run.sample}"

    def require_printing(self, design: DesignRequest) -> None:
        """Raise ``InputError`` if the hardware does not show what its members print, or the RTL has other ports."""
        require_shown(self.kernel)
        if design.of_bits or design.wrapped is not None:
            raise RequestError.of("{printf} is for RTL with the ports of the machine, not for a netlist or wrapper.")

    def printed(
        self, request: SimulationRequest, drives: Sequence[Drive], record: SimulationRecord, run: KernelRun
    ) -> tuple[SimulationRecord, KernelRun]:
        """Add the text that members print for the first sequence to both records; simulators must print the same."""
        if not drives:
            raise RequestError.of("{printf} needs tensors, and there are none: see {inputs}.")
        rtl = request.design.rtl or (self.rtl,)
        with work_folder(None) as folder:
            simulators = simulators_for(request.simulator, rtl)
            found = print_folder(self.kernel, drives[0].tensors, simulators, rtl, folder.path, request.timeout)
        if record.verdict is Verdict.PASS:
            record = replace(record, verdict=found.verdict, message=f"{record.message}; {found.message}")
        return record, replace(run, printed=found.texts, printed_by=found.simulators)

    def broken_laws(self) -> list[str]:
        """Return the laws that the mapping breaks."""
        return [str(one) for one in check_mapping(self.kernel.instance.mapping).failures]

    def unproved(self, laws: str) -> ProvedKernel:
        """Return the record before anything but ``laws`` was proved."""
        return ProvedKernel(
            kernel=self.name,
            form=self.form,
            members=self.members,
            laws=laws,
            facts="not checked",
            folded=Verdict.NOT_RUN,
            message="not checked, since an earlier claim is not proved",
        )

    def claimed(self, proved: ProvedKernel, request: ProveRequest, progress: Progress, watch: Stopwatch) -> Claimed:
        """Prove the stated facts, and that every frame of the machine computes what all members together compute."""
        return claimed(self.kernel, proved, request, progress, watch)


# Prove what the machine of a kernel computes: its stated facts, and in every frame, all members together.


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
