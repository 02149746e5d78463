"""Bounds of Verilog expressions, from which widths follow."""

from __future__ import annotations

from dais_verif.hardware.emitter.expressions import Expression


def test_bounds_are_those_of_the_values() -> None:
    x = Expression("x", 2, -5, 9, leaf=True)
    assert x.shifted(3) == Expression("x", -1, -5, 9, leaf=True)
    assert x.negated()[1:4] == (2, -9, 5)
    assert x.aligned(5)[1:4] == (5, -40, 72)
    assert x.aligned(2) is x
    assert x.floored(0)[1:4] == (0, -2, 2)
