"""Prove that the bits of a circuit encode a given number, for all inputs."""

from __future__ import annotations

from dais_verif.prover.bit_level.aig import Aig
from dais_verif.prover.bit_level.algebra.gates import Gates
from dais_verif.prover.bit_level.algebra.meaning import number_of
from dais_verif.prover.bit_level.algebra.polynomials import Polynomial, plus
from dais_verif.prover.bit_level.algebra.reduction import vanishes
from dais_verif.prover.bit_level.bit_blasting import Word

__all__ = ["holds"]


def holds(aig: Aig, word: Word, polynomial: Polynomial, seed: int) -> bool:
    """Return whether ``word``, literals of ``aig``, is proved to be ``polynomial`` modulo ``2**len(word)``.

    False means only that no proof was found. Adds gates to ``aig``.
    """
    gates = Gates(aig, [*word, *(2 * node for monomial in polynomial for node in monomial)], seed)
    return vanishes(plus(number_of(word).polynomial, polynomial, -1), gates, len(word))
