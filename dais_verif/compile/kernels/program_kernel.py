"""Use any program as a kernel: a TOML file maps its inputs and outputs to elements of tensors for each member."""

from __future__ import annotations

import math
from collections.abc import Mapping as Table
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from reprlib import repr as _short
from typing import Any

from dais_verif.base.errors import InputError, KernelLibraryError
from dais_verif.base.files import read_toml
from dais_verif.base.toml import parse_toml
from dais_verif.compile.kernels.block_inputs import join, type_of_inputs
from dais_verif.compile.kernels.data_types import PadValue, read_pattern, read_type
from dais_verif.compile.kernels.instance import KernelInstance, fitted
from dais_verif.compile.kernels.mapping import MappedTensor, Mapping
from dais_verif.compile.kernels.patterns import AccessPattern
from dais_verif.compile.kernels.printf import PrintfTap, read_taps
from dais_verif.compile.kernels.structures import MAX_DIMS, MAX_TENSORS
from dais_verif.spec.program import FixedType, Program, load
from dais_verif.spec.program.conversion import to_dais

__all__ = ["read_own_kernel"]

_MOST_BYTES = 1 << 20
_KEYS = ("program", "layout", "index_space", "inputs", "outputs", "printf")
_TENSOR_KEYS = ("name", "shape", "type", "map", "pad")


def read_own_kernel(path: Path) -> KernelInstance:
    """Return the instance that the TOML file ``path`` describes. Its program's path is relative to the file.

    A tensor without a stated type gets the smallest type that holds all values that the program reads or writes. Raises
    ``InputError``, which names file and key, or the difference between ports and elements of a member, and
    ``ProgramError`` for an invalid program. ``check_mapping`` checks the laws of its mapping.
    """
    name = f"kernel {str(path)!r}"
    try:
        tree = parse_toml(read_toml(path, _MOST_BYTES, "the kernel"))
    except ValueError as error:
        raise KernelLibraryError(f"{name} is not valid TOML: {error}") from None
    _require_keys(name, tree, _KEYS)
    for key, kind, what in (
        ("program", str, "the path of a program"),
        ("layout", str | None, "the layout of a binary"),
    ):
        if not isinstance(tree.get(key), kind):
            raise KernelLibraryError(f"{name}: {key} is {_short(tree.get(key))}, must be {what}")
    geometry = _sizes(f"{name}: index_space", tree.get("index_space"), least=1)
    inputs = [_tensor(f"{name}: inputs[{n}]", entry) for n, entry in enumerate(_entries(name, "inputs", tree))]
    outputs = [_tensor(f"{name}: outputs[{n}]", entry) for n, entry in enumerate(_entries(name, "outputs", tree))]
    names = [tensor.name for tensor, _, _ in (*inputs, *outputs)]
    if len(set(names)) < len(names):
        raise KernelLibraryError(
            f"{name}: two tensors are called {next(one for one in names if names.count(one) > 1)!r}"
        )
    try:
        mapping = Mapping(geometry, tuple(tensor for tensor, *_ in inputs), tuple(tensor for tensor, *_ in outputs))
    except InputError as error:
        raise KernelLibraryError.of("{name}: {error}", name=name, error=error) from None
    taps = read_taps(name, tree.get("printf", []))
    block = _block(name, path.parent / tree["program"], tree.get("layout"), taps)
    reads, writes = ([mapping.addressing(one).count for one in side] for side in (mapping.inputs, mapping.outputs))
    ends = list(accumulate(reads))
    input_types = [
        kind or type_of_inputs(block, end - count, end)
        for (_, kind, _), count, end in zip(inputs, reads, ends, strict=True)
    ]
    ends = list(accumulate(writes))
    output_types = [
        kind or join(block.output_types[end - count : end])
        for (_, kind, _), count, end in zip(outputs, writes, ends, strict=True)
    ]
    pads = [
        _pad(f"{name}: inputs[{n}]", kind, pad)
        for n, (kind, (*_, pad)) in enumerate(zip(input_types, inputs, strict=True))
    ]
    return fitted(KernelInstance(path.stem, block, mapping, tuple(input_types), tuple(output_types), tuple(pads), taps))


def _block(name: str, path: Path, layout: str | None, taps: Sequence[PrintfTap]) -> Program:
    """Return the program; ALIR is converted to DAIS, the format of binaries."""
    program = load(path, layout=layout)
    block = to_dais(program)
    if block is not program and any(tap.op is not None for tap in taps):
        raise KernelLibraryError(
            f"{name}: printf shows an op of an ALIR program, whose ops are numbered differently in DAIS: show an "
            "output instead"
        )
    return block


def _pad(where: str, kind: FixedType, pad: float) -> int:
    try:
        return PadValue.of(kind, pad).bits
    except InputError as error:
        raise KernelLibraryError.of("{where}: {error}", where=where, error=error) from None


def _require_keys(where: str, table: Table[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            raise KernelLibraryError(f"{where}: {key!r} is not a key; known keys are {', '.join(keys)}")


def _entries(name: str, key: str, tree: Table[str, Any]) -> list[dict[str, Any]]:
    entries = tree.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise KernelLibraryError(f"{name}: {key} must be tables, [[{key}]]")
    if len(entries) > MAX_TENSORS:
        raise KernelLibraryError(f"{name}: there are up to {MAX_TENSORS} {key}, not {len(entries)}")
    return entries


def _sizes(where: str, value: Any, least: int) -> tuple[int, ...]:
    numbers = isinstance(value, list) and all(type(one) is int and least <= one < 1 << 32 for one in value)
    if not numbers or not 1 <= len(value) <= MAX_DIMS:
        raise KernelLibraryError(f"{where} is {_short(value)}, must be 1 to {MAX_DIMS} sizes from {least} on")
    return tuple(value)


def _tensor(where: str, entry: dict[str, Any]) -> tuple[MappedTensor, FixedType | None, float]:
    """Return a tensor, its type if it is stated, and its pad."""
    _require_keys(where, entry, _TENSOR_KEYS)
    for key in ("name", "type"):
        if (key == "name" or key in entry) and (not isinstance(entry.get(key), str) or not entry[key]):
            raise KernelLibraryError(f"{where}: {key} is {_short(entry.get(key))}, must be a string")
    shape, stated, pad = _sizes(f"{where}: shape", entry.get("shape"), least=0), entry.get("map"), entry.get("pad", 0)
    if not isinstance(stated, list) or len(stated) != len(shape) or not all(isinstance(one, str) for one in stated):
        raise KernelLibraryError(
            f"{where}: map is {_short(stated)}, must be a pattern for each of {len(shape)} dimensions"
        )
    if not isinstance(pad, int | float) or isinstance(pad, bool) or not math.isfinite(pad):
        raise KernelLibraryError(f"{where}: pad is {_short(pad)}, must be a number")
    try:
        kind = read_type(entry["type"]) if "type" in entry else None
        # The last dimension is the fastest, as in NumPy; the interface has the fastest dimension first.
        pattern = AccessPattern(tuple(map(read_pattern, reversed(stated))))
        return MappedTensor(entry["name"], shape[::-1], pattern), kind, pad
    except InputError as error:
        raise KernelLibraryError.of("{where}: {error}", where=where, error=error) from None
