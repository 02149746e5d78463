"""Balanced trees of one operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.kernels.blocks.builder import Value

__all__ = ["balanced"]


def balanced(of_two: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    """Combine one or more values in a balanced tree of ``of_two``."""
    values = list(values)
    while len(values) > 1:
        pairs = [of_two(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = [*pairs, *values[2 * len(pairs) :]]
    return values[0]
