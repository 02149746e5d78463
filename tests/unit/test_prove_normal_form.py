"""Terms that are built in different ways have one normal form: they are the same object, on which proofs rely.

``test_prove_terms`` shows that no rule changes a value. A rule that no longer fires would only make proofs slow.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.said import raises

from dais_verif.prover.terms import (
    Term,
    add,
    all_ones,
    as_written,
    ashr,
    band,
    bnot,
    bor,
    bxor,
    concat,
    const,
    eq,
    extract,
    ite,
    lookup,
    lshr,
    mul,
    neg,
    nonzero,
    resize,
    sext,
    shl,
    slt,
    sub,
    top_bit,
    udiv,
    ult,
    urem,
    var,
    zext,
)
from dais_verif.prover.terms.parts import exact_signed, exact_unsigned

X, Y, Z = (var(6, name) for name in "xyz")
X8 = var(8, "x8")
C, D = var(1, "c"), var(1, "d")
N = const(6, 0)


def k(value: int, width: int = 6) -> Term:
    return const(width, value)


#: Both sides are the same object.
SAME: dict[str, tuple[Term, Term]] = {
    # sums
    "the order of a sum": (add(X, Y, Z), add(Z, add(Y, X))),
    "constants of a sum": (add(add(X, k(3)), add(Y, k(60))), add(X, Y, k(63))),
    "a difference of the same": (sub(add(X, Y), X), Y),
    "nothing is left": (sub(X, X), N),
    "a constant is left": (sub(add(X, k(5)), X), k(5)),
    "twice": (add(X, X), concat(extract(X, 0, 5), k(0, 1))),
    "three times": (add(X, X, X), mul(X, k(3))),
    "64 times, beside another": (add(*[X] * 64, Y), Y),
    "twice a bit, beside another": (add(C, C, D), D),
    "minus minus": (neg(neg(X)), X),
    "minus a sum": (neg(add(X, Y, k(5))), add(neg(X), neg(Y), k(-5))),
    "minus a sum without a constant": (neg(add(X, Y)), add(neg(X), neg(Y))),
    "minus one, minus": (add(neg(X), k(-1)), bnot(X)),
    "not of a sum": (bnot(add(X, k(5))), add(neg(X), k(-6))),
    "minus not": (neg(bnot(X)), add(X, k(1))),
    "not in a sum": (add(bnot(X), Y, k(1)), sub(Y, X)),
    "minus what ends in zeros": (neg(concat(C, D, k(0, 3))), concat(neg(concat(C, D)), k(0, 3))),
    "minus three times": (add(neg(X), neg(X), neg(X)), mul(X, k(-3))),
    "minus what is shifted": (
        add(concat(neg(extract(X, 0, 5)), k(0, 1)), Y, concat(extract(X, 0, 5), k(0, 1))),
        Y,
    ),
    "a sum of what ends in zeros": (
        add(concat(X, k(0, 3)), concat(C, Y, k(0, 2)), k(20, 9)),
        concat(add(concat(X, k(0, 1)), concat(C, Y), k(5, 7)), k(0, 2)),
    ),
    "a constant that ends in zeros": (add(concat(X, k(0, 2)), k(12, 8)), concat(add(X, k(3)), k(0, 2))),
    "a shifted sum in a sum": (
        add(X8, concat(add(Y, neg(Z), k(5)), k(0, 2))),
        add(X8, concat(Y, k(0, 2)), neg(concat(Z, k(0, 2))), k(20, 8)),
    ),
    "shifted bits turned round, in a sum": (
        add(X8, concat(bnot(Y), k(0, 2))),
        add(X8, neg(concat(Y, k(0, 2))), k(-4, 8)),
    ),
    "a shifted sum, taken away": (
        sub(concat(add(Y, Z), k(0, 2)), concat(Y, k(0, 2))),
        concat(Z, k(0, 2)),
    ),
    # sums in two halves
    "low bits copied": (concat(add(Y, extract(X8, 2, 6)), extract(X8, 0, 2)), add(X8, concat(Y, k(0, 2)))),
    "low bits copied, beside a constant": (
        concat(add(Y, Z, extract(X8, 2, 6), k(5)), extract(X8, 0, 2)),
        add(X8, concat(Y, k(0, 2)), concat(Z, k(0, 2)), k(20, 8)),
    ),
    "low bits copied, of a signed number": (
        concat(add(Y, sext(extract(X, 2, 4), 6)), extract(X, 0, 2)),
        add(sext(X, 8), concat(Y, k(0, 2))),
    ),
    "low bits copied, of an unsigned number": (
        concat(add(Y, zext(extract(X, 2, 4), 6)), extract(X, 0, 2)),
        add(zext(X, 8), concat(Y, k(0, 2))),
    ),
    "all bits copied, their sign added": (
        concat(add(Y, sext(top_bit(X), 6)), X),
        add(sext(X, 12), concat(Y, k(0, 6))),
    ),
    "bits copied, their sign a single bit": (
        concat(add(C, top_bit(X)), X),
        add(sext(X, 7), concat(C, k(0, 6))),
    ),
    "low bits negated, and borrowed": (
        concat(add(Y, neg(extract(X8, 2, 6)), neg(zext(nonzero(extract(X8, 0, 2)), 6))), neg(extract(X8, 0, 2))),
        sub(concat(Y, k(0, 2)), X8),
    ),
    "one low bit, and borrowed": (
        concat(
            add(Y, neg(sext(extract(X, 1, 5), 6)), neg(zext(extract(X, 0, 1), 6))),
            neg(extract(X, 0, 1)),
        ),
        sub(concat(Y, k(0, 1)), sext(X, 7)),
    ),
    "the upper half of a sum": (extract(add(X8, concat(Y, k(0, 2))), 2, 6), add(Y, extract(X8, 2, 6))),
    "the upper half of a sum with a constant": (
        extract(add(X8, concat(Y, k(0, 2)), k(12, 8)), 2, 6),
        add(Y, extract(X8, 2, 6), k(3)),
    ),
    # products
    "times zero": (mul(X, N), N),
    "times one": (mul(k(1), X), X),
    "times minus one": (mul(X, k(-1)), neg(X)),
    "times eight": (mul(X, k(8)), concat(extract(X, 0, 3), k(0, 3))),
    "times the top bit": (mul(X, k(32)), concat(extract(X, 0, 1), k(0, 5))),
    "the order of a product": (mul(X, Y), mul(Y, X)),
    "of constants": (mul(k(7), k(11)), k(77)),
    "divided by one": (udiv(X, k(1)), X),
    "quotients of constants": (
        concat(udiv(k(35), k(4)), udiv(k(35), N), urem(k(35), k(4)), urem(k(35), N)),
        concat(k(8), k(63), k(3), k(35)),
    ),
    # parts
    "a part of a part": (extract(extract(X, 1, 4), 1, 2), extract(X, 2, 2)),
    "parts side by side": (concat(extract(X, 3, 3), extract(X, 0, 3)), X),
    "parts of parts of a concatenation": (extract(concat(X, Y), 4, 4), concat(extract(X, 0, 2), extract(Y, 4, 2))),
    "concatenations flat": (concat(C, concat(X, D)), concat(concat(C, X), D)),
    "constants side by side": (concat(k(2, 2), k(5, 3)), k(21, 5)),
    "the top bit before it": (concat(top_bit(X), X), sext(X, 7)),
    "many top bits before it": (concat(sext(top_bit(X), 4), X), sext(X, 10)),
    "an extension extended": (sext(sext(X, 8), 12), sext(X, 12)),
    "the low bits of an extension": (extract(sext(X, 12), 1, 4), extract(X, 1, 4)),
    "the high bits of an extension": (extract(sext(X, 12), 8, 3), sext(top_bit(X), 3)),
    "the low bits of a sum": (extract(add(X, Y, k(9)), 0, 3), add(extract(X, 0, 3), extract(Y, 0, 3), k(1, 3))),
    "the middle of a sum": (extract(add(X, Y), 1, 3), extract(add(extract(X, 0, 4), extract(Y, 0, 4)), 1, 3)),
    "the low bits of a product": (extract(mul(X, Y), 0, 3), mul(extract(X, 0, 3), extract(Y, 0, 3))),
    "the bits of a choice": (extract(ite(C, X, Y), 2, 3), ite(C, extract(X, 2, 3), extract(Y, 2, 3))),
    "the bits of a table": (extract(lookup(concat(C, D), (1, 18, 60), 6), 1, 4), lookup(concat(C, D), (0, 9, 30), 4)),
    "no change of width": (concat(resize(X, 6, True), zext(X, 6), sext(X, 6)), concat(X, X, X)),
    "to fewer bits": (resize(X, 4, True), extract(X, 0, 4)),
    # extensions move inside
    "zeros before a choice": (zext(ite(C, X, Y), 8), ite(C, zext(X, 8), zext(Y, 8))),
    "zeros before a table": (zext(lookup(X, (1, 2), 3), 8), lookup(X, (1, 2), 8)),
    "zeros before a sum that fits": (zext(add(zext(X, 7), zext(Y, 7)), 9), add(zext(X, 9), zext(Y, 9))),
    "zeros before a product that fits": (zext(mul(zext(X, 12), zext(Y, 12)), 14), mul(zext(X, 14), zext(Y, 14))),
    "zeros before what is not negative": (zext(add(sext(C, 6), k(1)), 8), add(sext(C, 8), k(1, 8))),
    "signs before a choice": (sext(ite(C, X, Y), 8), ite(C, sext(X, 8), sext(Y, 8))),
    "signs before a table": (sext(lookup(X, (1, 6), 3), 8), lookup(X, (1, 254), 8)),
    "signs before a sum that fits": (sext(add(sext(X, 7), sext(Y, 7)), 9), add(sext(X, 9), sext(Y, 9))),
    "signs before a difference that fits": (sext(sub(sext(X, 7), sext(Y, 7)), 9), sub(sext(X, 9), sext(Y, 9))),
    "signs before a product that fits": (sext(mul(sext(X, 12), sext(Y, 12)), 14), mul(sext(X, 14), sext(Y, 14))),
    "signs before bits": (sext(band(X, Y), 8), band(sext(X, 8), sext(Y, 8))),
    "signs before a concatenation": (sext(concat(C, X), 9), concat(sext(C, 3), X)),
    "signs before the top of a sum that fits": (
        sext(extract(add(sext(X, 7), sext(Y, 7)), 1, 6), 8),
        extract(add(sext(X, 9), sext(Y, 9)), 1, 8),
    ),
    # bits
    "a mask": (band(X, k(0b001110)), concat(k(0, 2), extract(X, 1, 3), k(0, 1))),
    "bits set": (bor(X, k(0b100011)), concat(k(1, 1), extract(X, 2, 3), k(3, 2))),
    "bits turned round": (bxor(X, k(0b110000)), concat(bnot(extract(X, 4, 2)), extract(X, 0, 4))),
    "all bits turned round": (bxor(X, k(63)), bnot(X)),
    "not not": (bnot(bnot(X)), X),
    "with itself": (concat(band(X, X), bor(X, X), bxor(X, X)), concat(X, X, N)),
    "the order of bits": (concat(band(X, Y), bor(X, Y), bxor(X, Y)), concat(band(Y, X), bor(Y, X), bxor(Y, X))),
    "left": (shl(X, k(2)), concat(extract(X, 0, 4), k(0, 2))),
    "right": (lshr(X, k(2)), concat(k(0, 2), extract(X, 2, 4))),
    "right, with its sign": (ashr(X, k(2)), sext(extract(X, 2, 4), 6)),
    "by nothing": (concat(shl(X, N), lshr(X, N), ashr(X, N)), concat(X, X, X)),
    "by all": (concat(shl(X, k(6)), lshr(X, k(6))), k(0, 12)),
    "by more than all": (concat(shl(X, k(9)), lshr(X, k(9)), ashr(X, k(9))), concat(k(0, 12), sext(top_bit(X), 6))),
    # decisions
    "equal to itself": (eq(X, X), k(1, 1)),
    "the order of a comparison": (eq(X, Y), eq(Y, X)),
    "equal constants": (concat(eq(k(5), k(5)), eq(k(5), k(4))), k(2, 2)),
    "a bit that is one": (eq(C, k(1, 1)), C),
    "a bit that is zero": (eq(C, k(0, 1)), bnot(C)),
    "an extension, compared": (eq(sext(X, 8), k(-3, 8)), eq(X, k(-3))),
    "an extension that cannot be": (eq(sext(X, 8), k(61, 8)), k(0, 1)),
    "a sum, compared": (eq(add(X, Y, k(3)), k(10)), eq(add(X, Y), k(7))),
    "a constant beside, compared": (eq(concat(k(2, 2), X, k(1, 1)), k(0b10_001100_1, 9)), eq(X, k(12))),
    "a constant beside that differs": (eq(concat(k(2, 2), X), k(0b11_001100, 8)), k(0, 1)),
    "minus, compared": (eq(neg(X), k(5)), eq(X, k(-5))),
    "not, compared": (eq(bnot(X), k(5)), eq(X, k(58))),
    "all ones": (all_ones(X), eq(X, k(63))),
    "not zero": (nonzero(X), bnot(eq(X, N))),
    "a bit that is not zero": (nonzero(C), C),
    "less than itself": (concat(ult(X, X), slt(X, X)), k(0, 2)),
    "less than zero": (concat(ult(X, N), slt(X, N)), concat(k(0, 1), top_bit(X))),
    "constants compared": (
        concat(ult(k(5), k(60)), ult(k(60), k(5)), slt(k(5), k(60)), slt(k(60), k(5))),
        k(0b1001, 4),
    ),
    "the same constants compared": (concat(ult(k(5), k(5)), slt(k(5), k(5))), k(0, 2)),
    "a choice of the same": (ite(C, X, X), X),
    "a choice by a constant": (concat(ite(k(1, 1), X, Y), ite(k(0, 1), X, Y)), concat(X, Y)),
    "a choice by not": (ite(bnot(C), X, Y), ite(C, Y, X)),
    "a choice of bits": (concat(ite(C, k(1, 1), k(0, 1)), ite(C, k(0, 1), k(1, 1))), concat(C, bnot(C))),
    "a word of a table": (concat(lookup(k(1, 2), (1, 2, 3), 6), lookup(k(3, 2), (1, 2, 3), 6)), concat(k(2), N)),
    "words that nothing reaches": (lookup(C, (1, 2, 3, 4), 6), lookup(C, (65, 66), 6)),
}


@pytest.mark.parametrize("name", SAME)
def test_two_ways_to_one_term(name: str) -> None:
    one, other = SAME[name]
    assert one is other


def nested(depth: int, inner: Term) -> Term:
    """Return ``inner`` inside ``depth`` nested choices."""
    for n in range(depth):
        inner = ite(var(1, f"choice {n}"), inner, const(inner.width, 0))
    return inner


#: A term, and its bounds if it is a sum or product that cannot overflow, else None.
UNSIGNED: dict[str, tuple[Term, tuple[int, int] | None]] = {
    "no sum": (X, None),
    "a sum that fits": (add(zext(X, 8), zext(Y, 8)), (0, 126)),
    "a sum that just fits": (add(zext(X, 7), zext(Y, 7), k(1, 7)), (1, 127)),
    "a sum that does not fit": (add(zext(X, 7), zext(Y, 7), k(2, 7)), None),
    "a product that fits": (mul(zext(X, 12), zext(Y, 12)), (0, 63 * 63)),
    "a product that does not fit": (mul(zext(X, 11), zext(Y, 11)), None),
    "a product of what is not zero": (mul(concat(k(0, 4), k(1, 1), C), concat(k(0, 4), k(1, 1), D)), (4, 9)),
    "zeros below": (add(concat(k(0, 1), X, k(0, 2)), zext(Y, 9)), (0, 315)),
    "something below": (add(concat(k(0, 1), k(1, 1), X), k(3, 8)), (67, 130)),
    "a choice": (add(ite(C, k(9), k(4)), ite(D, k(20), k(54))), (24, 63)),
    "a choice that does not fit": (add(ite(C, k(10), k(4)), ite(D, k(20), k(54))), None),
    "a sum of sums": (add(mul(zext(X, 8), k(3, 8)), k(1, 8)), (1, 190)),
    "near": (add(nested(3, k(1)), zext(C, 6)), (0, 2)),
    "far": (add(nested(4, k(1)), zext(C, 6)), None),
}
SIGNED: dict[str, tuple[Term, tuple[int, int] | None]] = {
    "no sum": (X, None),
    "a sum that fits": (add(sext(X, 8), sext(Y, 8)), (-64, 62)),
    "a sum that just fits": (add(sext(X, 7), sext(Y, 7), k(1, 7)), (-63, 63)),
    "a sum that does not fit": (add(sext(X, 7), sext(Y, 7), k(2, 7)), None),
    "a sum that does not fit below": (add(sext(X, 7), sext(Y, 7), k(-1, 7)), None),
    "minus what fits": (neg(sext(X, 7)), (-31, 32)),
    "minus what does not fit": (neg(X), None),
    "a product that fits": (mul(sext(X, 12), sext(Y, 12)), (-32 * 31, 32 * 32)),
    "a product that just does not fit": (mul(sext(X, 11), sext(Y, 11)), None),
    "a product with a constant": (mul(sext(X, 9), k(-5, 9)), (-155, 160)),
    "zeros below": (add(sext(concat(X, k(0, 2)), 9), k(1, 9)), (-127, 125)),
    "something below": (add(sext(concat(X, C), 8), k(1, 8)), (-63, 64)),
    "a choice": (add(sext(ite(C, k(9), k(-4)), 7), sext(Y, 7)), (-36, 40)),
    "near": (add(nested(3, k(1)), sext(C, 6)), (-1, 1)),
    "far": (add(nested(4, k(1)), sext(C, 6)), None),
}


@pytest.mark.parametrize(
    ("bounds", "name"), [*((exact_unsigned, n) for n in UNSIGNED), *((exact_signed, n) for n in SIGNED)]
)
def test_bounds(bounds: Callable[[Term], tuple[int, int] | None], name: str) -> None:
    term, wanted = (UNSIGNED if bounds is exact_unsigned else SIGNED)[name]
    assert bounds(term) == wanted


def test_parts_that_are_not_there() -> None:
    for low, width in ((-1, 2), (0, 0), (0, 7), (5, 2), (2, -1)):
        with pytest.raises(AssertionError, match="of 6"):
            extract(X, low, width)
    for change in (sext, zext):
        with raises(AssertionError):
            change(X, 5)
    for build in (eq, ult, slt, mul, band, bor, bxor, add):
        for other in (var(5, "short"), var(7, "long")):
            with raises(AssertionError):
                build(X, other)
    for arguments in ((X, Y, Z), (C, X, D), (C, D, X)):
        with raises(AssertionError):
            ite(*arguments)


def test_as_written_everything_stays() -> None:
    """Terms for other solvers state exactly what is claimed, so none of these rules is applied."""
    with as_written():
        for build, count in (
            (add, 1),
            (add, 3),
            (mul, 2),
            (udiv, 2),
            (neg, 1),
            (bnot, 1),
            (band, 2),
            (bor, 2),
            (bxor, 2),
        ):
            arguments = (X, X, k(0))[:count]
            term = build(*arguments)
            assert (term.args, term.width) == (arguments, 6), build
        for build in (shl, lshr, ashr, eq, ult, slt):
            assert build(X, k(0)).args == (X, k(0)), build
        assert ite(C, X, X).args == (C, X, X)
        assert concat(k(0, 1), concat(C, D)).args == (k(0, 1), concat(C, D))
        assert extract(concat(C, D), 0, 1).op == "extract"
        assert sext(sext(X, 8), 9).args == (sext(X, 8),)
        # operations on constants are computed nevertheless
        assert add(k(3), mul(k(2), k(5)), neg(k(1))) is k(12)
        assert concat(extract(k(5), 0, 1), bnot(k(0, 2)), band(k(1, 2), k(3, 2))) is k(0b11101, 5)
        assert concat(eq(k(1), k(1)), ult(k(1), k(2)), slt(k(63), k(0)), ite(k(1, 1), k(1, 1), k(0, 1))) is k(15, 4)
        assert concat(shl(k(1), k(1)), lshr(k(4), k(1)), ashr(k(32), k(1)), sext(k(1, 1), 3)) is k(
            0b000010_000010_110000_111, 21
        )
        assert udiv(k(9), k(2)) is k(4)
