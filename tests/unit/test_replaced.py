"""Replacing bits of a term gives the same term as concatenating the parts, with less work."""

from __future__ import annotations

import random

from dais_verif.prover.terms import Term, add, as_written, concat, const, extract, replaced, sext, var


def slowly(t: Term, low: int, piece: Term) -> Term:
    high = low + piece.width
    above = [extract(t, high, t.width - high)] if high < t.width else []
    return concat(*above, piece, *([extract(t, 0, low)] if low else []))


def piece_of(rng: random.Random, width: int) -> Term:
    """Return a random term of ``width`` bits, which may join with its neighbours."""
    source = var(64, rng.choice("abc"))
    kinds = [
        lambda: const(width, rng.getrandbits(width)),
        lambda: extract(source, rng.randrange(64 - width), width),
        lambda: add(extract(source, 3, width), const(width, 1)),
        lambda: concat(var(1, "d"), extract(source, 0, width - 1)) if width > 1 else var(1, "d"),
        lambda: sext(extract(source, 5, 1), width),
    ]
    return rng.choice(kinds)()


def test_it_is_the_same_term() -> None:
    rng = random.Random(0)
    for _ in range(60):
        term = rng.choice((var(64, "x"), const(64, 0), concat(var(60, "y"), var(4, "z"))))
        for _ in range(40):
            width = rng.choice((1, 4, 4, 8))
            low = rng.randrange(0, 64 - width + 1, rng.choice((1, 4)))
            piece = piece_of(rng, width)
            expected = slowly(term, low, piece)
            term = replaced(term, low, piece)
            assert term is expected


def test_all_of_it() -> None:
    assert replaced(var(8, "x"), 0, const(8, 1)) is const(8, 1)


def test_as_it_is_written() -> None:
    """Without rules, no parts are joined, and only the values are the same."""
    with as_written():
        term = replaced(concat(var(4, "x"), var(4, "y")), 4, var(4, "z"))
    assert term.width == 8
