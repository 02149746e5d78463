"""Prove a folded network: RTL = machine in every cycle, every frame = all members, all members = unrolled network.

Each configuration is proved separately. Frames of a stream have images without a pause, and images that wait for the
result of the one before; all states of control extend this to any pauses. The expected function is read again from the
network and the configurations in the folder, and frames and members are generated again from it: other files in the
folder are not part of the claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dais_verif.flows.diff import DiffRequest, diff
from dais_verif.flows.kernels.kept import keep_answer, keep_no_answer
from dais_verif.flows.kernels.timed import with_bits, with_signals
from dais_verif.flows.machines.prove import prove_machine
from dais_verif.flows.networks.schedules import check_schedules
from dais_verif.flows.networks.simulate import simulate_network
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.flows.simulation_request import SimulationRequest
from dais_verif.golden.stream_control import MOST_STATES, TooManyStates
from dais_verif.kernels.laws.check import check_mapping
from dais_verif.machine import parse_machine
from dais_verif.machine.alirfsm_writer import machine_json
from dais_verif.networks.hardware.folder import NetworkFolder
from dais_verif.networks.hardware.frame import memory_frame, memory_signals
from dais_verif.networks.hardware.stream_frame import stream_frame, stream_signals
from dais_verif.networks.hardware.unfold import unfold_chain
from dais_verif.own_command import own_command
from dais_verif.prover.results import ProofOptions
from dais_verif.record.diff import DiffRecord
from dais_verif.record.kernels import ProvedKernel
from dais_verif.record.network import ProvedSetting
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import Mismatch
from dais_verif.stopwatch import Stopwatch
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

__all__ = ["prove_network"]

#: Verdicts on the RTL that a simulation with images can show.
_SHOWN_BY_DRIVING = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT)
_OF_HARDWARE = {Verdict.PROGRAMS_DIFFER: Verdict.RTL_MISMATCH}


def prove_network(
    folder: NetworkFolder, request: ProveRequest, options: ProofOptions, progress: Progress, watch: Stopwatch
) -> tuple[ProofRecord, None, Path | None, Mismatch | None]:
    """Return the record, None for the program, the folder if it was kept, and the mismatch that a simulator showed.

    The proof covers: the RTL equals the machine, in every cycle, from power-up; every frame that begins with a
    configuration computes what all members together do in this configuration, and takes as many cycles as stated,
    whatever ``config`` is in any other cycle, whatever ran before, and after a reset at any time; all members compute
    the unrolled network; each element of a tensor is written once.
    """
    design = request.design
    if not design.rtl and not design.of_bits:
        design = replace(design, rtl=(folder.rtl,))
    asked = replace(request, design=design, command=lambda _: request.reproduce())
    chain = folder.chain  # read before anything runs, so that unreadable folders are refused
    record, _, place, mismatch = prove_machine(folder.machine, asked, options, progress, watch)
    keep_no_answer(place, record)
    if record.verdict is Verdict.UNKNOWN:
        with watch.stage("replay"), progress.working("driving images through the RTL"):
            record, mismatch = _driven(folder, asked, record)
    stages = [stage for one in chain.places for variant in one.variants for stage in variant.stages]
    broken = [str(one) for stage in stages for one in check_mapping(stage.instance.mapping).failures]
    settings = [ProvedSetting(name, cycles) for name, cycles in zip(folder.configurations, folder.cycles, strict=True)]
    proved = ProvedKernel(
        kernel=folder.name,
        form=folder.form,
        members=sum(stage.instance.mapping.members for stage in stages),
        laws=broken[0] if broken else "each element is written once, and members access what mappings state",
        facts="cycles: not checked",
        folded=Verdict.NOT_RUN,
        message="not checked, since an earlier claim is not proved",
        settings=settings,
    )
    if record.verdict is Verdict.PASS and broken:
        message = f"a mapping of {folder.name} breaks a law: {proved.laws}"
        record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
    if record.verdict is Verdict.PASS:
        with watch.stage("members"):
            for number in range(len(settings)):
                settings[number] = _proved(folder, number, request, progress)
        proved = _together(proved, settings)
        verdict, message = _judged(record, proved)
        record = replace(record, verdict=verdict, message=message)
    mine = {stage.name: stage.busy for stage in watch.stages if stage.name in ("replay", "members")}
    record = keep_answer(place, replace(record, kernel=proved, seconds={**record.seconds, **mine}))
    return record, None, place, mismatch


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


def _judged(record: ProofRecord, proved: ProvedKernel) -> tuple[Verdict, str]:
    names = ", ".join(one.name for one in proved.settings or [])
    if proved.folded is Verdict.PASS:
        pauses = " and any pauses" if proved.form == "stream" else ""
        message = f"{record.message}; and computes the network in every frame, for all inputs{pauses}: {names}"
        return Verdict.PASS, message
    verdict = _OF_HARDWARE.get(proved.folded, proved.folded)
    if verdict is Verdict.RTL_MISMATCH:
        return verdict, f"RTL and machine agree, but not with the network: {proved.message}"
    return verdict, f"RTL and machine agree; whether they compute the network is not known: {proved.message}"


def _driven(folder: NetworkFolder, request: ProveRequest, record: ProofRecord) -> tuple[ProofRecord, Mismatch | None]:
    """Return ``record`` updated by a simulation of the RTL with images, and its mismatch.

    The random inputs that the proof of any machine tries rarely bring a network to a state with visible results.
    """
    asked = SimulationRequest(
        program=request.program,
        design=request.design,
        vectors=1,
        simulator=request.simulator,
        seed=request.seed,
        timeout=request.timeout,
        command=request.command,
    )
    found, _, _ = simulate_network(folder, asked, SILENT, Stopwatch())
    if found.verdict not in _SHOWN_BY_DRIVING:
        message = f"{record.message}; driving images through the RTL gives {found.verdict.value}: {found.message}"
        return replace(record, message=message), None
    mismatch = found.first_mismatch
    where = "" if mismatch is None or mismatch.place is None else f" at {mismatch.place}"
    message = f"images driven through the RTL show a difference{where}: {record.message.partition('; no sequence')[0]}"
    words = ["sim", str(folder.path), *request.design.words(), "--vectors", "1", "--seed", str(request.seed)]
    return replace(record, verdict=found.verdict, message=message, simulate=own_command(words)), mismatch
