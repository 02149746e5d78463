"""Read and write files of tensors of a kernel: ``.npy`` for one, ``.npz`` for several by name; real or raw numbers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.arrays import is_archive, read_array, read_arrays
from dais_verif.base.errors import RequestError, VectorError
from dais_verif.base.files import write_atomically
from dais_verif.compile.kernels.folder import KernelFolder
from dais_verif.golden.members import print_instance, run_instance
from dais_verif.record.evaluation import EvaluationRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import Batch, doubles_of_raw, floor_to_grid
from dais_verif.stimulus.machines import npz_of
from dais_verif.verbs.kernels.printing import require_messages
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.progress import Progress

if TYPE_CHECKING:
    from dais_verif.verbs.evaluate import EvaluationRequest

__all__ = ["evaluate_kernel", "read_tensors", "real_tensors", "tensors_file"]


Ints = NDArray[Any]


def read_tensors(path: Path, kernel: KernelFolder, *, raw: bool = False) -> tuple[tuple[Ints, ...], bool]:
    """Return the raw integers of each input, shape (samples, ...), and whether the file had an axis of samples.

    Real numbers are floored to the type, as inputs of a program are. Raises ``InputError``, which names file and
    tensor, for wrong shapes, values that are not numbers, and numbers beyond the type.
    """
    found = _arrays(path, kernel.inputs)
    shapes = [one.sizes[::-1] for one in kernel.instance.mapping.inputs]
    several = {len(array.shape) == len(shape) + 1 for array, shape in zip(found, shapes, strict=True)}
    given = []
    for name, array, shape, kind in zip(kernel.inputs, found, shapes, kernel.instance.input_types, strict=True):
        if array.shape[-len(shape) :] != shape or array.ndim > len(shape) + 1 or len(several) > 1:
            raise VectorError(
                f"{path}: {name} has shape {array.shape}, must be {shape}, or (samples, *{shape}) for all"
            )
        given.append(_raw(path, name, array if True in several else array[None], kind, raw))
    if len({len(array) for array in given}) > 1:
        raise VectorError(f"{path}: the tensors differ in their numbers of samples")
    return tuple(given), True in several


def _arrays(path: Path, names: Sequence[str]) -> list[NDArray[Any]]:
    if not is_archive(path):
        array = read_array(path)
        if len(names) != 1:
            wanted = ", ".join(names) or "none"
            raise VectorError(f"{path}: is one array, but the inputs are {wanted}; give them in an .npz file")
        return [array]
    found = read_arrays(path)
    if sorted(found) != sorted(names):
        raise VectorError(
            f"{path}: has arrays {', '.join(sorted(found)) or 'none'}; the inputs of the kernel are {', '.join(names)}"
        )
    return [found[name] for name in names]


def _raw(path: Path, name: str, array: NDArray[Any], kind: FixedType, raw: bool) -> Ints:
    real = array.dtype.kind == "f" and array.dtype.itemsize <= 8 and not raw
    if not (real or array.dtype.kind in "iub"):
        what = "integers" if raw else "numbers, integers or floats of at most 64 bits"
        raise VectorError(f"{path}: {name} has dtype {array.dtype}, must be {what}")
    if real and not np.isfinite(array).all():
        raise VectorError(f"{path}: {name} must hold finite numbers")
    if raw:
        found: Ints = array.astype(np.int64) if array.dtype.itemsize < 8 or array.dtype.kind == "i" else _wide(array)
    else:
        column = Batch.of(np.ascontiguousarray(array).reshape(-1, 1), 1).columns[0]
        found = floor_to_grid(column, kind.f).reshape(array.shape)
    if found.size and not kind.raw_min <= int(found.min()) <= int(found.max()) <= kind.raw_max:
        lo, hi = (Fraction(end) / Fraction(2) ** kind.f for end in (kind.raw_min, kind.raw_max))
        ends = f"raw integers {kind.raw_min} to {kind.raw_max}" if raw else f"{float(lo):g} to {float(hi):g}"
        raise VectorError(f"{path}: {name} has numbers that its type {kind} does not hold: {ends}")
    return found


def _wide(array: NDArray[Any]) -> Ints:
    return array.astype(object)


def real_tensors(raw: Sequence[Ints], types: Sequence[FixedType]) -> tuple[NDArray[np.float64], ...]:
    """Return raw integers as real numbers. Raises ``InputError`` for numbers that float64 does not hold exactly."""
    return tuple(
        doubles_of_raw(array.ravel(), kind.f, at).reshape(array.shape)
        for at, (array, kind) in enumerate(zip(raw, types, strict=True))
    )


def tensors_file(path: Path, names: Sequence[str], arrays: Sequence[NDArray[Any]]) -> bytes:
    """Return the content of the file ``path``: ``.npz`` with all tensors, or ``.npy`` with a single one."""
    if path.suffix == ".npz":
        return npz_of(dict(zip(names, arrays, strict=True)))
    if len(arrays) != 1:
        raise VectorError(f"{str(path)!r} holds one array, but the outputs are {', '.join(names)}: name an .npz file")
    file = io.BytesIO()
    np.save(file, arrays[0], allow_pickle=False)
    return file.getvalue()


# Evaluate a kernel on tensors of a file: all members, by the golden model.


def evaluate_kernel(
    kernel: KernelFolder, request: EvaluationRequest, progress: Progress
) -> tuple[EvaluationRecord, tuple[str, ...], tuple[NDArray[Any], ...]]:
    """Return the record, names of output elements, and a column for each element; write them if requested.

    Raises ``RequestError`` for options that only programs have, ``ViolationError`` with the member if the block breaks
    a promise and promises are checked.
    """
    require_no_options(layout=request.layout)
    if request.engine == "exact":
        raise RequestError.of("{engine} {value} is for programs and machines: leave it out.", value=request.engine)
    given, several = read_tensors(request.inputs, kernel, raw=request.raw_inputs)
    samples = len(given[0]) if given else 1
    with progress.working(f"{samples} samples of {kernel.instance.mapping.members} members ..."):
        check = not request.unchecked
        printed = None
        if request.printf:
            require_messages(kernel.instance)
            printout = print_instance(kernel.instance, given, check=check)
            printed = ["".join(sample) for sample in printout.texts]
        found: tuple[NDArray[Any], ...] = (
            printout.outputs if request.printf else run_instance(kernel.instance, given, check=check)
        )
    if not request.raw:
        found = real_tensors(found, kernel.instance.output_types)
    output = request.output
    if output is not None and output.suffix in (".npy", ".npz"):
        arrays = found if several else tuple(array[0] for array in found)
        write_atomically(output, tensors_file(output, kernel.outputs, arrays))
    record = EvaluationRecord(
        program=ProgramInfo.of_machine(kernel.machine),
        rows=samples,
        engine="fast",
        unchecked=request.unchecked,
        output=None if output is None else str(output),
        printed=printed,
    )
    names = [
        f"{name}[{', '.join(map(str, place))}]"
        for name, array in zip(kernel.outputs, found, strict=True)
        for place in np.ndindex(*array.shape[1:])
    ]
    columns = [column for array in found for column in array.reshape(samples, -1).T]
    return record, tuple(names), tuple(columns)
