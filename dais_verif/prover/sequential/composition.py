"""Rebuild a graph with other literals in place of some of its inputs."""

from __future__ import annotations

from collections.abc import Mapping

from dais_verif.prover.bit_level.aig import FALSE, Aig

__all__ = ["Composition"]


class Composition:
    """Copy ``old`` into ``new`` with some inputs replaced.

    ``replaced``: literals of ``old`` that replace inputs of ``old``, by node; these literals may depend on replaced
    inputs themselves, but without a cycle. ``inputs``: the literals of ``new`` for all other inputs, by node of
    ``old``.
    """

    def __init__(self, old: Aig, replaced: Mapping[int, int], new: Aig | None = None) -> None:
        self.old, self.new, self._replaced = old, new or Aig(), replaced
        self.inputs: dict[int, int] = {}
        self._at = {0: FALSE}

    def at(self, literal: int) -> int:
        """Return the literal of ``new`` for a literal of ``old``."""
        low, high, known = self.old.low, self.old.high, self._at
        waiting = [literal >> 1]
        while waiting:
            node = waiting[-1]
            if node in known:
                waiting.pop()
                continue
            other = self._replaced.get(node)
            if low[node] < 0 and other is None:
                known[node] = self.inputs[node] = self.new.input()
                continue
            behind = (low[node], high[node]) if other is None else (other,)
            missing = [one >> 1 for one in behind if one >> 1 not in known]
            if missing:
                waiting += missing
            elif other is None:
                a, b = low[node], high[node]
                known[node] = self.new.both(known[a >> 1] ^ (a & 1), known[b >> 1] ^ (b & 1))
            else:
                known[node] = known[other >> 1] ^ (other & 1)
        return known[literal >> 1] ^ (literal & 1)
