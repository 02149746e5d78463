"""Compare another interpreter with the oracle: it reads the files of a case, and writes its outputs into a file."""

from __future__ import annotations

import re
import shutil
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import InputError
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.command import Command
from dais_verif.fuzzing.files import as_double, write_inputs, write_program
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.golden import oracle

__all__ = ["AGAINST", "Interpreter"]

#: The name of the pair.
AGAINST = "against"


class Interpreter:
    """An interpreter that reads ``form``; ``command`` has placeholders for ``program``, ``inputs``, ``outputs``."""

    def __init__(self, command: Command, form: str, folder: Path, seconds: float) -> None:
        self.command, self.form, self.folder, self.seconds = command, form, folder, seconds

    def judge(self, case: Case) -> Disagreement | None:
        """Return the difference from the oracle's outputs. Raises ``NotJudged`` if the files cannot hold the case."""
        outputs = self.folder / "outputs.npy"
        _clear(outputs)
        try:
            files = {
                "program": write_program(case.program, self.folder, self.form),
                "inputs": write_inputs(case.rows, self.folder),
                "outputs": outputs,
            }
            right = [[as_double(value) for value in row] for row in _right(case)]
        except InputError as error:
            raise NotJudged(str(error)) from None
        if not right or not right[0]:
            raise NotJudged("the program has no outputs, or there is no vector")
        ending = self.command.run(files, self.folder, self.seconds)
        if ending.status is None:
            return Disagreement(AGAINST, "no end", f"the tool {ending.words}")
        if ending.status:
            kind = "crash" if ending.crashed else f"exit code {ending.status}{_error_of(ending.last_line)}"
            return Disagreement(AGAINST, kind, f"the other tool {ending.words}: {ending.last_line}")
        return _compared(right, outputs, case)


def _clear(path: Path) -> None:
    """Remove the file or folder that an earlier run of the tool left there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _error_of(line: str) -> str:
    """Return the class of the Python error in ``line``; a smaller case must end with the same error."""
    found = re.match(r"[\w.]*(Error|Exception)\b", line)
    return f", {found[0]}" if found else ""


def _right(case: Case) -> list[list[Fraction]]:
    return [oracle.outputs_of(case.program, values) for values in case.values]


def _compared(right: list[list[float]], path: Path, case: Case) -> Disagreement | None:
    shape = (len(case.rows), case.program.n_out)
    try:
        found = _read(path, shape)
    except Exception as error:  # numpy's header parser and zipfile raise various errors
        return Disagreement(
            AGAINST, "no outputs", f"the tool ended with exit code 0, but left no readable outputs: {error}"
        )
    wanted = np.array(right, dtype=np.float64).reshape(shape)
    if found.shape != shape:
        return Disagreement(AGAINST, "shape", f"the outputs have shape {found.shape}, must be {shape}")
    # Compare Python numbers, which is exact: as a double, 2**53 + 1 would be 2**53.
    wrong = np.argwhere(found.astype(object) != wanted.astype(object))
    if not wrong.size:
        return None
    row, output = wrong[0].tolist()
    text = f"output {output} of vector {row} is {found[row, output]}, must be {wanted[row, output]}"
    return Disagreement(AGAINST, "output", text)


def _read(path: Path, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the array in the file, which is read into memory only if it has ``shape``."""
    if not path.is_file():
        raise ValueError(f"there is no file {path.name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's warnings about literals in a damaged header
        array = np.load(path, allow_pickle=False, mmap_mode="r")
    if not isinstance(array, np.ndarray):
        raise ValueError("an archive of arrays (.npz); must be one array, as numpy.save writes it")
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8 or array.ndim != 2:
        raise ValueError(f"an array of {array.dtype} with {array.ndim} dimensions; must be numbers, (vectors, outputs)")
    return np.array(array) if array.shape == shape else array
