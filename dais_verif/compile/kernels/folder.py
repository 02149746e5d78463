"""Read and write the manifest of a folder with an instance as hardware, and its related files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import msgspec

from dais_verif.base.errors import KernelFolderError
from dais_verif.base.files import read_plain
from dais_verif.base.structs import decoded
from dais_verif.compile.kernels.data_types import read_type
from dais_verif.compile.kernels.instance import KernelInstance, require_ports
from dais_verif.compile.kernels.mapping import MappedTensor
from dais_verif.compile.kernels.mapping import Mapping as IndexMapping
from dais_verif.compile.kernels.patterns import AccessPattern
from dais_verif.compile.kernels.printf import PrintfTap
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.spec.program import load

__all__ = [
    "BLOCK",
    "FORMS",
    "FRAME",
    "MACHINE",
    "MANIFEST",
    "PICTURE",
    "RTL",
    "KernelFolder",
    "manifest_of",
    "read_folder",
]

#: The manifest: the instance, and the content of the other files of the folder.
MANIFEST = "instance.json"
MACHINE, RTL, BLOCK, FRAME = "machine.fsm.json", "model.v", "core.bin", "frame.toml"
#: The elements that members access, and when, for pictures.
PICTURE = "picture.json"
#: The forms of instances as machines.
FORMS = ("memory", "stream")

#: The facts that a manifest states for each form.
_FACTS = {
    "memory": ("members", "cycles", "latency", "words", "bits", "parallel"),
    "stream": ("interval", "beats", "latency", "flush", "line_bits", "window_bits"),
}
#: The largest number of elements of a tensor, and of members.
_MOST_ELEMENTS = 1 << 32
_SCHEMA = "dais-verif/kernel/1"
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class _Tensor:
    """A tensor in the manifest: its port, its shape in NumPy's order, and the raw integer read outside of it."""

    name: str
    port: str
    shape: tuple[int, ...]
    type: str
    pattern: AccessPattern
    pad: int | None = None


@dataclass(frozen=True)
class _Tap:
    """The text that each member prints."""

    message: str
    op: int | None = None
    output: int | None = None
    raw: bool = False


@dataclass(frozen=True)
class _Manifest:
    """The content of the manifest. ``facts``: the cost of the hardware; ``files``: the SHA-256 of every other file."""

    schema: str
    kernel: str
    form: str
    index_space: tuple[int, ...]
    facts: dict[str, int]
    inputs: tuple[_Tensor, ...]
    outputs: tuple[_Tensor, ...]
    files: dict[str, str]
    printf: tuple[_Tap, ...] = ()


@dataclass(frozen=True)
class KernelFolder:
    """An instance in a ``form``, in a folder. ``facts``: the cost of its hardware.

    ``inputs``, ``outputs``: the names of its tensors in files of tensors.
    """

    path: Path
    instance: KernelInstance
    form: str
    facts: dict[str, int]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @cached_property
    def machine(self) -> Machine:
        """The machine of the instance. Raises ``ProgramError`` if the file is not a machine."""
        return load_machine(self.path / MACHINE)

    @property
    def rtl(self) -> Path:
        """The file of its RTL."""
        return self.path / RTL

    @property
    def frame(self) -> Path:
        """The frame file: the cycles in which the machine computes all members."""
        return self.path / FRAME


def manifest_of(
    instance: KernelInstance, form: str, facts: Mapping[str, int], ports: tuple[tuple[str, ...], ...], files: Any
) -> bytes:
    """Return the manifest. ``ports``: the names of input ports, and of output ports; ``files``: bytes by name."""
    mapping = instance.mapping
    inputs = [
        _Tensor(one.name, port, one.sizes[::-1], str(kind), one.pattern, pad)
        for one, port, kind, pad in zip(mapping.inputs, ports[0], instance.input_types, instance.pads, strict=True)
    ]
    outputs = [
        _Tensor(one.name, port, one.sizes[::-1], str(kind), one.pattern)
        for one, port, kind in zip(mapping.outputs, ports[1], instance.output_types, strict=True)
    ]
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    taps = tuple(_Tap(tap.message, tap.op, tap.output, tap.raw) for tap in instance.taps)
    said = _Manifest(
        _SCHEMA,
        instance.name,
        form,
        mapping.geometry,
        dict(facts),
        tuple(inputs),
        tuple(outputs),
        hashes,
        taps,
    )
    return (json.dumps(asdict(said), indent=2) + "\n").encode()


def read_folder(path: Path) -> KernelFolder | None:
    """Return the output of ``kernel build`` in the folder ``path``; None if it has no manifest of an instance.

    Raises ``InputError`` if a file is missing or was changed since, and for a manifest that does not fit its block.
    """
    manifest = path / MANIFEST
    if not manifest.is_file():
        return None
    try:
        said = decoded(read_plain(manifest, _MOST_BYTES, "manifest"), _Manifest)
    except msgspec.DecodeError as error:
        raise KernelFolderError(
            f"{str(manifest)!r} is not a valid manifest of a kernel: {error}; build it again"
        ) from None
    if said.schema != _SCHEMA or said.form not in FORMS:
        raise KernelFolderError(
            f"{str(manifest)!r} has schema {said.schema!r}, form {said.form!r}; this version reads {_SCHEMA!r}, "
            f"{' or '.join(FORMS)}; build it again"
        )
    for name in (MACHINE, RTL, BLOCK, FRAME):
        _require_unchanged(path, name, said.files.get(name))
    names = [tensor.name for tensor in (*said.inputs, *said.outputs)]
    if len(set(names)) < len(names):
        raise KernelFolderError(f"{str(manifest)!r} has two tensors of the same name; build it again")
    shapes = [said.index_space, *(tensor.shape for tensor in (*said.inputs, *said.outputs))]
    if any(size < 0 for shape in shapes for size in shape) or max(map(prod, shapes)) > _MOST_ELEMENTS:
        raise KernelFolderError(
            f"{str(manifest)!r} has a size below 0, or over {_MOST_ELEMENTS} elements; build it again"
        )
    if said.facts.keys() != set(_FACTS[said.form]) or min(said.facts.values()) < 0:
        raise KernelFolderError(
            f"{str(manifest)!r} states {said.facts}; must be {', '.join(_FACTS[said.form])}, 0 or more; build it again"
        )
    mapping = IndexMapping(said.index_space, tuple(map(_mapped, said.inputs)), tuple(map(_mapped, said.outputs)))
    instance = KernelInstance(
        said.kernel,
        load(path / BLOCK, layout="v1"),
        mapping,
        tuple(read_type(tensor.type) for tensor in said.inputs),
        tuple(read_type(tensor.type) for tensor in said.outputs),
        tuple(tensor.pad or 0 for tensor in said.inputs),
        tuple(PrintfTap(tap.message, tap.op, tap.output, tap.raw) for tap in said.printf),
    )
    require_ports(instance)
    for name, kind, pad in zip(names, instance.input_types, instance.pads, strict=False):
        if not kind.raw_min <= pad <= kind.raw_max:
            raise KernelFolderError(
                f"{str(manifest)!r}: the pad of {name} is {pad}, which {kind} does not hold; build it again"
            )
    count = len(said.inputs)
    found = KernelFolder(path, instance, said.form, said.facts, tuple(names[:count]), tuple(names[count:]))
    _require_ports_of(found, said)
    return found


def _require_ports_of(kernel: KernelFolder, said: _Manifest) -> None:
    """Raise ``InputError`` unless the ports of the machine carry the types of the tensors."""
    suffix = "_data" if said.form == "memory" else ""
    for tensor in (*said.inputs, *said.outputs):
        signal = kernel.machine.signals.get(tensor.port + suffix)
        if signal is None or set(signal.types) != {read_type(tensor.type)}:
            carries = "is not there" if signal is None else f"carries {', '.join(map(str, sorted(set(signal.types))))}"
            raise KernelFolderError(
                f"{str(kernel.path / MANIFEST)!r}: {tensor.name} has type {tensor.type}, and port "
                f"{tensor.port + suffix} of the machine {carries}; build it again"
            )


def _mapped(tensor: _Tensor) -> MappedTensor:
    return MappedTensor(tensor.name, tensor.shape[::-1], tensor.pattern)


def _require_unchanged(folder: Path, name: str, sha256: str | None) -> None:
    found = hashlib.sha256(read_plain(folder / name, _MOST_BYTES, "file")).hexdigest()
    if found != sha256:
        hint = "; to use edited RTL, give it with --rtl" if name == RTL else ""
        raise KernelFolderError(
            f"{str(folder / name)!r} was changed after it was built: its SHA-256 is {found}, {MANIFEST} says {sha256}; "
            f"build it again{hint}"
        )
