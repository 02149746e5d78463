"""Which method decides an obligation, and that its decision is right."""

from __future__ import annotations

import pytest

from dais_verif.prover.solve.discharge import decide
from dais_verif.prover.terms import Term, add, band, bnot, bor, bxor, const, eq, extract, mul, neg, ult, var, zext
from dais_verif.record.proof import Method


def halves(width: int) -> tuple[Term, Term]:
    """Return two equal terms of ``width`` bits that are not the same object."""
    x, y = var(width // 2, "x"), var(width - width // 2, "y")
    a, b = zext(x, width), zext(y, width)
    return add(band(a, b), bor(a, b)), add(a, b)


def products(width: int) -> tuple[Term, Term]:
    a, b = var(width // 2, "x"), var(width - width // 2, "y")
    a, b = zext(a, width), zext(b, width)
    return mul(add(a, b), add(a, neg(b))), add(mul(a, a), neg(mul(b, b)))


@pytest.mark.parametrize(
    ("bits", "terms", "wide", "method"),
    [
        (13, halves, False, Method.EXHAUSTIVE),
        (14, halves, False, Method.SMT),
        (14, products, False, Method.EXHAUSTIVE),
        (20, products, False, Method.EXHAUSTIVE),
        (10, halves, True, Method.EXHAUSTIVE),
        (11, halves, True, Method.SMT),
        (11, halves, False, Method.EXHAUSTIVE),
    ],
)
def test_the_cheapest_means(bits: int, terms, wide: bool, method: Method) -> None:
    a, b = terms(bits)
    if wide:  # use terms of more than 64 bits
        a, b = (extract(mul(zext(t, 70), const(70, 3)), 0, 66) for t in (a, b))
    assert a is not b
    decision = decide(a, b, (), 20.0)
    assert (decision.equal, decision.method) == (True, method)


def test_the_same_term_needs_no_look() -> None:
    x = var(40, "x")
    decision = decide(mul(x, x), mul(x, x), (), 0.0)
    assert (decision.equal, decision.method, decision.seconds, dict(decision.model)) == (
        True,
        Method.IDENTICAL,
        0.0,
        {},
    )


def test_too_many_bits_of_a_product_go_to_the_solver() -> None:
    x, y = var(11, "x"), var(10, "y")
    a = mul(zext(x, 12), zext(y, 12))
    assert decide(a, add(a, const(12, 1)), (), 20.0).method is Method.SMT


@pytest.mark.parametrize("bits", [8, 18, 40])
def test_a_difference_is_shown(bits: int) -> None:
    """A difference is found in the first rows, in the last row, or by the solver."""
    x = var(bits, "x")
    for value in (0, 5, (1 << bits) - 1):
        wrong = zext(eq(x, const(bits, value)), bits)
        decision = decide(bxor(mul(x, x), wrong), mul(x, x), (), 20.0)
        assert decision.equal is False
        assert dict(decision.model) == {x: value}


def test_what_is_taken_for_granted() -> None:
    x, y = var(5, "x"), var(5, "y")
    low, same = ult(x, const(5, 3)), eq(y, bnot(x))
    assert decide(add(x, y), const(5, 31), (same,), 5.0).equal is True
    assert decide(extract(x, 2, 3), const(3, 0), (low, same), 5.0).equal is True
    found = decide(extract(x, 1, 4), const(4, 0), (low, same), 5.0)
    assert found.equal is False
    assert dict(found.model) == {x: 2, y: 29}
    assert decide(x, y, (const(1, 0),), 5.0).equal is True
