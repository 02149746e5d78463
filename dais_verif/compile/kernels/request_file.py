"""A request for a kernel as a TOML file: tensors by name, with real numbers, and options by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from reprlib import repr as _short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.arrays import read_array
from dais_verif.base.errors import InputError, KernelParameterError
from dais_verif.base.files import read_toml
from dais_verif.base.toml import parse_toml
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.constants import constant_tensor
from dais_verif.compile.kernels.data_types import DataType, TensorType, read_type
from dais_verif.compile.kernels.discovery import Libraries
from dais_verif.compile.kernels.glue import Kernel
from dais_verif.compile.kernels.instance import KernelInstance, require_ports
from dais_verif.compile.kernels.library import Library
from dais_verif.compile.kernels.printf import read_taps
from dais_verif.compile.kernels.structures import MAX_DIMS, HabanaKernelParams, Tensor, TensorGeometry, apply_written
from dais_verif.spec.program.types import FixedType

__all__ = ["printed_by", "read_params"]

_MOST_BYTES = 1 << 20
_MOST_CONTENT = 1 << 30
#: Elements of a tensor of hardware, and constants of one, each of which becomes ops of the block.
_MOST_ELEMENTS, _MOST_CONSTANTS = 1 << 28, 1 << 19
_TENSOR_KEYS = ("shape", "type", "seed", "file")
#: Data that glue code writes back for an unknown output: its sizes, then its exact type.
_INFERRED = (GlueCode.INCOMPATIBLE_OUTPUT_SIZE, GlueCode.INCOMPATIBLE_DATA_TYPE)


def read_params(path: Path, libraries: Libraries) -> HabanaKernelParams:
    """Return the request in the TOML file ``path``, for a kernel that one of ``libraries`` declares.

    The last dimension of shapes is the fastest, as in NumPy. Content is ``file``, an .npy file of real numbers that the
    type holds exactly, or random numbers from ``seed``. Glue code determines the output's shape, and its type if none
    is given. Raises ``InputError``, which names file and key.
    """
    name, tree = _read(path)
    asked = tree.get("kernel")
    if not isinstance(asked, str):
        raise KernelParameterError(f"{name}: kernel is {_short(asked)}, must be the name of a kernel")
    kernel = _declared(name, asked, libraries)
    names = kernel.input_names
    _require_keys(name, tree, ("kernel", *names, "output", "options", "printf"))
    inputs = [_tensor(f"{name}: [{one}]", tree[one], path.parent) for one in names if one in tree]
    missing = [one for one in names[: len(names) - kernel.optional_inputs] if one not in tree]
    if missing:
        raise KernelParameterError(f"{name}: [{missing[0]}] is missing; {asked} takes {', '.join(names)}")
    params = HabanaKernelParams(
        asked, tuple(inputs), (_output(name, tree, inputs),), _options(name, tree.get("options", {}), kernel)
    )
    return _inferred(params, libraries)


def printed_by(path: Path, instance: KernelInstance) -> KernelInstance:
    """Return ``instance`` with the messages of the request in ``path``; unchanged if it has no messages.

    Raises ``InputError`` for invalid messages, and for values that the block does not have.
    """
    name, tree = _read(path)
    taps = read_taps(name, tree.get("printf", []))
    printing = replace(instance, taps=taps) if taps else instance
    require_ports(printing)
    return printing


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    name = f"request {str(path)!r}"
    try:
        return name, parse_toml(read_toml(path, _MOST_BYTES, "the request"))
    except ValueError as error:
        raise KernelParameterError(f"{name} is not valid TOML: {error}") from None


def _declared(name: str, asked: str, libraries: Libraries) -> Kernel:
    found, plain = libraries.find(asked)
    kernel = found.library.kernel(plain) if isinstance(found.library, Library) else None
    if kernel is None or len(kernel.input_names) != kernel.inputs or kernel.outputs != 1:
        why = "has several outputs: make its request in Python (docs/kernels.md)"
        if kernel is None:
            why = "is from a library that does not describe its inputs: make its request in Python (docs/kernels.md)"
        elif len(kernel.input_names) != kernel.inputs:
            shown = ", ".join(repr(f"x{n}" if kernel.inputs > 1 else "x") for n in range(kernel.inputs))
            comma = "," * (kernel.inputs == 1)
            why = f"does not name its inputs: give its Kernel input_names=({shown}{comma}), one name per input"
        raise KernelParameterError(f"{name}: {asked} {why}")
    return kernel


def _require_keys(where: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            raise KernelParameterError(f"{where}: {key!r} is not a key; known keys are {', '.join(keys)}")


def _type(where: str, entry: Any) -> FixedType:
    text = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(text, str):
        raise KernelParameterError(f"{where}: type is {_short(text)}, must be a string such as 's6.2'")
    try:
        return read_type(text)
    except InputError as error:
        raise KernelParameterError.of("{where}: {error}", where=where, error=error) from None


def _tensor(where: str, entry: Any, folder: Path) -> Tensor:
    kind = _type(where, entry)
    _require_keys(where, entry, _TENSOR_KEYS)
    shape, file, seed = entry.get("shape"), entry.get("file"), entry.get("seed")
    sizes = isinstance(shape, list) and all(type(one) is int and 0 <= one < 1 << 32 for one in shape)
    if (not sizes or not 1 <= len(shape) <= MAX_DIMS) and not (shape is None and file is not None):
        raise KernelParameterError(f"{where}: shape is {_short(shape)}, must be 1 to {MAX_DIMS} sizes")
    if sizes and math.prod(shape) > _MOST_ELEMENTS:
        raise KernelParameterError(
            f"{where}: shape {_short(shape)} has over {_MOST_ELEMENTS:,} elements, which no hardware holds"
        )
    if sizes and (file, seed) != (None, None) and math.prod(shape) > _MOST_CONSTANTS:
        raise KernelParameterError(
            f"{where}: shape {_short(shape)} has over {_MOST_CONSTANTS:,} constants, each of which becomes hardware"
        )
    if file is None and seed is None:
        return Tensor.of(kind, *reversed(shape))
    if file is not None and seed is not None:
        raise KernelParameterError(f"{where}: file and seed both give the contents; give only one")
    if file is None:
        if (
            type(seed) is not int
            or seed < 0
            or int(np.prod(shape, dtype=object)) * 8 > _MOST_CONTENT
            or kind.width > 62
        ):
            raise KernelParameterError(
                f"{where}: seed is {_short(seed)}, must be a number, 0 or more, for a tensor of up to 62 bits and 1 GB"
            )
        return constant_tensor(kind, np.random.default_rng(seed).integers(kind.raw_min, kind.raw_max + 1, size=shape))
    raw = _raw_of(where, file, folder, kind)
    if shape is not None and list(raw.shape) != shape:
        raise KernelParameterError(f"{where}: {file!r} has shape {list(raw.shape)}, not {shape}")
    return constant_tensor(kind, raw)


def _raw_of(where: str, file: Any, folder: Path, kind: FixedType) -> NDArray[np.int64]:
    """Return the raw integers of the real numbers in an .npy file."""
    if not isinstance(file, str):
        raise KernelParameterError(f"{where}: file is {_short(file)}, must be the path of an .npy file")
    try:
        array = read_array(folder / file, _MOST_CONTENT, "the content")
    except InputError as error:
        raise KernelParameterError.of("{where}: {error}", where=where, error=error) from None
    if array.dtype.kind not in "fiu" or not 1 <= array.ndim <= MAX_DIMS:
        raise KernelParameterError(f"{where}: {file!r} is not an array of numbers with 1 to {MAX_DIMS} dimensions")
    raw = np.ldexp(array.astype(np.float64), kind.f)
    if not (np.isfinite(raw).all() and (raw == np.floor(raw)).all() and (abs(raw) < 2.0**53).all()):
        raise KernelParameterError(f"{where}: {file!r} has numbers that {kind} does not hold: quantise them first")
    try:
        constant_tensor(kind, raw.astype(np.int64))
    except InputError as error:
        raise KernelParameterError.of("{where}: {file!r}: {error}", where=where, file=file, error=error) from None
    return raw.astype(np.int64)


def _output(name: str, tree: Mapping[str, Any], inputs: list[Tensor]) -> Tensor:
    """Return the output as far as it is known: as many dimensions as input 0 has, of size 0."""
    kind: TensorType = DataType.F32
    if "output" in tree:
        kind = _type(f"{name}: [output]", tree["output"])
        _require_keys(f"{name}: [output]", tree["output"], ("type",))
    return Tensor(TensorGeometry(inputs[0].dims, (0,) * MAX_DIMS), kind)


def _options(name: str, options: Any, kernel: Kernel) -> bytes | None:
    """Return the bytes of the private structure; a list as the value of an option is height and width."""
    where, structure = f"{name}: [options]", kernel.structure
    if not isinstance(options, dict):
        raise KernelParameterError(f"{where} is {_short(options)}, must be a table")
    values = dict(kernel.defaults)
    fields = [field for field, _ in structure.fields] if structure else []
    for key, value in options.items():
        if isinstance(value, str) and value in kernel.words.get(key, {}):
            value = kernel.words[key][value]
        pair = (f"{key}_h", f"{key}_w")
        if key in fields and isinstance(value, int | float) and not isinstance(value, bool):
            values[key] = value
        elif set(pair) <= set(fields) and type(value) is int:  # the same value for height and width
            values |= dict.fromkeys(pair, value)
        elif set(pair) <= set(fields) and isinstance(value, list) and [type(one) for one in value] == [int, int]:
            values |= dict(zip(pair, value, strict=True))
        else:
            known = sorted({field.removesuffix("_h").removesuffix("_w") for field in fields})
            words = f", of the words {', '.join(kernel.words[key])}" if key in kernel.words else ""
            raise KernelParameterError(
                f"{where}: {key} = {_short(value)}{words}: options are {', '.join(known) or 'none'}; each is a "
                "number, or a list of height and width"
            )
    try:
        return structure.pack(values) if structure else None
    except InputError as error:
        raise KernelParameterError.of("{where}: {error}", where=where, error=error) from None


def _inferred(params: HabanaKernelParams, libraries: Libraries) -> HabanaKernelParams:
    for _ in _INFERRED:
        code, answer = libraries.habana_kernel(params)
        written = answer.written_back
        if code not in _INFERRED or not (written.output_sizes or written.output_types):
            break
        params = apply_written(params, replace(written, input_types={}, input_sizes={}))
    return params
