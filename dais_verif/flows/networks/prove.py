"""Prove what the machine of a network computes: every frame = all members, all members = unrolled network.

Each configuration is proved separately. Frames of a stream have images without a pause, and images that wait for the
result of the one before; all states of control extend this to any pauses. The expected function is read again from the
network and the configurations in the folder, and frames and members are generated again from it: other files in the
folder are not part of the claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dais_verif.flows.diff import DiffRequest, diff
from dais_verif.flows.networks.schedules import check_schedules
from dais_verif.flows.progress import Progress
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.flows.tensors.source import Claimed
from dais_verif.flows.tensors.timed import with_bits, with_signals
from dais_verif.golden.stream_control import MOST_STATES, TooManyStates
from dais_verif.machine import parse_machine
from dais_verif.machine.alirfsm_writer import machine_json
from dais_verif.networks.hardware.folder import NetworkFolder
from dais_verif.networks.hardware.frame import memory_frame, memory_signals
from dais_verif.networks.hardware.stream_frame import stream_frame, stream_signals
from dais_verif.networks.hardware.unfold import unfold_chain
from dais_verif.record.diff import DiffRecord
from dais_verif.record.kernels import ProvedKernel
from dais_verif.record.network import ProvedSetting
from dais_verif.stopwatch import Stopwatch
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

__all__ = ["claimed"]

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
