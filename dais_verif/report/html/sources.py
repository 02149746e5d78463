"""The sources of a page: records, and the files that they were read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from dais_verif.base.errors import InputError, RecordError
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.coverage import CoverageRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import ProofRecord
from dais_verif.record.read import NAMES, SIGNOFF_NAME, AnyRecord, parse_record, read_record, record_file
from dais_verif.record.signoff import EVIDENCE, SignOffRecord
from dais_verif.record.simulation import Failed, SimulationRecord

__all__ = ["Document", "Source", "program_of", "read_source", "records_below", "source_of", "with_stages"]

Document: TypeAlias = SimulationRecord | SignOffRecord | ProofRecord | CoverageRecord | RegressionRecord


@dataclass(frozen=True)
class Source:
    """A record. ``path``: its file, if any. ``stage``: the sign-off stage of which the record is evidence, or empty."""

    document: Document
    path: Path | None = None
    stage: str = ""

    @property
    def kind(self) -> str:
        """The kind of run that made the record, in a word or two."""
        match self.document:
            case SignOffRecord():
                return "sign-off"
            case RegressionRecord():
                return "regression"
            case ProofRecord():
                return "proof"
            case CoverageRecord():
                return "coverage"
            case SimulationRecord(board=board):
                return "simulation" if board is None else "board"

    @property
    def name(self) -> str:
        """The name of the record on the page."""
        return f"stage {self.stage}" if self.stage else self.kind


def program_of(document: Document) -> ProgramInfo | None:
    """Return the program of ``document``; None for a regression, which covers many."""
    return None if isinstance(document, RegressionRecord) else document.program


def read_source(path: str | Path) -> Source:
    """Return the record in the file ``path``, or in the output folder of a command. Raises ``InputError``."""
    file = record_file(path)
    return _source(read_record(file), file)


def source_of(data: bytes, path: str | Path | None) -> Source:
    """Parse ``data`` as a record in JSON. ``path``: its file, if any. Raises ``InputError``."""
    return _source(parse_record(data, "the record"), None if path is None else Path(path))


def _source(document: AnyRecord, path: Path | None) -> Source:
    if isinstance(document, Failed):
        said, name = f"{document.verdict.value}: {document.message}", "the record" if path is None else repr(str(path))
        raise RecordError(f"{name} comes from a run that ended in an error, and names no program ({said})")
    return Source(document, path)


def with_stages(sources: Iterable[Source]) -> list[Source]:
    """Return ``sources``, each sign-off followed by the records that its stages name as evidence.

    Stages that have to fail are excluded: the seeded fault is wrong, not the signed-off design. Evidence that is not a
    record, or belongs to another program, is left out.
    """
    found: list[Source] = []
    for source in sources:
        found.append(source)
        if isinstance(source.document, SignOffRecord) and source.path is not None:
            found += _evidence(source.document, source.path.parent)
    return found


def _evidence(signoff: SignOffRecord, folder: Path) -> Iterator[Source]:
    for stage in signoff.stages:
        for name in [] if stage.must_fail else stage.evidence:
            path = folder / name
            if path.name not in NAMES:
                continue
            try:
                document = read_record(path)
            except InputError:
                continue
            if (
                isinstance(document, SimulationRecord | ProofRecord | CoverageRecord)
                and document.program.hash == signoff.program.hash
            ):
                yield Source(document, path, stage.name)


def records_below(folders: Iterable[Path], program_hash: str) -> list[Source]:
    """Return all records of the program in and below ``folders``; other files are ignored.

    Of the evidence in the folder of a sign-off, only the records that its stages name are returned, without stages that
    had to fail. Raises ``InputError`` for a path that is not a folder.
    """
    paths: dict[Path, None] = {}
    for folder in folders:
        if not folder.is_dir():
            raise RecordError(f"{str(folder)!r} is not a folder; --history looks for records in folders")
        for name in NAMES:
            paths.update(dict.fromkeys(path.resolve() for path in folder.rglob(name) if path.is_file()))
    owned = {path.parent / EVIDENCE for path in paths if path.name == SIGNOFF_NAME}
    found = []
    for path in sorted(paths):
        if not owned.isdisjoint(path.parents):
            continue
        try:
            document = read_record(path)
        except InputError:
            continue
        if isinstance(document, Failed | RegressionRecord) or document.program.hash != program_hash:
            continue
        found.append(Source(document, path))
    return with_stages(found)
