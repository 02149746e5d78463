"""Findings about a mapping: the law, where it is broken, and what would be right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dais_verif.kernels.patterns import AccessPattern
from dais_verif.kernels.spelling import text_of_dims
from dais_verif.verdict import Verdict

__all__ = ["Finding", "Law", "MappingReport"]


class Law(Enum):
    """A law that a mapping must obey. ``value``: the law in words."""

    #: Members' regions of an output leave no element out.
    WRITTEN = "each element of an output is written"
    #: No two members' regions of an output meet.
    WRITTEN_ONCE = "no element of an output is written twice"
    #: This law is only required if writes outside of the tensor must not be dropped.
    WRITTEN_INSIDE = "nothing is written outside of an output"
    #: Each member writes something.
    REACHED = "each member writes an element of an output"
    #: The elements that a block accesses lie in the region of its member.
    DECLARED = "a member touches nothing outside of its region"
    #: In no dimension does a region contain elements of the tensor that the block never touches.
    TIGHT = "a region is not wider than needed"


@dataclass(frozen=True)
class Finding:
    """A broken law with a witness: members and element as coordinates, the fastest dimension first.

    ``tight``: for a region that is wider than needed, the narrowest pattern. ``count``: how many elements, or members,
    are concerned, if that is known.
    """

    law: Law
    tensor: str
    members: tuple[tuple[int, ...], ...] = ()
    element: tuple[int, ...] | None = None
    count: int | None = None
    tight: AccessPattern | None = None

    @property
    def is_failure(self) -> bool:
        """True if the mapping is wrong; otherwise it is only wider than needed."""
        return self.law is not Law.TIGHT

    def __str__(self) -> str:
        words = [f"{self.tensor}: " if self.tensor else "", _BROKEN[self.law]]
        if self.element is not None:
            words.append(f", element {list(self.element)}")
        if self.members:
            words.append(", member" + "s"[: len(self.members) > 1])
            words.append(" and".join(f" {list(member)}" for member in self.members))
        if self.count is not None and self.count > 1:
            words.append(f", {self.count} in all")
        if self.tight is not None:
            words.append(f"; needed is ({text_of_dims(self.tight)})")
        return "".join(words)


_BROKEN = {
    Law.WRITTEN: "an element is never written",
    Law.WRITTEN_ONCE: "an element is written twice",
    Law.WRITTEN_INSIDE: "an element outside is written",
    Law.REACHED: "a member writes nothing",
    Law.DECLARED: "the pattern is exceeded",
    Law.TIGHT: "the pattern is wider than needed",
}


@dataclass(frozen=True)
class MappingReport:
    """All findings. ``members`` and ``elements``: the numbers of members and output elements that were checked."""

    findings: tuple[Finding, ...]
    members: int
    elements: int

    @property
    def failures(self) -> tuple[Finding, ...]:
        """Findings that make the mapping wrong."""
        return tuple(finding for finding in self.findings if finding.is_failure)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings of regions that are only wider than needed."""
        return tuple(finding for finding in self.findings if not finding.is_failure)

    @property
    def verdict(self) -> Verdict:
        """PASS, RTL_MISMATCH if a law is broken, NOT_RUN if there is no element that could be written."""
        if self.failures:
            return Verdict.RTL_MISMATCH
        return Verdict.PASS if self.elements else Verdict.NOT_RUN
