"""The record of ``report``: the written page, and its verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dais_verif.record.base import to_tree
from dais_verif.verdict import Verdict

__all__ = ["WrittenPage"]


@dataclass(frozen=True, kw_only=True)
class WrittenPage:
    """A written page. ``exit_code``: that of the verdict on the page; ``report`` itself may return another code."""

    page: str
    verdict: Verdict
    exit_code: int
    message: str

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(to_tree(self), indent=2)
