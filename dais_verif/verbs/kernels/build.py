"""Write an instance of a kernel as hardware, with all related files, into a folder."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import KernelError, RequestError
from dais_verif.base.files import read_toml
from dais_verif.base.toml import parse_toml
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.constants import content_of, has_content
from dais_verif.compile.kernels.discovery import find_libraries
from dais_verif.compile.kernels.folder import BLOCK, FORMS, FRAME, MACHINE, MANIFEST, PICTURE, RTL, manifest_of
from dais_verif.compile.kernels.forms.frame import memory_frame
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.compile.kernels.instance import KernelInstance, instance_of
from dais_verif.compile.kernels.mapping_laws import check_mapping
from dais_verif.compile.kernels.program_kernel import read_own_kernel
from dais_verif.compile.kernels.request_file import printed_by, read_params
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.hardware.emitter import machines as emitter
from dais_verif.record.kernels import KernelBuild
from dais_verif.spec.machine import Machine, parse_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.program import FixedType, write_binary
from dais_verif.verbs.kernels.picture import picture_of
from dais_verif.verbs.overwrite_guard import require_no_loss, write_folder
from dais_verif.verbs.programs import require_range

__all__ = ["FORMS", "build_kernel", "read_instance"]


#: The largest number of parallel members.
MOST_PARALLEL = 1 << 10
#: Names of the cost figures of a stream form.
_OF_STREAM = ("interval", "beats", "latency", "flush", "line_bits", "window_bits")
#: The unfolded instance is also written if it has at most this many ops.
_MOST_OPS = 1 << 18


#: Names of the inputs and of the outputs of a form.
_Ports = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class _Hardware:
    """A machine, its facts, its ports, and additional files by name."""

    machine: Machine
    facts: dict[str, int]
    ports: _Ports
    files: dict[str, bytes]


def build_kernel(
    name: str,
    params: Path | None,
    output: Path,
    libraries: Sequence[Path] = (),
    form: str = "memory",
    parallel: int = 1,
    printf: bool = False,
) -> KernelBuild:
    """Write an instance in a ``form`` into the folder ``output``, which may hold the files of an earlier call.

    ``params``: the file of a request for kernel ``name``; None: ``name`` is the file of a request, or of a user's own
    kernel. ``parallel``: the number of parallel members, for the memory form only. ``printf``: add outputs for the text
    that members print.

    Raises ``InputError`` for an unusable file, a refused request, a mapping that breaks a law, and a mapping that the
    form does not support.
    """
    if form not in FORMS:
        raise RequestError.of("{form} must be one of {forms}, not {value!r}.", forms=", ".join(FORMS), value=form)
    require_range("parallel", parallel, 1, MOST_PARALLEL)
    if form != "memory" and parallel > 1:
        raise RequestError.of(
            "{parallel} {value} is for memories: a stream already computes all members of a pixel in parallel.",
            value=parallel,
        )
    if params is None and name.endswith(".toml") and is_request(Path(name)):
        params = Path(name)
        instance, contents = _requested(None, params, libraries)
    else:
        instance, contents = _own(name) if params is None else _requested(name, params, libraries)
    failures = check_mapping(instance.mapping).failures
    if failures:
        raise KernelError(f"{instance.name}: its mapping breaks a law: {failures[0]}")
    if printf and not instance.taps:
        raise KernelError(f"{instance.name}: no member prints; add messages, [[printf]], to its file")
    made = _memory(instance, parallel, printf) if form == "memory" else _stream(instance, printf)
    machine = machine_json(made.machine)
    files = {
        BLOCK: write_binary(instance.block, "v1"),
        MACHINE: machine,
        RTL: emitter.emit_machine(parse_machine(machine), "model").encode(),  # as ``emit`` would write it from MACHINE
        **made.files,
        **{f"aux/{title}.npy": _npy(array) for title, array in contents.items()},
    }
    if instance.mapping.members * instance.block.n_ops <= _MOST_OPS:
        files["unfolded.bin"] = write_binary(unfold(instance), "v1")
    picture = picture_of(instance, forms=[form], parallel=parallel)
    drawn = replace(picture, machine=hashlib.sha256(files[MACHINE]).hexdigest())
    files[PICTURE] = drawn.to_json().encode()
    manifest = manifest_of(instance, form, made.facts, made.ports, files)
    require_no_loss(output, (*files, MANIFEST), name=name if params is None else None, params=params)
    write_folder(output, {**files, MANIFEST: manifest}, MANIFEST)
    members = instance.mapping.members
    return KernelBuild(instance.name, form, str(output), sorted([*files, MANIFEST]), members, made.facts)


def _memory(instance: KernelInstance, parallel: int, printf: bool) -> _Hardware:
    machine, facts = memory_form(instance, parallel, printf=printf)
    mapping = instance.mapping
    ports = (
        tuple(f"in{t}" for t in range(len(mapping.inputs))),
        tuple(f"out{t}" for t in range(len(mapping.outputs))),
    )
    return _Hardware(machine, asdict(facts), ports, {FRAME: memory_frame(instance, facts).encode()})


def _stream(instance: KernelInstance, printf: bool) -> _Hardware:
    form = stream_form(instance, printf=printf)
    facts = {key: getattr(form, key) for key in _OF_STREAM}
    mapping = instance.mapping
    ports = tuple(
        tuple(f"{letter}{t}" if len(side) > 1 else letter for t in range(len(side)))
        for letter, side in (("x", mapping.inputs), ("y", mapping.outputs))
    )
    files = {FRAME: form.frame.encode(), "stream.toml": form.stream.encode()}
    return _Hardware(form.machine, facts, (ports[0], ports[1]), files)


def _own(name: str) -> tuple[KernelInstance, dict[str, NDArray[Any]]]:
    if not name.endswith(".toml"):
        raise KernelError.of(
            "{params} is missing: give the TOML file of a request for kernel {name!r}; or, instead of the name of a "
            "kernel, give the .toml file of a request or of your own kernel",
            name=name,
        )
    return read_own_kernel(Path(name)), {}


def _requested(
    name: str | None, params: Path, libraries: Sequence[Path]
) -> tuple[KernelInstance, dict[str, NDArray[Any]]]:
    found = find_libraries(libraries)
    request = read_params(params, found)
    if name is not None and request.node_name != name:
        raise KernelError(f"request {str(params)!r} is for kernel {request.node_name!r}, not for {name!r}")
    answer = instantiate(found, request)
    contents: dict[str, NDArray[Any]] = {
        f"input{at}": np.ldexp(content_of(tensor).astype(np.float64), -tensor.data_type.f)
        for at, tensor in enumerate(request.input_tensors)
        if has_content(tensor) and isinstance(tensor.data_type, FixedType)
    }
    for at, one in enumerate(answer.auxiliary_tensors):
        contents[f"table{at}"] = np.frombuffer(one.data, dtype=np.uint8)
    return printed_by(params, instance_of(request, answer)), contents


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


# Read the instance that a file describes: a user's kernel, or a request for a kernel of a library.


_MOST_BYTES = 1 << 20


def read_instance(path: Path, libraries: Sequence[Path] = ()) -> KernelInstance:
    """Return the instance of the TOML file ``path``: a request if it names a ``kernel``, else a user's own kernel.

    Raises ``InputError`` for a file that is neither, and for a request that is refused.
    """
    if not is_request(path):
        return read_own_kernel(path)
    found = find_libraries(libraries)
    params = read_params(path, found)
    return printed_by(path, instance_of(params, instantiate(found, params)))


def is_request(path: Path) -> bool:
    """Return True if the TOML file ``path`` names a kernel. Raises ``InputError`` if it is not valid TOML."""
    try:
        return "kernel" in parse_toml(read_toml(path, _MOST_BYTES, "the kernel"))
    except ValueError as error:
        raise KernelError(f"kernel {str(path)!r} is not valid TOML: {error}") from None
