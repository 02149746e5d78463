"""Evaluate a kernel on tensors of a file: all members, by the golden model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import RequestError
from dais_verif.files import write_atomically
from dais_verif.flows.kernels.printing import require_messages
from dais_verif.flows.kernels.tensors import read_tensors, real_tensors, tensors_file
from dais_verif.flows.machines.requests import require_no_options
from dais_verif.flows.progress import Progress
from dais_verif.golden.members import print_instance, run_instance
from dais_verif.kernels.folder import KernelFolder
from dais_verif.record.evaluation import EvaluationRecord
from dais_verif.record.program import ProgramInfo

if TYPE_CHECKING:
    from dais_verif.flows.golden.evaluate import EvaluationRequest

__all__ = ["evaluate_kernel"]


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
