"""A node during lowering: its inputs, as tensors of exact elements, and its attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dais_verif.base.text import counted
from dais_verif.compile.networks.arithmetic import Arithmetic
from dais_verif.compile.networks.data import Data
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.compile.networks.onnx_file import MOST_ELEMENTS
from dais_verif.compile.networks.problems import Refusal

__all__ = ["FLOATS", "MOST_STEPS", "Budget", "Call"]

#: Kinds of elements that represent real numbers; all others wrap, except in quantisers, which saturate.
FLOATS = ("FLOAT", "DOUBLE")

#: The maximum number of steps of a network: multiplications, comparisons, roundings, and elements of inputs.
MOST_STEPS = 1 << 20


class Budget:
    """The number of steps taken so far, and the largest number of them; None: only count."""

    def __init__(self, most: int | None = MOST_STEPS) -> None:
        self._most = most
        #: All steps, and those that are taken again for each equal element.
        self.taken = self.repeated = 0

    def take(self, steps: int, repeated: bool = False) -> None:
        """Use ``steps``. Raises ``Refusal`` if fewer are left."""
        if self._most is not None and self.taken + steps > self._most:
            left = f"{self._most - self.taken} of {self._most} for a network are left"
            raise Refusal(f"it takes {counted(steps, 'step')}, but only {left}")
        self.taken += steps
        self.repeated += steps if repeated else 0


@dataclass(frozen=True, eq=False)
class Call:
    """One node with its inputs; an input that is left out is None. ``applied``: its knobs, if it has any."""

    op: str
    inputs: tuple[Data | None, ...]
    attributes: Mapping[str, Any]
    opset: int
    ops: Arithmetic
    budget: Budget
    applied: Applied | None = None
    approximation: Approximation | None = None

    def input(self, number: int, what: str) -> Data:
        """Return a required input."""
        found = self.optional(number)
        if found is None:
            raise Refusal(f"input {number} ({what}) is missing")
        return found

    def optional(self, number: int) -> Data | None:
        """Return an input, or None if it is left out."""
        return self.inputs[number] if number < len(self.inputs) else None

    def reals(self, number: int, what: str) -> Data:
        """Return an input whose elements represent real numbers, so that arithmetic on them does not wrap."""
        return require_reals(self.input(number, what), what)

    def optional_reals(self, number: int, what: str) -> Data | None:
        """Return an input of real numbers, or None if it is left out."""
        found = self.optional(number)
        return None if found is None else require_reals(found, what)

    def numbers(self, number: int, what: str) -> list[Fraction]:
        """Return the elements of an input that must be constant."""
        found = self._constants(number, what)
        if not found:
            raise Refusal(f"its {what} has no elements")
        return found

    def _constants(self, number: int, what: str) -> list[Fraction]:
        found: list[Fraction] = self.input(number, what).elements.ravel().tolist()
        for one in found:
            if not isinstance(one, Fraction):
                raise Refusal(f"its {what} is computed; it must be a constant")
        return found

    def integers(self, number: int, what: str) -> tuple[int, ...]:
        """Return the elements of an input that must be constant integers."""
        found = self._constants(number, what)
        if any(one.denominator != 1 for one in found):
            raise Refusal(f"its {what} must be integers")
        return tuple(int(one) for one in found)

    def integer(self, name: str, default: int) -> int:
        """Return an attribute that is an integer."""
        found = self.attributes.get(name, default)
        if not isinstance(found, int):
            raise Refusal(f"attribute {name} must be an integer")
        return found

    def sizes(self, name: str, default: Sequence[int]) -> tuple[int, ...]:
        """Return an attribute that consists of as many integers as ``default``."""
        found = self.attributes.get(name, tuple(default))
        if not isinstance(found, tuple) or len(found) != len(default) or not all(isinstance(n, int) for n in found):
            raise Refusal(f"attribute {name} must be {len(default)} integers")
        return found

    def text(self, name: str, default: str) -> str:
        """Return an attribute that is a string."""
        found = self.attributes.get(name, default)
        if not isinstance(found, str):
            raise Refusal(f"attribute {name} must be a string")
        return found

    def number(self, name: str, default: float) -> Fraction:
        """Return an attribute that is a finite number: the exact value of its binary32 encoding."""
        found = self.attributes.get(name, default)
        if not isinstance(found, int | float) or not math.isfinite(found):
            raise Refusal(f"attribute {name} must be a finite number")
        return Fraction(float(np.float32(found)))

    def axis(self, name: str, default: int, rank: int, most: int | None = None) -> int:
        """Return an attribute that is an axis, counted from 0. ``most``: the largest axis; None: ``rank - 1``."""
        found = self.integer(name, default)
        if not -rank <= found <= (rank - 1 if most is None else most):
            raise Refusal(f"attribute {name} is {found}, but the tensor has {rank} dimensions")
        return found + rank if found < 0 else found

    def require_size(self, shape: Sequence[int]) -> None:
        """Raise ``Refusal`` if a result of ``shape`` is too large, or empty."""
        if math.prod(shape) > MOST_ELEMENTS or any(size < 1 for size in shape):
            raise Refusal(f"its result would have {math.prod(shape)} elements; 1 to {MOST_ELEMENTS} are supported")

    def broadcast(self, *operands: Data) -> list[Data]:
        """Return ``operands`` broadcast to one shape, and take one step of the budget for each element of it."""
        try:
            shape = np.broadcast_shapes(*(one.shape for one in operands))
        except ValueError:
            raise Refusal(f"shapes {', '.join(str(one.shape) for one in operands)} do not fit together") from None
        self.require_size(shape)
        self.budget.take(math.prod(shape))
        return [one.moved(lambda codes: np.broadcast_to(codes, shape)) for one in operands]


def require_reals(data: Data, what: str) -> Data:
    """Return ``data``. Raises ``Refusal`` if it is empty, or its elements do not represent real numbers."""
    if not data.size:
        raise Refusal(f"its {what} has no elements")
    if data.dtype not in FLOATS:
        raise Refusal(f"its {what} is of kind {data.dtype}, where arithmetic wraps or rounds; dequantise it first")
    return data
