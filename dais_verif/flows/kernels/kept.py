"""Store results of a kernel run: the result of its machine alone must never look like a result of the kernel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from dais_verif.files import write_atomically
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import SimulationRecord
from dais_verif.verdict import Verdict

__all__ = ["keep_answer", "keep_no_answer"]

_Record = TypeVar("_Record", SimulationRecord, ProofRecord)


def keep_answer(folder: Path | None, record: _Record) -> _Record:
    """Write ``record`` into ``folder``, if the folder was kept, and return it."""
    if folder is not None:
        write_atomically(folder / "result.json", record.to_json().encode())
    return record


def keep_no_answer(folder: Path | None, record: _Record) -> None:
    """Write a record of an unfinished run while only the machine has passed, so that an interruption leaves no PASS."""
    if record.verdict is Verdict.PASS:
        keep_answer(
            folder, replace(record, verdict=Verdict.NOT_RUN, message="the members of the kernel were not compared")
        )
