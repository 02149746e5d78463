"""One page of stored records, with the program and earlier runs if they are found."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dais_verif.base.errors import DaisError, RecordError
from dais_verif.record.program import MACHINE_LAYOUTS, ProgramInfo
from dais_verif.report.html.page import write_report
from dais_verif.report.html.sources import Source, program_of, read_source, records_below
from dais_verif.report.html.verdicts import Standing
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.spec.program import ALL_LAYOUTS, Program
from dais_verif.subject.programs import load_program

__all__ = ["Listener", "ReportRequest", "machine_of", "render_report"]


class Listener(Protocol):
    """A receiver of progress messages."""

    def warning(self, text: str) -> None:
        """Receive a warning."""

    def working(self, what: str) -> AbstractContextManager[object]:
        """Receive the name of the work done while the block runs."""


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """A page of ``records``, files or folders. ``program``: the program to show; None: from the path in the records.

    ``history``: folders with earlier runs.
    """

    records: tuple[Path, ...]
    output: Path
    program: Path | None = None
    layout: str | None = None
    history: tuple[Path, ...] = ()


def render_report(request: ReportRequest, *, progress: Listener) -> Standing:
    """Write the page, and return its headline. Raises ``InputError`` if a record cannot be used."""
    sources = list(map(read_source, dict.fromkeys(request.records)))
    info = program_of(sources[0].document)
    if info is None and (request.program is not None or request.history):
        raise RecordError("a regression covers many programs: --program and --history are for records of one program")
    shown = None if info is None else _program(info, request.program, request.layout, progress)
    earlier: list[Source] = []
    if info is not None and request.history:
        with progress.working("looking for earlier runs"):
            earlier = records_below(request.history, info.hash)
    with progress.working("writing the page"):
        return write_report(sources, shown, request.output, earlier)


def machine_of(info: ProgramInfo) -> Machine | None:
    """Return the machine of a record, if its file exists and is unchanged."""
    if info.layout not in MACHINE_LAYOUTS or info.path is None:
        return None
    try:
        machine = load_machine(info.path)
    except DaisError:
        return None
    return machine if machine.hash == info.hash else None


def _program(info: ProgramInfo, path: Path | None, layout: str | None, progress: Listener) -> Program | Machine | None:
    """Return the program at ``path``, which must match; for None, the one at the path in the record, if it exists."""
    if info.layout in MACHINE_LAYOUTS:
        machine = machine_of(info) if path is None else load_machine(path)
        if machine is None:
            _warn(f"{info.path!r} is not the machine that was verified", progress)
        return machine
    known = layout or (info.layout if info.layout in ALL_LAYOUTS else None)
    if path is not None:
        return load_program(path, layout)
    if info.path is None:
        return None
    try:
        program = load_program(info.path, None if info.path.endswith(".dais") else known)
    except DaisError as error:
        _warn(str(error), progress)
        return None
    if program.hash != info.hash:
        _warn(f"{info.path!r} is no longer the program that was verified", progress)
        return None
    return program


def _warn(reason: str, progress: Listener) -> None:
    progress.warning(f"the page does not show the ops: {reason}; give the program with --program")
