"""Input and output rows of machines: packed, as text, and compared where values are known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dais_verif.simulation.machines.rows import words_of_rows
from dais_verif.simulation.scoreboard import digest_of_sequence
from dais_verif.simulation.testbench.sequence_job import MachineDifference, SequenceRows, text_of_rows
from dais_verif.simulation.testbench.sequences import compare
from dais_verif.spec.program import FixedType
from dais_verif.stimulus.machines import ArrayRows, raw_rows

ROWS = ["0110", "--01", "1-11", "0000"]


def test_rows_as_text_are_packed_and_unpacked() -> None:
    words, known = words_of_rows(ROWS, 4)
    assert words[:, 0].tolist() == [6, 1, 11, 0]
    assert known is not None and known[:, 0].tolist() == [15, 3, 11, 15]
    assert list(text_of_rows(words, 4, known)) == ROWS
    assert words_of_rows(["01", "10"], 2)[1] is None


def test_unknown_bits_do_not_count_in_the_digest_of_a_sequence() -> None:
    words, known = words_of_rows(ROWS, 4)
    assert known is not None
    assert digest_of_sequence(2, words | ~known & np.uint64(15), known) == digest_of_sequence(2, words & known, None)
    assert digest_of_sequence(2, words, known) != digest_of_sequence(3, words, known)
    assert digest_of_sequence(2, words, known) != digest_of_sequence(2, words ^ np.uint64(1), known)


def test_wide_rows_are_packed() -> None:
    rows = ["1" + "0" * 99, "-" * 100]
    words, known = words_of_rows(rows, 100)
    assert words.shape == (2, 2) and list(text_of_rows(words, 100, known)) == rows


@pytest.mark.parametrize(
    ("found", "first", "mismatching"),
    [
        ([6, 1, 11, 0], None, 0),
        ([6, 13, 15, 0], None, 0),
        ([6, 3, 11, 0], MachineDifference(0, True, "--01", "0011"), 1),
        ([6, 1, 3, 1], MachineDifference(1, False, "1-11", "0011"), 1),
        ([0, 1, 3, 1], MachineDifference(0, False, "0110", "0000"), 2),
    ],
    ids=["equal", "unknown bits", "after", "before", "both cycles"],
)
def test_rows_in_bulk_are_compared_where_they_are_known(
    found: list[int], first: MachineDifference | None, mismatching: int
) -> None:
    words, known = words_of_rows(ROWS, 4)
    inputs = np.zeros((2, 1), dtype="<u8")
    answer = compare(SequenceRows(inputs, words, known), np.array(found, dtype="<u8").reshape(-1, 1), 4)
    assert (answer.first, answer.mismatching, answer.cycles, answer.bits) == (first, mismatching, 2, 13)


def test_rows_that_were_given_are_wrapped_into_their_types() -> None:
    types = (FixedType(1, 2, 1), FixedType(0, 70, 0))
    rows = [[Fraction(9, 4), Fraction(-1)], [Fraction(4), Fraction(2**70)]]
    assert raw_rows(rows, types).tolist() == [[4, 2**70 - 1], [-8, 0]]
    reals = ArrayRows(np.array([[2.25, -1.0], [4.0, 2.0**70]]))
    assert raw_rows(reals, types).tolist() == [[4, 2**70 - 1], [-8, 0]]
    assert ArrayRows(np.array([[4, 1]]), types)[0] == [Fraction(2), Fraction(1)]
