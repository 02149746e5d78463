"""What atoms are: integers that no combination of others is, each known by what it is made of."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from dais_verif.prover.form import Form

__all__ = ["Low", "Masked", "Negative", "Other", "Recipe"]


class Low(NamedTuple):
    """The lowest ``bits`` bits of ``form``, an integer."""

    bits: int
    form: Form


class Negative(NamedTuple):
    """Whether ``form`` is below 0."""

    form: Form


class Masked(NamedTuple):
    """``form`` where ``condition`` is ``holds``, else 0."""

    condition: int
    holds: bool
    form: Form


class Other(NamedTuple):
    """What a term computes of words, and their forms; of none, the variable ``what``."""

    what: Hashable
    of: tuple[Form, ...]


Recipe = Low | Negative | Masked | Other
