"""Observed accesses of members in a dimension, judged by their pattern."""

from __future__ import annotations

from enum import Enum

from dais_verif.compile.kernels.patterns import DimPattern
from dais_verif.compile.kernels.regions import Span

__all__ = ["Touch", "judge_touched"]


class Touch(Enum):
    """The comparison of a pattern with accesses."""

    #: The accesses are exactly those that the pattern states, or fewer where this is allowed.
    OK = "ok"
    #: There are accesses outside of the pattern.
    EXCEEDED = "exceeded"
    #: The pattern is wider than needed.
    SUB_OPTIMAL = "sub-optimal"


def judge_touched(stated: DimPattern, members: Span, touched: Span, size: int, *, partial: bool = False) -> Touch:
    """Judge the range of elements that ``members`` touched in a dimension of ``size`` elements.

    A range that ends early is right if it ends at the end of the tensor. ``partial``: the range may be smaller than
    stated.
    """
    if stated.covers_all(size):
        return Touch.OK
    span = stated.span(members)
    if touched.first < span.first or touched.last > span.last:
        return Touch.EXCEEDED
    early = touched.last < span.last and touched.last < size - 1
    return Touch.SUB_OPTIMAL if not partial and (touched.first > span.first or early) else Touch.OK
