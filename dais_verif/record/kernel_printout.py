"""The record of the text that members print: the texts of the golden model, and how those of simulators differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import RunRecord

__all__ = ["PRINTOUT_SCHEMA", "KernelPrintout", "PrintedBy"]

PRINTOUT_SCHEMA = "dais-verif/printout/1"


@dataclass(frozen=True)
class PrintedBy:
    """The text that members print in a simulator. ``texts``: None if it equals that of the golden model.

    ``difference``: the first difference in words. ``failure``: why there is no result.
    """

    name: str
    version: str | None = None
    texts: list[str] | None = None
    difference: str | None = None
    failure: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelPrintout(RunRecord):
    """The text that members print. ``texts``: one text per sample, of all members in the order of the index space.

    ``messages``: the number of texts of members. ``simulators``: the text that the RTL prints in each.
    """

    SCHEMA: ClassVar = PRINTOUT_SCHEMA

    kernel: str
    form: str
    members: int
    samples: int
    messages: int
    texts: list[str]
    simulators: list[PrintedBy]
