"""Shapes of graphs: which earlier op an op reads, and how many inputs there are."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["MIXED", "SHAPES", "Shape"]


@dataclass(frozen=True)
class Shape:
    """A shape. ``inputs``: the least and the largest number of inputs. ``sizes``: numbers of ops to choose from.

    ``frequency``: relative to other shapes. ``reads_input``: returns whether the next op reads an input,
    given the numbers of ops and of inputs. ``pick``: returns the operand of an op, given the number of ops before it.
    """

    inputs: tuple[int, int]
    sizes: tuple[int, ...]
    frequency: float
    reads_input: Callable[[random.Random, int, int], bool]
    pick: Callable[[random.Random, int], int]


def _now_and_then(rng: random.Random, n: int, n_in: int) -> bool:
    return not n or rng.random() < 0.2


def _seldom(rng: random.Random, n: int, n_in: int) -> bool:
    return not n or rng.random() < 0.02


def _first(rng: random.Random, n: int, n_in: int) -> bool:
    return n < n_in


def _any(rng: random.Random, n: int) -> int:
    """Return any earlier op, recent ones more often."""
    return rng.randrange(n) if rng.random() < 0.5 else max(0, n - 1 - int(rng.expovariate(0.5)))


def _last(rng: random.Random, n: int) -> int:
    """Return nearly always the last op, so that the depth is close to the number of ops."""
    return n - 1 - (n > 1 and rng.random() < 0.2)


def _early(rng: random.Random, n: int) -> int:
    """Return one of the first few ops, so that most ops are independent of each other."""
    return rng.randrange(min(n, 6))


def _layer(rng: random.Random, n: int) -> int:
    """Return an op of the previous layer; layers have eight ops."""
    first = max((n // 8 - 1) * 8, 0)
    return rng.randrange(first, max(n // 8 * 8, min(n, 8)))


def _window(rng: random.Random, n: int) -> int:
    """Return an op in a window that moves over earlier ops, or one of the last few ops."""
    far = n // 2 + n // 16
    return rng.randrange(max(n - 9, 0), n) if rng.random() < 0.3 else max(n - far - rng.randrange(9), 0)


#: The default for tests and most cases.
MIXED = Shape((1, 4), (1, 2, 5, 10, 10, 20, 40), 76, _now_and_then, _any)

SHAPES: dict[str, Shape] = {
    "mixed": MIXED,
    "deep": Shape((1, 2), (30, 60), 6, _seldom, _last),
    "wide": Shape((2, 6), (30, 80), 6, _first, _early),
    "layered": Shape((8, 8), (24, 48), 8, _first, _layer),
    "convolution": Shape((64, 400), (600,), 1, _first, _window),
    "degenerate": Shape((1, 40), (1, 2), 3, _now_and_then, _any),
    "large convolution": Shape((1000, 4000), (6000,), 0.1, _first, _window),  # takes about four seconds per case
}
