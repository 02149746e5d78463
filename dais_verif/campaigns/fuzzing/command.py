"""Run commands of users, with placeholders for files, within limits; only exit code and last line are used.

A command is split into words once, before file names are inserted: names are data, and no shell reads them.
"""

from __future__ import annotations

import re
import shlex
import shutil
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import Argument, InputError, RequestError, ToolError
from dais_verif.base.toolchain.process import Session, describe_exit, last_error
from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.files import as_double, write_inputs, write_program
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.golden import oracle

__all__ = ["AGAINST", "Command", "Ending", "Interpreter"]


#: The largest file, and log, that a command may write, in blocks of 512 bytes: 1 GB.
_MOST_BLOCKS = 1 << 21


@dataclass(frozen=True)
class Ending:
    """The end of a command. ``status``: 0, an exit code, minus a signal's number, or None after a timeout."""

    status: int | None
    last_line: str

    @property
    def words(self) -> str:
        """The end of the command, as text."""
        return "did not end within its time" if self.status is None else describe_exit(self.status)

    @property
    def crashed(self) -> bool:
        """True if a signal ended the command, which shells report as an exit code above 128."""
        return self.status is not None and (self.status < 0 or self.status > 128)


@dataclass(frozen=True)
class Command:
    """A command, which runs in ``cwd``. ``template``: words, with placeholders such as ``{program}`` for files."""

    template: tuple[str, ...]
    cwd: Path

    @classmethod
    def of(cls, argument: str, text: str, places: tuple[str, ...]) -> Command:
        """Return the command in ``text``, the value of the argument named ``argument``.

        Raises ``RequestError`` if it is not a command, cannot be found, or lacks one of the placeholders ``places``.
        """
        name = Argument(argument)
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise RequestError.of(
                "{name} {text!r} is not a valid command: {error}.", name=name, text=text, error=error
            ) from None
        for place in places:
            if not any(f"{{{place}}}" in word for word in words):
                raise RequestError.of(
                    "{name} {text!r} must contain {place}, the placeholder for its file.",
                    name=name,
                    text=text,
                    place=f"{{{place}}}",
                )
        if shutil.which(words[0]) is None:
            raise RequestError.of(
                "{name} {text!r}: there is no command {word!r}; give its path, or add its folder to PATH.",
                name=name,
                text=text,
                word=words[0],
            )
        return cls(tuple(words), Path.cwd())

    def words(self, files: Mapping[str, Path | Sequence[Path]]) -> list[str]:
        """Return the words with ``files`` in place of their placeholders; several files need a separate word."""
        single = {place: value for place, value in files.items() if isinstance(value, Path)}
        found: list[str] = []
        for word in self.template:
            several = files.get(word[1:-1]) if word.startswith("{") else None
            if several is None or isinstance(several, Path):
                found.append(_filled(word, single))
            else:
                found += [str(path.absolute()) for path in several]
        return found

    def run(self, files: Mapping[str, Path | Sequence[Path]], folder: Path, seconds: float) -> Ending:
        """Run the command with ``files``. Its output, ``command.log``, and its temporary files go into ``folder``.

        Raises ``ToolError`` if the run of dais-verif itself must end.
        """
        log, scratch = folder / "command.log", folder.absolute()
        begun = time.monotonic()
        session = Session(log, cwd=scratch, timeout=seconds)
        limited = ["/bin/sh", "-c", f'ulimit -f {_MOST_BLOCKS}; exec "$@"', "sh"]
        command = [*limited, "env", f"--chdir={self.cwd}", f"TMPDIR={scratch}", f"TMP={scratch}", *self.words(files)]
        try:
            code: int | None = session.run("the command", command)
        except ToolError:
            if time.monotonic() - begun < seconds:
                raise
            code = None
        return Ending(code, last_error(log))


def _filled(word: str, files: Mapping[str, Path]) -> str:
    """Return ``word`` with all placeholders replaced at once, so that braces in file names are not taken for some."""
    places = "|".join(re.escape(f"{{{place}}}") for place in files)
    return re.sub(places, lambda found: str(files[found[0][1:-1]].absolute()), word) if places else word


# Compare another interpreter with the oracle: it reads the files of a case, and writes its outputs into a file.


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
