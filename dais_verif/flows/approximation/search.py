"""A search for configurations: each knob alone, then combinations that are predicted to fit, then small changes.

The next measurements depend on those of earlier rounds and on the seed, never on the worker that measures.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np

from dais_verif.flows.approximation.choices import Choice, Space

__all__ = ["Search"]

#: The number of choices per round; they are measured together, so results influence only choices of later rounds.
ROUND = 16
#: How many choices of a round have the smallest predicted excess over the budget; the others, the best gain per excess.
_LIKELY = 10
#: The largest number of choices for which predictions are made.
_PREDICTED = 20_000


class Search:
    """A search for configurations. ``measure``: returns how many samples each choice classifies correctly, or None.

    None means that the choice cannot be applied. ``allowed``: how many more samples may be wrong than with the exact
    network. ``tries``: the largest number of measured choices, including those in ``known``.
    """

    def __init__(
        self,
        space: Space,
        measure: Callable[[Sequence[Choice]], Sequence[int | None]],
        known: dict[Choice, int | None],
        *,
        allowed: Fraction,
        tries: int,
        seed: int,
    ) -> None:
        self.space, self.known = space, known
        self._measure, self._allowed, self._tries, self._seed = measure, allowed, tries, seed
        self._speedups: dict[Choice, Fraction] = {}

    def run(self) -> Choice:
        """Search until all tries are used, or nothing is left to try; return the best choice."""
        self._take([self.space.exact])
        for first in range(0, len(singles := self.space.singles()), ROUND):
            self._take(singles[first : first + ROUND])
        while not self.spent and self._take(self._together()):
            pass
        rng = np.random.default_rng(self._seed)
        for _ in range(20 * self._tries // ROUND + 1):
            if self.spent:
                break
            best = self.best()
            self._take([one for one in (self.space.changed(best, rng) for _ in range(ROUND)) if self._better(one)])
        return self.best()

    def run_random(self) -> Choice:
        """Draw ``tries`` random choices, measure those that were not measured before, and return the best choice."""
        rng = np.random.default_rng(self._seed)
        drawn = [self.space.random(rng) for _ in range(self._tries)]
        self._tries += len(self.known) + 1
        self._take([self.space.exact])
        for first in range(0, len(drawn), ROUND):
            self._take(drawn[first : first + ROUND])
        return self.best()

    @property
    def spent(self) -> bool:
        """True if the permitted number of choices was measured."""
        return len(self.known) >= self._tries

    def best(self) -> Choice:
        """Return the fastest choice that fits; of equally fast choices, the choice with the smallest loss."""
        return max((one for one in self.known if self.fits(one)), key=self._rank)

    def fits(self, choice: Choice) -> bool:
        """Return True if a choice was measured, can be applied, and has a loss within the budget."""
        correct, first = self.known.get(choice), self.known.get(self.space.exact)
        return correct is not None and first is not None and first - correct <= self._allowed

    def _rank(self, choice: Choice) -> tuple[Fraction, int]:
        return self._speedup(choice), self.known[choice] or 0

    def _speedup(self, choice: Choice) -> Fraction:
        """Return the prediction of the tuner's model; it is cached, as many choices recur."""
        if choice not in self._speedups:
            self._speedups[choice] = self.space.speedup(choice)
        return self._speedups[choice]

    def _better(self, choice: Choice) -> bool:
        """Return True if the predicted speed-up of a choice is at least that of the best choice."""
        return self._speedup(choice) >= self._speedup(self.best())

    def _take(self, choices: Iterable[Choice]) -> bool:
        """Measure the new choices, at most as many as tries remain; return True if any was measured."""
        new = [one for one in dict.fromkeys(choices) if one not in self.known]
        new = new[: max(self._tries - len(self.known), 0)]
        if new:
            self.known |= dict(zip(new, self._measure(new), strict=True))
        return bool(new)

    def _together(self) -> list[Choice]:
        """Return the next round of choices with several knobs, assuming that their losses add up."""
        losses = self._losses()
        fastest = self._speedup(self.best())
        found = []
        for choice in self._candidates(losses):
            speedup = self._speedup(choice)
            if choice not in self.known and speedup >= fastest:
                predicted = sum(losses[place][knob] for place, knob in enumerate(choice))
                found.append((max(predicted - self._allowed, Fraction(0)), speedup, predicted, choice))
        likely = sorted(found, key=lambda one: (one[0], -one[1], one[2], one[3]))[:_LIKELY]
        gain = sorted(found, key=lambda one: (-(one[1] - fastest) / (one[0] + 1), one[3]))
        return [one[3] for one in [*likely, *gain[: ROUND - len(likely)]]]

    def _losses(self) -> list[dict[int, int]]:
        """Return the possible knobs of each place, and how many samples each knob loses on its own, at least 0."""
        first = self.known[self.space.exact] or 0
        found = []
        for place, knobs in enumerate(self.space.knobs):
            here = {11: 0}
            for knob in knobs:
                correct = self.known.get(self.space.with_knob(self.space.exact, place, knob))
                if correct is not None:
                    here[knob] = max(first - correct, 0)
            found.append(here)
        return found

    def _candidates(self, losses: Sequence[dict[int, int]]) -> Iterable[Choice]:
        total = 1
        for here in losses:
            total *= len(here)
        if total <= _PREDICTED:
            return itertools.product(*losses)
        # Too many to predict all: draw at random from knobs that alone stay within the budget.
        rng = np.random.default_rng(self._seed)
        near = [[knob for knob, loss in here.items() if loss <= self._allowed] for here in losses]
        return {tuple(int(rng.choice(here)) for here in near): None for _ in range(_PREDICTED // len(near))}
