"""The record of ``convert``: which program was written, in which form, and what it has become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo

__all__ = ["CONVERSION_SCHEMA", "ConversionRecord"]

CONVERSION_SCHEMA = "dais-verif/conversion/1"


@dataclass(frozen=True, kw_only=True)
class ConversionRecord(RunRecord):
    """A run of ``convert``. ``program``: as it was read; ``written``: as it is read back from the file ``output``.

    ``target``: alir, json, v1, published, headerless or dais; of a machine alirfsm or mach. ``restored``: whether the
    ops are those of the binary that an ALIR file says it was made of. ``verdict``: PASS; else it is an error.
    """

    SCHEMA: ClassVar = CONVERSION_SCHEMA

    program: ProgramInfo
    written: ProgramInfo
    output: str
    target: str
    restored: bool
    compressed: bool
    warnings: list[str]
    reproduce: str
