"""The work folder of a run: the user's, kept and locked, or a temporary one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.base.errors import DaisError, FileError, InputError
from dais_verif.base.files import make_folder, read_plain, write_atomically
from dais_verif.base.packages import missing_packages
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.toolchain.rtl_files import digests
from dais_verif.base.verdict import Verdict
from dais_verif.record.program import BitstreamFacts
from dais_verif.record.proof import PROOF_SCHEMA
from dais_verif.record.simulation import SimulationRecord
from dais_verif.simulation.simulators.build import RtlDesign

__all__ = ["WRITTEN", "WatchedFiles", "WorkFolder", "locked", "work_folder"]


#: Size limit of a record, in bytes.
_MOST_RECORD = 1 << 28

#: Files at the top of a work folder that some verb writes or removes.
WRITTEN = (
    *("result.json", "model.v", "rtl.v", "counterexample.csv", "counterexample.npz", "progress"),
    *("synth.json", "synth.ys", "stat.json", "sums.v", "netlist.v", "netlist.il", "ltp.txt", "yosys.log"),
    *("regression.json", "journal.jsonl"),
)
_LOCK = ".lock"


class WorkFolder:
    """The work folder: the user's, kept and locked; or a temporary one, kept only if the run did not pass."""

    def __init__(self, path: Path, users: bool) -> None:
        self.path, self._users = path, users
        self.kept = users
        self._begun: SimulationRecord | None = None

    def begin(self, record: SimulationRecord) -> None:
        """Write ``record`` before the run begins, so that a killed run leaves it."""
        if self._users:
            self._begun = record
            write_atomically(self.path / "result.json", record.to_json().encode())

    def broken_off(self, verdict: Verdict, message: str) -> None:
        """Record that the run ended without a finding, so that it does not look like a run in progress."""
        if self._begun is not None:
            record = replace(self._begun, verdict=verdict, message=message, state="complete")
            write_atomically(self.path / "result.json", record.to_json().encode())

    def keep(self, record: SimulationRecord) -> None:
        """Write the record if the folder is kept, which is the user's, or that of a simulation that did not pass."""
        self._begun = None
        self.kept = self._users or (record.simulators != [] and record.verdict is not Verdict.PASS)
        if self.kept:
            write_atomically(self.path / "result.json", record.to_json().encode())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make ``folder``, and keep other runs out of it. Raises ``InputError`` if another run works in it."""
    from filelock import FileLock, Timeout  # imported here: a run without -o needs no lock

    make_folder(folder)
    _require_none_of_others(folder)
    try:
        with FileLock(folder / _LOCK, timeout=0):
            yield
    except Timeout:
        raise FileError(f"{str(folder)!r} is in use by another run; choose another folder with -o") from None


@contextmanager
def work_folder(output: Path | None, found: str | None = None) -> Iterator[WorkFolder]:
    """Yield the folder ``output``, or a temporary one. Raises ``InputError`` if it cannot be used.

    ``found``: the file for the counterexample of a proof; the file of an earlier proof is removed.
    """
    if output is None:
        with temporary_folder() as temporary:
            folder = WorkFolder(temporary.path, users=False)
            try:
                yield folder
            finally:
                temporary.kept = folder.kept
        return
    from filelock import FileLock, Timeout  # imported here: a run without -o needs no lock

    make_folder(output)
    _require_none_of_others(output)
    try:
        with FileLock(output / _LOCK, timeout=0):
            # The result of an earlier run must not remain, however this run ends.
            if found is not None and _has_found(output / "result.json"):
                (output / found).unlink(missing_ok=True)
            (output / "result.json").unlink(missing_ok=True)
            folder = WorkFolder(output.absolute(), users=True)
            try:
                yield folder
            except DaisError as error:
                folder.broken_off(error.verdict, str(error))
                raise
            except OSError:
                raise
            except Exception as error:
                line = missing_packages(error) if isinstance(error, ImportError) else None
                if line is not None:
                    folder.broken_off(Verdict.TOOL_FAILURE, line)
                    raise
                folder.broken_off(Verdict.INTERNAL_ERROR, f"a bug of dais-verif: {type(error).__name__}: {error}")
                raise
            except KeyboardInterrupt:
                folder.broken_off(Verdict.INTERRUPTED, "interrupted")
                raise
    except Timeout:
        raise FileError(f"{str(output)!r} is in use by another run; choose another folder with -o") from None
    except PermissionError as error:
        raise FileError(f"cannot write in {str(output)!r}: {error.strerror}; choose another folder with -o") from None


def _require_none_of_others(folder: Path) -> None:
    """Raise ``InputError`` if a run would overwrite a file in ``folder`` that no run wrote: they all leave a lock."""
    if not (folder / _LOCK).exists():
        for name in WRITTEN:
            if (folder / name).exists():
                raise FileError(
                    f"{str(folder)!r} holds {name!r}, which was not left by a run and would be lost; "
                    "choose another folder with -o"
                )


def _has_found(record: Path) -> bool:
    """Return True if ``record`` belongs to a proof that wrote a counterexample; only then may that file be removed."""
    try:
        tree = json.loads(read_plain(record, _MOST_RECORD))
        return bool(tree["schema"] == PROOF_SCHEMA and tree["simulate"])
    except (InputError, ValueError, KeyError, TypeError, RecursionError):
        return False


# Watch the files of a design, which must not change during a run: a verdict is about one design only.


@dataclass(frozen=True)
class WatchedFiles:
    """The sources and the data files of ``design``, and the SHA-256 of each, sources first.

    ``bitstream``: facts about the bitstream from which the sources were read back; None: there is no bitstream.
    """

    design: RtlDesign
    sha256: tuple[str, ...]
    bitstream: BitstreamFacts | None = None

    @classmethod
    def of(cls, design: RtlDesign, bitstream: BitstreamFacts | None = None) -> WatchedFiles:
        """Return the files of ``design`` with their current digests."""
        return cls(design, _sha256(design), bitstream)

    @property
    def of_sources(self) -> list[str]:
        """The SHA-256 of each source."""
        return list(self.sha256[: len(self.design.sources)])

    @property
    def of_data(self) -> dict[str, str]:
        """The SHA-256 of each data file, by its name in the RTL."""
        names = (file.name for file in self.design.data)
        return dict(zip(names, self.sha256[len(self.design.sources) :], strict=True))

    def require_unchanged(self, what: str) -> None:
        """Raise ``InputError`` if a file has changed. ``what``: a participle that says what was done to the RTL."""
        for path, before, after in zip(_paths(self.design), self.sha256, _sha256(self.design), strict=True):
            if before != after:
                raise FileError(f"RTL file {str(path)!r} was changed while it was {what}; run again")


def _paths(design: RtlDesign) -> list[Path]:
    return [*design.sources, *(file.path for file in design.data)]


def _sha256(design: RtlDesign) -> tuple[str, ...]:
    return tuple(digest.hex() for digest in digests(_paths(design)))
