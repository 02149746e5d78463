"""A network as hardware as a source of tensors: images in their configurations, and what every frame must compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import RequestError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.driving.frames import Found, Ints, Run, random_tensors
from dais_verif.compile.kernels.mapping_laws import check_mapping
from dais_verif.compile.networks.hardware.chain import Chain
from dais_verif.compile.networks.hardware.driving import drive_images, drive_network
from dais_verif.compile.networks.hardware.folder import NetworkFolder
from dais_verif.compile.networks.hardware.frame import memory_frame, memory_signals, stream_frame, stream_signals
from dais_verif.compile.networks.hardware.unfold import unfold_chain
from dais_verif.golden import Golden
from dais_verif.golden.stream_control import MOST_STATES, TooManyStates
from dais_verif.record.diff import DiffRecord
from dais_verif.record.kernels import KernelRun, ProvedKernel
from dais_verif.record.network import ProvedSetting
from dais_verif.record.simulation import SimulationRecord
from dais_verif.spec.machine import Machine, parse_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import Batch, Column, floor_to_grid
from dais_verif.stimulus import read_tensors
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.diff import DiffRequest, diff
from dais_verif.verbs.networks.requests import inputs_of
from dais_verif.verbs.networks.schedules import check_schedules
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.tensors.source import Claimed, Drive, Output
from dais_verif.verbs.tensors.timed import with_bits, with_signals

__all__ = ["NetworkSource", "claimed", "expected_tensors", "raw_tensors"]


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


# Prove what the machine of a network computes: every frame = all members, all members = unrolled network.
#
# Each configuration is proved separately. Frames of a stream have images without a pause, and images that wait for
# the result of the one before; all states of control extend this to any pauses. The expected function is read again
# from the network and the configurations in the folder, and frames and members are generated again from it: other
# files in the folder are not part of the claim.


_OF_HARDWARE = {Verdict.PROGRAMS_DIFFER: Verdict.RTL_MISMATCH}


def claimed(
    folder: NetworkFolder, proved: ProvedKernel, request: ProveRequest, progress: Progress, watch: Stopwatch
) -> Claimed:
    """Prove every configuration: every frame that begins with it computes the network, in as many cycles as stated.

    This holds whatever ``config`` is in any other cycle, whatever ran before, and after a reset at any time.
    """
    with watch.stage("members"):
        settings = [_proved(folder, number, request, progress) for number in range(len(folder.configurations))]
    return _judged(_together(replace(proved, settings=settings), settings))


def _proved(folder: NetworkFolder, number: int, request: ProveRequest, progress: Progress) -> ProvedSetting:
    """Prove a configuration: compare its frames with all members, then all members with the network."""
    name, chain = folder.configurations[number], folder.chain
    members = unfold_chain(chain, number)
    asked = DiffRequest(
        a=members,
        b=chain.networks[number].program(),
        prove=True,
        unchecked=request.unchecked,
        timeout=request.timeout,
        seed=request.seed,
    )
    found = ProvedSetting(name, folder.cycles[number])
    with progress.working(f"{name}: comparing the machine with all members side by side"):
        frame = _framed(folder, number, asked)
    found = replace(found, frame=frame.verdict, frame_message=frame.message)
    if found.frame is Verdict.PASS and folder.form == "stream":
        with progress.working(f"{name}: looking at all states of control"):
            verdict, message = _paused(folder)
        found = replace(found, frame=verdict, frame_message=f"{frame.message}; {message}")
    if found.frame is Verdict.PASS:
        with progress.working(f"{name}: comparing all members with the network"):
            whole = diff(asked)
        found = replace(found, network=whole.verdict, network_message=whole.message)
    return found


def _paused(folder: NetworkFolder) -> tuple[Verdict, str]:
    """Return whether the results of a stream are the same for any pauses as in the frames that were proved."""
    alone = "only images without a pause, and images that each come alone, are proved"
    own = parse_machine(machine_json(folder.stream.machine))
    if own.hash != folder.machine.hash:
        return Verdict.UNKNOWN, f"{alone}, since this version builds another machine: write the folder again"
    try:
        states = check_schedules(folder.stream)
    except TooManyStates:
        return Verdict.UNKNOWN, f"{alone}, since control has more than {MOST_STATES} states"
    return Verdict.PASS, f"the same for any pauses, by all {states} states of control"


def _framed(folder: NetworkFolder, number: int, asked: DiffRequest) -> DiffRecord:
    """Compare the machine with all members, and signals that mark valid outputs with the stated cycles.

    Return the first comparison that is not a PASS, else the last one.
    """
    members = unfold_chain(folder.chain, number)
    with temporary_folder() as place:
        path = place.path / "frame.toml"
        # The frames are generated again: those in the folder are not part of the claim.
        for frame, timed in _frames(folder, number):
            bits = [bit for cycles in timed.values() for bit in cycles.values()]
            path.write_text(with_signals(frame, timed), encoding="utf-8")
            found = diff(replace(asked, a=folder.machine, b=with_bits(members, bits), frame=path))
            if found.verdict is not Verdict.PASS:
                break
        return found


def _frames(folder: NetworkFolder, number: int) -> Iterator[tuple[str, Mapping[str, Mapping[int, int]]]]:
    """Yield each frame in which the machine must compute the network, and required values of signals, by cycle.

    For a stream, one frame has images without a pause; in another, each image waits for the result of the previous one.
    """
    if folder.form == "stream":
        for pause in (False, True):
            yield stream_frame(folder.stream, pause=pause), stream_signals(folder.stream, pause=pause)
        return
    signals = memory_signals(folder.chain, folder.cycles, number)
    timed = {name: dict(enumerate(values)) for name, values in signals.items()}
    yield memory_frame(folder.chain, folder.cycles, number), timed


def _together(proved: ProvedKernel, settings: list[ProvedSetting]) -> ProvedKernel:
    """Return the result for all configurations, which is the worst one."""
    findings = [
        (verdict, f"{one.name}: {what}: {message}")
        for one in settings
        for what, verdict, message in (
            ("the machine", one.frame, one.frame_message),
            ("all members", one.network, one.network_message),
        )
        if verdict is not Verdict.PASS
    ]
    wrong = [found for found in findings if found[0] is Verdict.PROGRAMS_DIFFER]
    facts = "cycles " + ", ".join(f"{one.cycles} of {one.name}" for one in settings)
    if findings:
        verdict, message = (wrong or findings)[0]
        return replace(proved, folded=verdict, message=message, facts=f"{facts}: not all of them are proved")
    pauses = " and any pauses" if proved.form == "stream" else ""
    message = f"every frame of each configuration, for all inputs{pauses}, computes the network"
    return replace(proved, folded=Verdict.PASS, message=message, facts=f"{facts}: hold in every frame")


def _judged(proved: ProvedKernel) -> Claimed:
    names = ", ".join(one.name for one in proved.settings or [])
    if proved.folded is Verdict.PASS:
        pauses = " and any pauses" if proved.form == "stream" else ""
        message = f"computes the network in every frame, for all inputs{pauses}: {names}"
        return Claimed(proved, Verdict.PASS, message)
    verdict = _OF_HARDWARE.get(proved.folded, proved.folded)
    if verdict is Verdict.RTL_MISMATCH:
        return Claimed(proved, verdict, f"RTL and machine agree, but not with the network: {proved.message}")
    unknown = f"whether they compute the network is not known: {proved.message}"
    return Claimed(proved, verdict, f"RTL and machine agree; {unknown}")


# Compute expected outputs of a folded network: each sample under its configuration, unrolled, by the golden model.


def raw_tensors(chain: Chain, batch: Batch) -> tuple[Ints, ...]:
    """Return vectors of a network as raw integers of each input, shape (samples, elements); they must fit its types."""
    found, at = [], 0
    for name, kind in chain.inputs.items():
        count = chain.storage[name].words * chain.storage[name].channels
        columns = [floor_to_grid(column, kind.f) for column in batch.columns[at : at + count]]
        found.append(np.stack(columns, axis=1))
        at += count
    return tuple(found)


def expected_tensors(
    chain: Chain, configurations: Sequence[int], tensors: Sequence[Ints], *, check: bool = True
) -> tuple[Ints, ...]:
    """Return each output of the network for samples under their configurations, shape (samples, elements).

    Values are raw integers of the machine's output types.
    """
    kinds = list(chain.outputs.values())
    sizes = [chain.storage[name].words * chain.storage[name].channels for name in chain.outputs]
    types = [kind for kind, size in zip(kinds, sizes, strict=True) for _ in range(size)]
    rows = np.concatenate(tensors, axis=1)
    exponents = [
        -kind.f for tensor, kind in zip(tensors, chain.inputs.values(), strict=True) for _ in range(tensor.shape[1])
    ]
    made: NDArray[np.object_] = np.zeros((len(configurations), len(types)), dtype=object)
    for configuration in sorted(set(configurations)):
        chosen = [sample for sample, one in enumerate(configurations) if one == configuration]
        columns = tuple(Column(rows[chosen, j], exponent) for j, exponent in enumerate(exponents))
        program = chain.networks[configuration].program()
        found = Golden(program).run_raw(Batch(len(chosen), columns), check=check)
        for j, (column, own, kind) in enumerate(zip(found, program.output_types, types, strict=True)):
            made[chosen, j] = _on_grid(column, own, kind)
    ends = np.cumsum([0, *sizes])
    return tuple(made[:, a:b] for a, b in pairwise(ends))


def _on_grid(column: Ints, own: FixedType, kind: FixedType) -> NDArray[np.object_]:
    """Convert raw integers of one type to another; None for values between its steps, which no machine outputs."""
    found: NDArray[np.object_] = column.astype(object)
    if kind.f >= own.f:
        return np.asarray(found << (kind.f - own.f), dtype=object)
    return np.array([n >> (own.f - kind.f) if not n % (1 << (own.f - kind.f)) else None for n in found], dtype=object)
