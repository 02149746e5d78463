"""Read the program of a request: a path, the bytes of a file, a ``Program``, or a ``Machine`` where allowed.

A file may hold a network, which is unrolled.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from dais_verif.base.errors import Argument, ProgramError, RequestError
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import AssumedLayoutWarning, Program
from dais_verif.subject.design_folders import brings_rtl, design_mark
from dais_verif.subject.given import AnyProgram, is_folder
from dais_verif.subject.programs import load_program
from dais_verif.verbs.progress import Progress

__all__ = [
    "read_program",
    "require_counts",
    "require_no_rtl",
    "require_positive",
    "require_range",
    "rtl_unused",
]


def read_program(program: AnyProgram, layout: str | None, progress: Progress) -> tuple[Program, list[str]]:
    """Return the valid program and the warnings of reading it, which are also sent to ``progress``.

    For a project folder, return the model; for a folder of ``approx apply``, the program in it. Raises ``ProgramError``
    if it is invalid, ``InputError`` if a file cannot be read, ``RequestError`` if ``layout`` is given with a
    ``Program``.
    """
    if isinstance(program, Program):
        if layout is not None:
            raise RequestError.of(
                "{layout} {value} is for reading a file, but a Program was given: leave it out.", value=layout
            )
        return program, []
    if isinstance(program, Machine):
        raise ProgramError("a machine (ALIRFSM), where a program is expected")
    messages = [said] if (said := rtl_unused(program)) else []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AssumedLayoutWarning)
        found = load_program(program, layout)
    messages += [str(warning.message) for warning in caught]
    for message in messages:
        progress.warning(message)
    return found, messages


def rtl_unused(folder: AnyProgram) -> str:
    """Return the warning that a verb of programs does not judge the RTL in ``folder``; "" if there is none."""
    if not is_folder(folder) or not brings_rtl(Path(str(folder))):
        return ""
    return f"only the model in {str(folder)!r} is read; its RTL is judged by sim, prove, signoff and regress"


def require_no_rtl(program: AnyProgram, why: str) -> None:
    """Raise ``RequestError`` for a project folder, whose RTL the verb does not use. ``why``: what it uses instead."""
    if is_folder(program) and brings_rtl(folder := Path(str(program))):
        raise RequestError.of(
            "{folder!r} brings RTL, and {why}: name its model, {model!r}, if that is what you want.",
            folder=str(folder),
            why=why,
            model=str(design_mark(folder)),
        )


def require_counts(least: int = 0, /, **counts: int) -> None:
    """Raise ``RequestError`` unless each of ``counts``, arguments by name, is an integer of ``least`` or more."""
    for name, value in counts.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise RequestError.of(
                "{name} must be a number, {least} or more, not {value!r}.",
                name=Argument(name),
                least=least,
                value=value,
            )


def require_range(name: str, value: int | None, least: int, most: int) -> None:
    """Raise ``RequestError`` unless ``value`` of argument ``name`` is an integer in the range, or None."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most):
        raise RequestError.of(
            "{name} must be {least} to {most}, not {value!r}.", name=Argument(name), least=least, most=most, value=value
        )


def require_positive(**seconds: float | None) -> None:
    """Raise ``RequestError`` unless each of ``seconds``, arguments by name, is None or a finite number above 0."""
    for name, value in seconds.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e9:
            raise RequestError.of(
                "{name} must be a number of seconds above 0, up to 1e9, not {value!r}.",
                name=Argument(name),
                value=value,
            )
