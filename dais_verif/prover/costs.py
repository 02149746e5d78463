"""Record how long claims took to decide, and which of them an earlier run had decided."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.record.proof import Claim, Worst

__all__ = ["Costs"]


class Costs:
    """Seconds that the last decision of each claim took. Claims of one shape share a decision."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, int], float] = {}
        self._cached: set[tuple[str, int]] = set()

    def note(self, key: tuple[str, int], seconds: float, cached: bool = False) -> None:
        """Record the seconds that claim ``key`` took. ``cached``: whether an earlier run had decided it."""
        if seconds or key in self._seconds:  # most claims take no time, and have no entry
            self._seconds[key] = seconds
        if cached:
            self._cached.add(key)
        else:
            self._cached.discard(key)

    @property
    def cached(self) -> int:
        """The number of claims that earlier runs had decided."""
        return len(self._cached)

    def worst(self, claims: Sequence[Claim]) -> Worst | None:
        """Return the claim of ``claims`` that took longest; None if there are none."""
        if not claims:
            return None
        worst = max(claims, key=lambda claim: self._seconds.get((claim.kind, claim.number), 0.0))
        return Worst(worst.name, round(self._seconds.get((worst.kind, worst.number), 0.0), 4))
