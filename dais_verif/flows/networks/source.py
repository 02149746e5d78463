"""A network as hardware as a source of tensors: images in their configurations, and what every frame must compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dais_verif.counts import counted
from dais_verif.errors import RequestError
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.networks.expected import expected_tensors, raw_tensors
from dais_verif.flows.networks.prove import claimed
from dais_verif.flows.networks.requests import inputs_of
from dais_verif.flows.progress import Progress
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.flows.simulation_request import SimulationRequest
from dais_verif.flows.tensors.source import Claimed, Drive, Output
from dais_verif.kernels.driving.frames import Found, Ints, Run, random_tensors
from dais_verif.kernels.laws.check import check_mapping
from dais_verif.machine import Machine
from dais_verif.networks.hardware.driving import drive_network
from dais_verif.networks.hardware.folder import NetworkFolder
from dais_verif.networks.hardware.stream_driving import drive_images
from dais_verif.record.kernels import KernelRun, ProvedKernel
from dais_verif.record.network import ProvedSetting
from dais_verif.record.simulation import SimulationRecord
from dais_verif.stimulus import read_tensors
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

__all__ = ["NetworkSource"]

#: The least number of images in a sequence, if there are not more configurations: it runs them back to back.
_BACK_TO_BACK = 2


@dataclass(frozen=True)
class NetworkSource:
    """The network in a folder of ``emit --form`` or ``approx apply --form``."""

    folder: NetworkFolder

    sample = "image"
    cycles_undecided = 1

    @property
    def path(self) -> Path:
        """The folder."""
        return self.folder.path

    @property
    def machine(self) -> Machine:
        """The machine of the network."""
        return self.folder.machine

    @property
    def rtl(self) -> Path:
        """The RTL in the folder."""
        return self.folder.rtl

    @property
    def name(self) -> str:
        """The name of the network."""
        return self.folder.name

    @property
    def function(self) -> str:
        """The function in messages."""
        return "the network"

    @property
    def form(self) -> str:
        """The form, which says what holds the tensors."""
        return self.folder.form

    @property
    def members(self) -> int:
        """The number of members of all stages in all configurations."""
        return sum(
            stage.instance.mapping.members
            for place in self.folder.chain.places
            for variant in place.variants
            for stage in variant.stages
        )

    @property
    def outputs(self) -> list[Output]:
        """The output tensors."""
        chain = self.folder.chain
        network = chain.networks[0]
        return [
            Output(name, kind, network.tensors[name].shape)
            for name, kind in zip(network.outputs, chain.outputs.values(), strict=True)
        ]

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of the configurations."""
        return self.folder.configurations

    @property
    def fewest(self) -> int:
        """The least number of images in a sequence: each configuration runs."""
        return max(_BACK_TO_BACK, len(self.settings))

    def given(self, path: Path, rng: np.random.Generator) -> Drive | None:
        """Return a sequence with the images of a file, which take the configurations in turn; None if it has none."""
        chain = self.folder.chain
        tensors = raw_tensors(chain, read_tensors(path, inputs_of(chain.networks[0])))
        settings = tuple(sample % len(self.settings) for sample in range(len(tensors[0])))
        return self._drive(tensors, settings, rng) if settings else None

    def generated(self, samples: int, rng: np.random.Generator) -> Drive:
        """Return a sequence with random images, in which each configuration runs."""
        chain, count = self.folder.chain, len(self.settings)
        sizes = [(chain.storage[name].words * chain.storage[name].channels,) for name in chain.inputs]
        tensors = random_tensors(list(chain.inputs.values()), sizes, samples, rng)
        every = [*rng.permutation(count).tolist(), *rng.integers(count, size=samples).tolist()]
        return self._drive(tensors, tuple(every[:samples]), rng)

    def _drive(self, tensors: tuple[Ints, ...], settings: tuple[int, ...], rng: np.random.Generator) -> Drive:
        folder = self.folder
        if folder.form == "stream":
            return Drive(drive_images(folder.stream, tensors[0], rng), tensors, settings)
        driven = drive_network(folder.chain, folder.cycles, folder.machine, tensors, list(settings), rng)
        return Drive(driven, tensors, settings)

    def expected(self, drive: Drive, *, check: bool = True) -> tuple[Ints, ...]:
        """Return the outputs of the golden model, each image under its configuration."""
        return expected_tensors(self.folder.chain, drive.settings, drive.tensors, check=check)

    def describe(self, drives: Sequence[Drive]) -> str:
        """Return what the sequences do, in words."""
        resets, pauses = (sum(getattr(one.driven, name) for one in drives) for name in ("broken_off", "stalls"))
        parts = ["images in sequences from power-up"] + ["words in random order"] * (self.form == "memory")
        if len(self.settings) > 1:
            parts.append("each image in a configuration of its own, with other values of config while it runs")
        runs, cycles = counted(resets, "run"), counted(pauses, "cycle")
        return ", ".join([*parts, f"{runs} aborted by a reset", f"{cycles} of pauses"])

    def running(self, found: Found, cycle: int) -> str | None:
        """Return the image that runs in a cycle."""
        run: Run | None = next((run for run in found.runs if run.first <= cycle <= run.last), None)
        return None if run is None else f"image {run.sample} in configuration {self.settings[run.member[0]]}"

    def require_printing(self, design: DesignRequest) -> None:
        """Raise ``RequestError``: no member of a network prints."""
        raise RequestError.of("{printf} is for kernels: name a folder of `kernel build`.")

    def printed(
        self, request: SimulationRequest, drives: Sequence[Drive], record: SimulationRecord, run: KernelRun
    ) -> tuple[SimulationRecord, KernelRun]:
        """Return both records: no member prints."""
        return record, run

    def broken_laws(self) -> list[str]:
        """Return the laws that mappings of its stages break."""
        stages = [stage for one in self.folder.chain.places for variant in one.variants for stage in variant.stages]
        return [str(one) for stage in stages for one in check_mapping(stage.instance.mapping).failures]

    def unproved(self, laws: str) -> ProvedKernel:
        """Return the record before anything but ``laws`` was proved."""
        folder = self.folder
        return ProvedKernel(
            kernel=folder.name,
            form=folder.form,
            members=self.members,
            laws=laws,
            facts="cycles: not checked",
            folded=Verdict.NOT_RUN,
            message="not checked, since an earlier claim is not proved",
            settings=[ProvedSetting(name, cycles) for name, cycles in zip(self.settings, folder.cycles, strict=True)],
        )

    def claimed(self, proved: ProvedKernel, request: ProveRequest, progress: Progress, watch: Stopwatch) -> Claimed:
        """Prove that every frame of each configuration computes the network."""
        return claimed(self.folder, proved, request, progress, watch)
