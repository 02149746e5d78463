"""A kernel's members as a source of tensors: what ``sim`` drives, and what every frame must compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dais_verif.counts import counted
from dais_verif.errors import KernelError, RequestError
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.kernels.printing import print_folder, require_shown
from dais_verif.flows.kernels.prove import claimed
from dais_verif.flows.kernels.tensors import read_tensors
from dais_verif.flows.progress import Progress
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.flows.simulation_request import SimulationRequest
from dais_verif.flows.tensors.source import Claimed, Drive, Output
from dais_verif.flows.work_folder import work_folder
from dais_verif.golden.members import run_instance
from dais_verif.kernels.driving.frames import Found, Ints, Run, random_tensors
from dais_verif.kernels.driving.memory import drive_memory
from dais_verif.kernels.driving.stream import drive_stream
from dais_verif.kernels.folder import KernelFolder
from dais_verif.kernels.forms.memory import MemoryTiming
from dais_verif.kernels.laws.check import check_mapping
from dais_verif.machine import Machine
from dais_verif.record.kernels import KernelRun, ProvedKernel
from dais_verif.record.simulation import SimulationRecord
from dais_verif.simulation.simulators.build import simulators_for
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

__all__ = ["KernelSource"]


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
