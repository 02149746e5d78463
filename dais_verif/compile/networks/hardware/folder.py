"""Read and write the manifest of a folder with a network as hardware, and its related files.

The network and the configurations in the folder define what the hardware must compute; everything else in the manifest
must follow from them, or the folder is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from dais_verif.base.errors import InputError, NetworkInputError
from dais_verif.base.files import read_plain
from dais_verif.base.structs import decoded
from dais_verif.compile.approximation import KNOBS, ConfigurationFile, Knob
from dais_verif.compile.approximation import parse as parse_configurations
from dais_verif.compile.approximation.knob_file import parse_knobs
from dais_verif.compile.network_folder import CONFIGURATIONS, MACHINE, MANIFEST, NETWORK, RTL, STREAM, frame_name
from dais_verif.compile.network_folder import KNOBS as KNOBS_FILE
from dais_verif.compile.networks.approximate import approximate
from dais_verif.compile.networks.hardware.chain import Chain, chain_of
from dais_verif.compile.networks.hardware.memory import memory_latency
from dais_verif.compile.networks.hardware.stream import StreamNetwork, stream_chain, stream_network
from dais_verif.compile.networks.model import Network
from dais_verif.compile.networks.reading import parse
from dais_verif.spec.machine import Machine, load_machine

__all__ = [
    "EXACT",
    "FORMS",
    "NetworkFolder",
    "form_chain",
    "manifest_of",
    "networks_of",
    "read_folder",
    "stream_cycles",
]

#: The forms of a network as a machine.
FORMS = ("memory", "stream")
#: The configuration name of a network without a file of configurations.
EXACT = "exact"

_SCHEMA = "dais-verif/network/1"
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class _Tensor:
    """An input or an output: its ports, its sizes, and the type of its elements."""

    name: str
    port: str
    shape: tuple[int, ...]
    type: str


@dataclass(frozen=True)
class _Manifest:
    """The content of the manifest.

    ``configurations``: the names of the configurations, in the order of the values of input ``config``; ``cycles``: as
    in ``NetworkFolder``. ``grid``, ``unrolled``: as requested. ``files``: SHA-256 by file name.
    """

    schema: str
    form: str
    parallel: int
    unrolled: tuple[int, ...]
    grid: int | None
    configurations: tuple[str, ...]
    cycles: tuple[int, ...]
    inputs: tuple[_Tensor, ...]
    outputs: tuple[_Tensor, ...]
    files: dict[str, str]


@dataclass(frozen=True)
class NetworkFolder:
    """A folder with a network as hardware in one ``form``.

    ``configurations``: the names of the configurations, in the order of the values of input ``config``; ``cycles``: for
    each configuration, the cycles from start to done or, in a stream, from the first beat of an image to the last beat
    of its result. ``files``: the names of the files that define the network and its hardware, the manifest first.
    """

    path: Path
    form: str
    configurations: tuple[str, ...]
    cycles: tuple[int, ...]
    files: tuple[str, ...]
    _said: _Manifest

    @cached_property
    def machine(self) -> Machine:
        """The machine of the network. Raises ``ProgramError`` if the file is not a machine."""
        return load_machine(self.path / MACHINE)

    @property
    def name(self) -> str:
        """The name of the network."""
        return self.path.resolve().name

    @property
    def rtl(self) -> Path:
        """The file of its RTL."""
        return self.path / RTL

    def _networks(self) -> tuple[Network, ...]:
        """Return the network under each configuration, read again. Raises the errors of the files' readers."""
        said, data = self._said, read_plain(self.path / NETWORK, _MOST_BYTES)
        if CONFIGURATIONS not in said.files:
            return networks_of(data, None, said.grid)
        knobs: Mapping[int, Knob] = KNOBS
        if KNOBS_FILE in said.files:
            knobs = parse_knobs(read_plain(self.path / KNOBS_FILE, _MOST_BYTES), str(self.path / KNOBS_FILE))
        path = self.path / CONFIGURATIONS
        file = parse_configurations(read_plain(path, _MOST_BYTES), str(path), knobs=knobs)
        names = tuple(one.name for one in file.configurations)
        if names != self.configurations:
            raise self._other("configurations", list(self.configurations), list(names))
        return networks_of(data, file, said.grid)

    @cached_property
    def stream(self) -> StreamNetwork:
        """The network as a stream, built again from the network; ``machine`` is the one in the folder."""
        return stream_network(self.chain)

    @cached_property
    def chain(self) -> Chain:
        """The stages of the network under all configurations, built again.

        Raises ``InputError`` if the manifest states other inputs, outputs or cycles than these stages have.
        """
        said, found = self._said, form_chain(self._networks(), self.form, self._said.unrolled)
        inputs, outputs = _tensors(found, self.form)
        for what, stated, is_so in (("inputs", said.inputs, inputs), ("outputs", said.outputs, outputs)):
            if stated != is_so:
                raise self._other(what, [one.name for one in stated], [one.name for one in is_so])
        memory = self.form == "memory"
        cycles = memory_latency(found, said.parallel) if memory else stream_cycles(stream_network(found))
        if cycles != self.cycles:
            raise self._other("cycles", list(self.cycles), list(cycles))
        return found

    def under(self, configuration: str | None) -> Network:
        """Return the network under a configuration; None: the first. Raises ``InputError`` if there is none."""
        name = self.configurations[0] if configuration is None else configuration
        if name not in self.configurations:
            raise NetworkInputError(
                f"{str(self.path)!r} has no configuration {name!r}; it has {', '.join(self.configurations)}"
            )
        return self.chain.networks[self.configurations.index(name)]

    def _other(self, what: str, stated: object, found: object) -> InputError:
        return NetworkInputError(
            f"{str(self.path / MANIFEST)!r} states {what} {stated}, but the other files of the folder give {found}, or "
            "the same with other sizes or types; write the folder again"
        )


def networks_of(data: bytes, file: ConfigurationFile | None, grid: int | None) -> tuple[Network, ...]:
    """Return the network in ``data`` under each configuration of ``file``; without knobs if ``file`` is None."""
    if file is None:
        return (parse(data),)
    exact = parse(data)
    return tuple(approximate(exact, file, one.name, grid=grid).network for one in file.configurations)


def form_chain(networks: Sequence[Network], form: str, unrolled: Sequence[int]) -> Chain:
    """Return the stages of a network in a form. Raises ``NetworkError`` for a part that cannot be a stage."""
    if form == "memory":
        return chain_of(networks, unrolled)
    if len(networks) > 1:
        raise NetworkInputError(
            f"a stream has one configuration, not {len(networks)}: write a folder for each, or form memory"
        )
    return stream_chain(networks[0], unrolled)


def stream_cycles(made: StreamNetwork) -> tuple[int]:
    """Return the cycles from the first beat of an image to the last beat of its result, if no other image follows."""
    return (made.alone[-1],)


def manifest_of(
    chain: Chain,
    form: str,
    configurations: Sequence[str],
    cycles: Sequence[int],
    files: Mapping[str, bytes],
    *,
    parallel: int,
    unrolled: Sequence[int],
    grid: int | None,
) -> bytes:
    """Return the manifest. ``configurations``: names; ``files``: bytes by name; others: as in the manifest."""
    inputs, outputs = _tensors(chain, form)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    said = _Manifest(
        _SCHEMA,
        form,
        parallel,
        tuple(unrolled),
        grid,
        tuple(configurations),
        tuple(cycles),
        inputs,
        outputs,
        hashes,
    )
    return (json.dumps(asdict(said), indent=2) + "\n").encode()


def read_folder(path: Path) -> NetworkFolder | None:
    """Return the hardware of a network in the folder ``path``; None if it has no manifest of a network.

    Raises ``InputError`` if a file is missing or has changed since it was written, and for a manifest that does not fit
    its machine.
    """
    manifest = path / MANIFEST
    if not manifest.is_file():
        return None
    try:
        said = decoded(read_plain(manifest, _MOST_BYTES, "manifest"), _Manifest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise NetworkInputError(
            f"{str(manifest)!r} is not a valid manifest of a network: {error}; write the folder again"
        ) from None
    if said.schema != _SCHEMA or said.form not in FORMS:
        raise NetworkInputError(
            f"{str(manifest)!r} has schema {said.schema!r}, form {said.form!r}; this version reads {_SCHEMA!r}, "
            f"{' or '.join(FORMS)}; write the folder again"
        )
    needed = [name for name in (MACHINE, RTL, NETWORK, CONFIGURATIONS, KNOBS_FILE) if name in said.files]
    frames = [STREAM, *(frame_name(number) for number in range(len(said.configurations)))]
    missing = [name for name in (MACHINE, RTL, NETWORK) if name not in needed]
    foreign = sorted(said.files.keys() - {*needed, *frames})
    if missing or foreign:
        raise NetworkInputError(
            f"{str(manifest)!r} {'lacks ' + missing[0] if missing else 'lists ' + foreign[0]}; write the folder again"
        )
    for name in (CONFIGURATIONS, KNOBS_FILE):
        if name not in said.files and (path / name).exists():
            raise NetworkInputError(
                f"{str(path / name)!r} is not in {MANIFEST}, so nothing was built from it; write the folder again"
            )
    for name in said.files:
        if name in needed or (path / name).exists():
            _require_unchanged(path, name, said.files[name])
    names, count = said.configurations, len(said.configurations)
    plain = CONFIGURATIONS not in said.files
    if not count or len(said.cycles) != count or len(set(names)) < count or (plain and names != (EXACT,)):
        raise NetworkInputError(
            f"{str(manifest)!r} has configurations {', '.join(names) or 'none'}, but {len(said.cycles)} numbers of "
            "cycles; write the folder again"
        )
    if min(said.cycles) < 1 or said.parallel < 1 or (KNOBS_FILE in said.files and plain):
        raise NetworkInputError(
            f"{str(manifest)!r} states cycles or members below 1, or knobs without configurations; write it again"
        )
    found = NetworkFolder(path, said.form, names, said.cycles, (MANIFEST, *needed), said)
    _require_ports(found, said)
    return found


def _require_ports(folder: NetworkFolder, said: _Manifest) -> None:
    """Raise ``InputError`` unless the ports of the machine carry what tensors and configurations need."""
    suffix = "_data" if said.form == "memory" else ""
    wanted = {f"{one.port}{suffix}": one for one in (*said.inputs, *said.outputs)}
    for port, tensor in wanted.items():
        signal = folder.machine.signals.get(port)
        if signal is None or {str(kind) for kind in signal.types} != {tensor.type}:
            carries = "is not there" if signal is None else f"carries {', '.join(sorted(map(str, signal.types)))}"
            raise NetworkInputError(
                f"{str(folder.path / MANIFEST)!r}: {tensor.name} has type {tensor.type}, and port {port} of the "
                f"machine {carries}; write the folder again"
            )
    if ("config" in folder.machine.signals) != (len(said.configurations) > 1):
        raise NetworkInputError(
            f"{str(folder.path / MANIFEST)!r} has {len(said.configurations)} configurations, but the machine has "
            f"{'an' if 'config' in folder.machine.signals else 'no'} input config; write the folder again"
        )


def _tensors(chain: Chain, form: str) -> tuple[tuple[_Tensor, ...], tuple[_Tensor, ...]]:
    """Return the inputs and outputs for the manifest."""
    first, memory = chain.networks[0], form == "memory"
    inputs = tuple(
        _Tensor(name, f"in{t}" if memory else "x", first.tensors[name].shape, str(kind))
        for t, (name, kind) in enumerate(chain.inputs.items())
    )
    # An output that is a mere copy of another tensor uses the memory of that tensor.
    outputs = tuple(
        _Tensor(own, f"out{t}" if memory else "y", first.tensors[own].shape, str(kind))
        for t, (own, kind) in enumerate(zip(first.outputs, chain.outputs.values(), strict=True))
    )
    return inputs, outputs


def _require_unchanged(folder: Path, name: str, sha256: str) -> None:
    found = hashlib.sha256(read_plain(folder / name, _MOST_BYTES, "file")).hexdigest()
    if found != sha256:
        hint = "; to use edited RTL, give it with --rtl" if name == RTL else ""
        raise NetworkInputError(
            f"{str(folder / name)!r} was changed after it was written: its SHA-256 is {found}, {MANIFEST} says "
            f"{sha256}; "
            f"write the folder again{hint}"
        )
