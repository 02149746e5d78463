"""The record of ``convert``: the program as read and as written, and the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo

__all__ = ["CONVERSION_SCHEMA", "ConversionRecord"]

CONVERSION_SCHEMA = "dais-verif/conversion/1"


@dataclass(frozen=True, kw_only=True, repr=False)
class ConversionRecord(RunRecord):
    """A run of ``convert``. ``program``: as read. ``written``: the program as read back from the file ``output``.

    ``target``: the written format: alir, json, v1, published, headerless or dais; for a machine, alirfsm or mach.
    ``restored``: whether the ops are those of the binary from which the ALIR file was made. ``verdict``: always PASS,
    since failures are raised as errors.
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
