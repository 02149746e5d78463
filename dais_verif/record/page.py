"""The record of ``report``: the written page, and its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.base.verdict import Verdict
from dais_verif.record.base import Record

__all__ = ["WrittenPage"]


@dataclass(frozen=True, kw_only=True)
class WrittenPage(Record):
    """A written page. ``exit_code``: that of the verdict on the page; ``report`` itself may return another code."""

    SCHEMA: ClassVar = "dais-verif/report/1"

    page: str
    verdict: Verdict
    exit_code: int
    message: str
