"""A record in a notebook: its verdict, what was compared, and the first mismatch, with the style of the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from dais_verif.record.base import Record, RunRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import Mismatch, SimulationRecord
from dais_verif.report.console import program_line
from dais_verif.report.html.page import fragment

__all__ = ["record_html"]

#: Types of values that are shown in a row of their own.
_PLAIN = (str, int, float, bool)


def record_html(record: Record) -> str:
    """Return ``record`` as HTML without a script, for embedding."""
    return fragment(
        "notebook.html",
        record=record,
        verdict=record.verdict if isinstance(record, RunRecord) else None,
        rows=list(_rows(record)),
        simulators=record.simulators if isinstance(record, SimulationRecord) else [],
        mismatch=_mismatch(record),
    )


def _rows(record: Record) -> Iterator[tuple[str, str]]:
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in ("verdict", "message") or not field.metadata.get("kept", True):
            continue
        if isinstance(value, ProgramInfo):
            yield field.name, program_line(value)
        elif isinstance(value, _PLAIN):
            yield field.name.replace("_", " "), str(value)
        elif isinstance(value, dict) and value and all(isinstance(one, _PLAIN) for one in value.values()):
            yield field.name.replace("_", " "), ", ".join(f"{name} {one}" for name, one in value.items())


def _mismatch(record: Record) -> Mismatch | None:
    if isinstance(record, ProofRecord):
        replay = None if record.counterexample is None else record.counterexample.replay
        return None if replay is None else replay.first_mismatch
    return record.first_mismatch if isinstance(record, SimulationRecord) else None
