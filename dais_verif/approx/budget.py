"""The choice of a configuration under an accuracy budget, and the verdict if there is none."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dais_verif.approx.curve import choose
from dais_verif.approx.model import Configuration, ConfigurationFile
from dais_verif.verdict import Verdict

__all__ = ["Choice", "choose_within"]


@dataclass(frozen=True)
class Choice:
    """The fastest configuration within a budget, or None. ``nearest``: the configuration with the smallest loss."""

    budget: Decimal
    chosen: Configuration | None
    nearest: Configuration

    @property
    def verdict(self) -> Verdict:
        """PASS, or NOT_SIGNED_OFF (exit code 7) if no configuration is within the budget."""
        return Verdict.NOT_SIGNED_OFF if self.chosen is None else Verdict.PASS

    @property
    def message(self) -> str:
        """The choice in one line."""
        if self.chosen is None:
            near = f"{self.nearest.name} has the smallest, {self.nearest.loss}"
            return f"no configuration has a loss of at most {self.budget}: {near}"
        return f"{self.chosen.name} is the fastest with a loss of at most {self.budget}: {self._gain(self.chosen)}"

    def _gain(self, one: Configuration) -> str:
        return f"{one.speedup:.4g}x at a loss of {one.loss}"


def choose_within(file: ConfigurationFile, budget: Decimal | float | str) -> Choice:
    """Return the choice for ``file`` if its loss may be at most ``budget``, as in ``choose``."""
    chosen = choose(file, budget)
    nearest = min(file.configurations, key=lambda one: one.loss.exact)
    return Choice(Decimal(str(budget)), chosen, nearest)
