"""Write an instance of a kernel as hardware, with all that belongs to it, into a folder."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.emitter import machines as emitter
from dais_verif.errors import InputError
from dais_verif.flows.no_loss import write_folder
from dais_verif.kernels.caller import instantiate
from dais_verif.kernels.constants import content_of, has_content
from dais_verif.kernels.discovery import find_libraries
from dais_verif.kernels.forms.frame import memory_frame
from dais_verif.kernels.forms.memory import MemoryFacts, memory_form
from dais_verif.kernels.instance import KernelInstance, instance_of
from dais_verif.kernels.laws.check import check_mapping
from dais_verif.kernels.own import read_own_kernel
from dais_verif.kernels.params_file import read_params
from dais_verif.kernels.patterns import AccessPattern
from dais_verif.kernels.unfold import unfold
from dais_verif.machine.alirfsm_writer import machine_json
from dais_verif.program import FixedType, write_binary
from dais_verif.record.kernels import KernelBuild

__all__ = ["MANIFEST", "build_kernel"]

#: Says what the instance is, and what the other files of the folder hold.
MANIFEST = "instance.json"
#: Ops of an unfolded instance, up to which it is written, too.
_MOST_OPS = 1 << 18


@dataclass(frozen=True)
class _Described:
    """A tensor in the manifest: its port, its shape as NumPy has it, and the raw integer that is read outside."""

    name: str
    port: str
    shape: tuple[int, ...]
    type: str
    pattern: AccessPattern
    pad: int | None


def build_kernel(name: str, params: Path | None, output: Path, libraries: Sequence[Path] = ()) -> KernelBuild:
    """Write an instance in its memory form into the folder ``output``, which an earlier call may have left.

    ``params``: a request for kernel ``name``; None: ``name`` is the file of a kernel of one's own. Raises
    ``InputError`` for files that are neither, a request that is refused, and a mapping that breaks a law.
    """
    instance, contents = _own(name) if params is None else _requested(name, params, libraries)
    failures = check_mapping(instance.mapping).failures
    if failures:
        raise InputError(f"{instance.name}: its mapping breaks a law: {failures[0]}")
    machine, facts = memory_form(instance)
    files = {
        "core.bin": write_binary(instance.block, "v1"),
        "machine.fsm.json": machine_json(machine),
        "model.v": emitter.emit_machine(machine, "model").encode(),
        "frame.toml": memory_frame(instance, facts).encode(),
        **{f"aux/{title}.npy": _npy(array) for title, array in contents.items()},
    }
    if instance.mapping.members * instance.block.n_ops <= _MOST_OPS:
        files["unfolded.bin"] = write_binary(unfold(instance), "v1")
    write_folder(output, {**files, MANIFEST: _manifest(instance, facts, files)}, MANIFEST)
    return KernelBuild(instance.name, "memory", str(output), sorted([*files, MANIFEST]), **asdict(facts))


def _own(name: str) -> tuple[KernelInstance, dict[str, NDArray[Any]]]:
    if not name.endswith(".toml"):
        raise InputError.of(
            "{params} is missing: the TOML file of a request for kernel {name!r}; without it, name the .toml file of a "
            "kernel of your own",
            name=name,
        )
    return read_own_kernel(Path(name)), {}


def _requested(name: str, params: Path, libraries: Sequence[Path]) -> tuple[KernelInstance, dict[str, NDArray[Any]]]:
    found = find_libraries(libraries)
    request = read_params(params, found)
    if request.node_name != name:
        raise InputError(f"request {str(params)!r} is one for kernel {request.node_name!r}, not for {name!r}")
    answer = instantiate(found, request)
    contents: dict[str, NDArray[Any]] = {
        f"input{at}": np.ldexp(content_of(tensor).astype(np.float64), -tensor.data_type.f)
        for at, tensor in enumerate(request.input_tensors)
        if has_content(tensor) and isinstance(tensor.data_type, FixedType)
    }
    for at, one in enumerate(answer.auxiliary_tensors):
        contents[f"table{at}"] = np.frombuffer(one.data, dtype=np.uint8)
    return instance_of(request, answer), contents


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _manifest(instance: KernelInstance, facts: MemoryFacts, files: Mapping[str, bytes]) -> bytes:
    mapping = instance.mapping
    inputs = [
        _Described(one.name, f"in{t}", one.sizes[::-1], str(kind), one.pattern, pad)
        for t, (one, kind, pad) in enumerate(zip(mapping.inputs, instance.input_types, instance.pads, strict=True))
    ]
    outputs = [
        _Described(one.name, f"out{t}", one.sizes[::-1], str(kind), one.pattern, None)
        for t, (one, kind) in enumerate(zip(mapping.outputs, instance.output_types, strict=True))
    ]
    tree = {
        "kernel": instance.name,
        "form": "memory",
        "index_space": mapping.geometry,
        "facts": asdict(facts),
        "inputs": list(map(asdict, inputs)),
        "outputs": list(map(asdict, outputs)),
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    }
    return (json.dumps(tree, indent=2) + "\n").encode()
