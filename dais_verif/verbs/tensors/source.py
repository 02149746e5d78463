"""What a folder computes on tensors through its machine. Kernels and networks are two sources of this one idea."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.driving.frames import Driven, Found, Ints
from dais_verif.record.kernels import KernelRun, ProvedKernel
from dais_verif.record.simulation import SimulationRecord
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import FixedType
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.simulation_request import SimulationRequest

__all__ = ["Claimed", "Drive", "Output", "TensorSource"]


@dataclass(frozen=True)
class Drive:
    """A sequence and the tensors that it drives; ``settings``: the number of the configuration of each sample."""

    driven: Driven
    tensors: tuple[Ints, ...]
    settings: tuple[int, ...]


@dataclass(frozen=True)
class Output:
    """An output tensor: its name, the type of its elements, and the shape of one sample."""

    name: str
    type: FixedType
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Claimed:
    """What was proved of the tensors, and the verdict on the hardware with its reason."""

    proved: ProvedKernel
    verdict: Verdict
    message: str


class TensorSource(Protocol):
    """A folder with a machine, its RTL, and the function on tensors that its frames must compute."""

    @property
    def path(self) -> Path:
        """The folder."""

    @property
    def machine(self) -> Machine:
        """The machine that the RTL must be."""

    @property
    def rtl(self) -> Path:
        """The RTL in the folder."""

    @property
    def name(self) -> str:
        """The name in records."""

    @property
    def function(self) -> str:
        """The function in messages, as ``kernel conv``."""

    @property
    def sample(self) -> str:
        """What a sample is called, as ``image``."""

    @property
    def form(self) -> str:
        """The form, which says what holds the tensors."""

    @property
    def members(self) -> int:
        """The number of members in a frame."""

    @property
    def outputs(self) -> Sequence[Output]:
        """The output tensors."""

    @property
    def settings(self) -> Sequence[str]:
        """The names of configurations; empty if there is no choice."""

    @property
    def fewest(self) -> int:
        """The least number of samples in a sequence."""

    @property
    def cycles_undecided(self) -> int:
        """The number of cycles of samples to drive through RTL if its proof is undecided."""

    def given(self, path: Path, rng: np.random.Generator) -> Drive | None:
        """Return a sequence with the samples of a file; None if it has none."""

    def generated(self, samples: int, rng: np.random.Generator) -> Drive:
        """Return a sequence with random samples."""

    def expected(self, drive: Drive, *, check: bool) -> tuple[Ints, ...]:
        """Return the outputs for the samples, by the golden model, shape (samples, ...)."""

    def describe(self, drives: Sequence[Drive]) -> str:
        """Return what the sequences do, in words."""

    def running(self, found: Found, cycle: int) -> str | None:
        """Return what runs in a cycle."""

    def require_printing(self, design: DesignRequest) -> None:
        """Raise ``InputError`` if the hardware does not show what its members print."""

    def printed(
        self, request: SimulationRequest, drives: Sequence[Drive], record: SimulationRecord, run: KernelRun
    ) -> tuple[SimulationRecord, KernelRun]:
        """Add the text that members print for the first sequence to both records; simulators must print the same."""

    def broken_laws(self) -> list[str]:
        """Return the laws that its mappings break."""

    def unproved(self, laws: str) -> ProvedKernel:
        """Return the record before anything but ``laws`` was proved."""

    def claimed(self, proved: ProvedKernel, request: ProveRequest, progress: Progress, watch: Stopwatch) -> Claimed:
        """Prove that every frame of the machine computes the function."""
