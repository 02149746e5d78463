"""Accept a project folder of da4ml or alkaid in place of a program, in place of RTL, or in place of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.base.errors import ProjectFolderError, RequestError
from dais_verif.base.toolchain.rtl_files import mentioned, never_read
from dais_verif.hardware.ports.project_folder import ProjectFolder, read_project
from dais_verif.record.program import ProjectInfo
from dais_verif.spec.program import Program
from dais_verif.subject.applied_folder import applied_program
from dais_verif.subject.given import AnyProgram, is_folder
from dais_verif.verbs.designs import DesignRequest

__all__ = ["Opened", "open_projects"]

#: The dialect of a model, by the layout in which it was read.
_DIALECTS = {"json": "DAIS", "alir": "ALIR"}


@dataclass(frozen=True)
class Opened:
    """A program and a design, with project folders replaced by their files. ``project``: the record entry."""

    program: AnyProgram
    design: DesignRequest
    project: ProjectInfo | None = None

    def require_dialect(self, program: Program) -> None:
        """Raise ``InputError`` unless the folder's model is in the dialect of the tool that wrote the folder."""
        if self.project is None or self.project.model is None:
            return
        found = _DIALECTS.get(program.origin.layout, "DAIS")
        if found != self.project.dialect:
            writer, theirs = self.project.writer, self.project.dialect
            raise ProjectFolderError.of(
                "{folder!r}: {model} is {found}, but {writer} wrote the folder, and writes {theirs}: name the model as "
                "{program} and the RTL with {rtl}",
                folder=self.project.folder,
                model=self.project.model,
                found=found,
                writer=writer,
                theirs=theirs,
            )


def open_projects(program: AnyProgram, design: DesignRequest) -> Opened:
    """Return ``program`` and ``design`` with project folders replaced by their files.

    RTL comes from the folder that ``design`` names, or from the program's folder if ``design`` names no other design.
    Raises ``InputError`` for a folder that cannot be used, ``RequestError`` for options that conflict with it.
    """
    applied = applied_program(Path(str(program))) if is_folder(program) else None
    program = program if applied is None else applied
    folders = [path for path in design.rtl if is_folder(path)]
    own = _read(Path(str(program)), design) if is_folder(program) else None
    model = program if own is None else own.require_model()
    if folders:
        if len(design.rtl) > 1:
            raise RequestError.of(
                "{rtl} {folder!r} is a folder with all of the RTL: give it alone.", folder=str(folders[0])
            )
        theirs = _read(folders[0], design)
    elif own is None or design.rtl or design.of_bits or design.wrapped:
        return Opened(model, design, None if own is None else _info(own, own.model, rtl=False))
    else:
        theirs = own
        if design.pipeline is not None:
            raise RequestError.of(
                "{stages} and {max_depth} are for RTL that dais-verif emits; to emit RTL from {folder!r}, name its "
                "model, "
                "{model!r}.",
                folder=str(own.folder),
                model=str(own.model),
            )
    found = _with_rtl(design, theirs)
    used = own.model if own is not None and own.folder == theirs.folder else None
    return Opened(model, found, _info(theirs, used, rtl=True))


def _read(folder: Path, design: DesignRequest) -> ProjectFolder:
    pins = design.pins
    return read_project(folder, top=design.top, clock=pins.clock, timed=pins.latency is not None)


def _with_rtl(design: DesignRequest, project: ProjectFolder) -> DesignRequest:
    """Return ``design`` with the RTL, data, clock and latency of the project; options take precedence."""
    files = (*project.sources, *project.data, *design.data)
    known = {path.name for path in files}
    lost = [name for name in mentioned(project.sources) if Path(name).name not in known]
    lost = [name for name in lost if name not in never_read(project.sources)] if lost else []
    if lost:
        raise ProjectFolderError.of(
            "{folder!r}: the RTL reads {lost!r}, which is not there: give it with {data}",
            folder=str(project.folder),
            lost=lost[0],
        )
    pins = design.pins
    if design.ports is None:
        latency = project.latency if pins.latency is None else pins.latency
        pins = replace(pins, clock=pins.clock or project.clock, latency=latency)
    return replace(design, rtl=project.sources, data=(*project.data, *design.data), top=project.top, pins=pins)


def _info(project: ProjectFolder, model: Path | None, *, rtl: bool) -> ProjectInfo:
    return ProjectInfo(
        folder=str(project.folder),
        writer=project.writer,
        dialect=project.dialect,
        language=project.language,
        top=project.top,
        model=None if model is None else _within(project, model),
        sources=[_within(project, path) for path in project.sources] if rtl else [],
        data=[_within(project, path) for path in project.data] if rtl else [],
        clock=project.clock,
        latency=project.latency if rtl else None,
    )


def _within(project: ProjectFolder, path: Path) -> str:
    return path.relative_to(project.folder).as_posix()
