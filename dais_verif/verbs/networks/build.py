"""Write a network as a machine, in one configuration or several, into a folder with the complete specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import ConfigurationFile, text_of
from dais_verif.compile.network_folder import (
    CONFIGURATIONS,
    KNOBS,
    MACHINE,
    MANIFEST,
    NETWORK,
    RTL,
    STREAM,
    frame_name,
)
from dais_verif.compile.networks.hardware.chain import Chain
from dais_verif.compile.networks.hardware.folder import EXACT, form_chain, manifest_of, networks_of, stream_cycles
from dais_verif.compile.networks.hardware.frame import memory_frame, stream_frame, stream_pins
from dais_verif.compile.networks.hardware.memory import memory_network
from dais_verif.compile.networks.hardware.stream import stream_network
from dais_verif.compile.networks.hardware.unfold import unfold_chain
from dais_verif.hardware.emitter import machines as emitter
from dais_verif.record.network import FoldedNetwork, FoldedStage
from dais_verif.spec.machine import Machine, parse_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.verbs.diff import DiffRequest, diff
from dais_verif.verbs.overwrite_guard import require_no_loss, write_folder

__all__ = ["NetworkBuild", "build_network"]

#: The number of vectors on which members are compared with the network before anything is written.
_COMPARED = 64


@dataclass(frozen=True)
class NetworkBuild:
    """The machine as written in its file, and its description."""

    machine: Machine
    info: FoldedNetwork


def build_network(
    data: bytes,
    file: ConfigurationFile | None,
    output: Path,
    *,
    form: str = "memory",
    parallel: int = 1,
    unrolled: Sequence[int] = (),
    grid: int | None = None,
    knobs: bytes | None = None,
    read: Sequence[Path] = (),
) -> NetworkBuild:
    """Write the network in ``data``, the bytes of an ONNX file, into the folder ``output``, in a ``form``.

    ``file``: the configurations, from which an input of the machine selects one; None: the network as it is. ``knobs``:
    the bytes of a table of knobs, if it is not the built-in one. ``unrolled``: fused nodes that become one member each.
    ``read``: files that must not be lost. Raises ``NetworkError`` or ``ConfigurationError``, which names the problem.
    """
    chain = form_chain(networks_of(data, file, grid), form, unrolled)
    names = [EXACT] if file is None else [one.name for one in file.configurations]
    _require_same(chain, names)
    made = _memory(chain, names, parallel) if form == "memory" else _stream(chain, names)
    machine = machine_json(made.machine)
    own = parse_machine(machine)
    files = {
        NETWORK: data,
        MACHINE: machine,
        RTL: emitter.emit_machine(own, "model").encode(),  # as ``emit`` would write it from MACHINE
        **made.files,
    }
    if file is not None:
        files[CONFIGURATIONS] = text_of(file).encode()
    if knobs is not None:
        files[KNOBS] = knobs
    facts = {"parallel": parallel, "unrolled": unrolled, "grid": grid}
    manifest = manifest_of(chain, form, names, made.cycles, files, **facts)  # type: ignore[arg-type]
    require_no_loss(output, (*files, MANIFEST), network=tuple(read))
    write_folder(output, {**files, MANIFEST: manifest}, MANIFEST)
    cycles = dict(zip(names, made.cycles, strict=True))
    info = FoldedNetwork(
        form, str(output), sorted([*files, MANIFEST]), cycles, parallel, made.stages, made.words, made.bits
    )
    return NetworkBuild(own, info)


def _require_same(chain: Chain, names: Sequence[str]) -> None:
    """Raise ``AssertionError`` if the members of all stages differ from the network on one of a few vectors."""
    for number, (name, network) in enumerate(zip(names, chain.networks, strict=True)):
        members, program = unfold_chain(chain, number), network.program()
        found = diff(DiffRequest(a=members, b=program, vectors=_COMPARED, unchecked=True))
        if found.verdict is Verdict.PROGRAMS_DIFFER:
            raise AssertionError(
                f"all members together do not compute the network in configuration {name}: {found.message}: a defect of"
                " dais-verif"
            )


class _Made(NamedTuple):
    """A machine in a form, and its description. ``files``: additional files."""

    machine: Machine
    cycles: tuple[int, ...]
    stages: list[FoldedStage]
    words: int
    bits: int
    files: dict[str, bytes]


def _memory(chain: Chain, names: Sequence[str], parallel: int) -> _Made:
    made = memory_network(chain, parallel)
    stages = [
        FoldedStage(
            one.name,
            one.fused,
            one.members,
            one.ops,
            one.facts.latency,
            [names[number] for number in one.configurations],
        )
        for one in made.stages
    ]
    frames = {frame_name(at): memory_frame(chain, made.latency, at).encode() for at in range(len(names))}
    return _Made(made.machine, made.latency, stages, made.words, made.bits, frames)


def _stream(chain: Chain, names: Sequence[str]) -> _Made:
    made = stream_network(chain)
    stages = [FoldedStage(one.name, one.fused, one.members, one.ops, one.beats, list(names)) for one in made.stages]
    files = {frame_name(0): stream_frame(made).encode(), STREAM: stream_pins().encode()}
    return _Made(made.machine, stream_cycles(made), stages, 0, sum(one.kept for one in made.stages), files)
