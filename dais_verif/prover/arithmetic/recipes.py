"""The constructions of atoms: integers that are not combinations of other atoms."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from dais_verif.prover.arithmetic.linear import Form

__all__ = ["Low", "Masked", "Negative", "Other", "Recipe"]


class Low(NamedTuple):
    """The lowest ``bits`` bits of ``form``, an integer."""

    bits: int
    form: Form


class Negative(NamedTuple):
    """1 where ``form`` is negative, else 0."""

    form: Form


class Masked(NamedTuple):
    """``form`` where ``condition`` equals ``holds``, else 0."""

    condition: int
    holds: bool
    form: Form


class Other(NamedTuple):
    """The result of an operation ``what`` on words with the forms ``of``; without words, the variable ``what``."""

    what: Hashable
    of: tuple[Form, ...]


Recipe = Low | Negative | Masked | Other
