"""Content of a DAIS binary that ALIR cannot represent: notes stored with a program, which alkaid ignores.

This content is the layout and its versions, unused data words, and the original ops that lowering does not reproduce.
Notes are used only if raising the program that they describe gives exactly the program in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dais_verif.base.errors import DaisError
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.conversion.lowering import to_dais
from dais_verif.spec.program.conversion.raising import to_alir
from dais_verif.spec.program.json_fields import as_integer, as_integers, as_list
from dais_verif.spec.program.layouts import LAYOUTS, SPEC_VERSIONS
from dais_verif.spec.program.model import Columns, Origin, Program

__all__ = ["as_it_was", "notes_of"]


def notes_of(program: Program, raised: Program) -> dict[str, Any] | None:
    """Return the notes to store with ``raised`` to recover ``program``; None if ``program`` is not from a binary."""
    origin = program.origin
    if origin.layout not in LAYOUTS:
        return None
    lowered = to_dais(raised)
    notes: dict[str, Any] = {"layout": origin.layout}
    if origin.layout == "v1":
        notes |= {"spec_version": origin.spec_version, "firmware_version": origin.firmware_version}
    rows, found = (np.stack(each.columns, axis=1) for each in (program, lowered))
    same = np.zeros(len(rows), dtype=bool)
    if len(rows) == len(found):
        same = (rows == found).all(axis=1)
    if not same.all():
        notes["ops"] = [[index, *rows[index].tolist()] for index in np.flatnonzero(~same).tolist()]
    if len(rows) != len(found) or not np.array_equal(program.out_idx, lowered.out_idx):
        notes["n_ops"], notes["out_idx"] = len(rows), program.out_idx.tolist()
    if [table.tolist() for table in program.tables] != [table.tolist() for table in lowered.tables]:
        notes["tables"] = [table.tolist() for table in program.tables]
    return notes


def as_it_was(program: Program) -> Program | None:
    """Return the DAIS program that the notes in ``program`` describe; None if there are no valid notes."""
    if program.notes is None:
        return None
    try:
        was = _told(program.notes, to_dais(program))
        validate(was)
        return was if _same(to_alir(was), program) else None
    except (DaisError, KeyError, TypeError, ValueError, OverflowError):
        return None


def _told(notes: Mapping[str, Any], lowered: Program) -> Program:
    layout = notes["layout"]
    spec, firmware = notes.get("spec_version", 1), notes.get("firmware_version", 0)
    if layout not in LAYOUTS or spec not in SPEC_VERSIONS or not -(1 << 31) <= int(firmware) < 1 << 31:
        raise ValueError
    rows = np.stack(lowered.columns, axis=1)
    out_idx = lowered.out_idx
    told = as_list(notes.get("ops", []), "ops")
    if "n_ops" in notes:
        if notes["n_ops"] != len(told):  # a wrong number must not allocate memory
            raise ValueError
        rows = np.zeros((len(told), len(Columns._fields)), dtype=np.int64)
        out_idx = as_integers(notes["out_idx"], "out_idx", lowered.n_out)
    for entry in told:
        index, *row = (as_integer(value, "ops") for value in as_list(entry, "ops"))
        if not 0 <= index < len(rows):
            raise ValueError
        rows[index] = row
    tables = lowered.tables
    if "tables" in notes:
        lists = [as_list(table, "tables") for table in as_list(notes["tables"], "tables")]
        tables = tuple(as_integers(entries, "tables", len(entries)) for entries in lists)
    return replace(
        lowered,
        columns=Columns(*(np.ascontiguousarray(column) for column in rows.T)),
        out_idx=out_idx,
        tables=tables,
        intervals=None,
        estimates=None,
        origin=Origin(layout, spec_version=int(spec), firmware_version=int(firmware), path=lowered.origin.path),
    )


def _same(a: Program, b: Program) -> bool:
    return a.hash == b.hash and a.intervals == b.intervals
