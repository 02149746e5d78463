"""The table ``[mutation]`` of a policy: the requirements on mutants of the RTL."""

from __future__ import annotations

import msgspec

__all__ = ["Mutation", "problem_of_mutation"]

_MOST_MUTANTS = 1_000_000


class Mutation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[mutation]``: the number of mutants of the RTL, and the percentage that must be killed.

    ``vectors``: the number of vectors simulated for each mutant. ``timeout``: seconds for each proof. ``floor``: the
    percentage that must be killed of the mutants that are not equivalent. ``most_unknown``: the percentage of all
    mutants that may stay unknown.
    """

    mutants: int = 200
    vectors: int = 1000
    timeout: float = 2.0
    floor: float = 95.0
    most_unknown: float = 5.0


def problem_of_mutation(mutation: Mutation) -> str:
    """Return a text that describes a problem of the table; empty if there is none."""
    if not 1 <= mutation.mutants <= _MOST_MUTANTS:
        return f"[mutation] mutants is {mutation.mutants}, must be 1 to {_MOST_MUTANTS:,}"
    if not 0 < mutation.timeout < float("inf"):
        return f"[mutation] timeout is {mutation.timeout}, must be a number of seconds above 0"
    for key in ("floor", "most_unknown"):
        if not 0 <= getattr(mutation, key) <= 100:
            return f"[mutation] {key} is {getattr(mutation, key)}, must be a percentage from 0 to 100"
    return ""
