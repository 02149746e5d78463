"""Signals of a design are found by the naming scheme, ours or da4ml's, that most of them fit."""

from __future__ import annotations

import pytest

from dais_verif.simulation.naming import DA4ML, chosen
from dais_verif.spec.program import Program

OWN = "op_{}".format

#: Ops of 3, 5 and 6 bits.
OPS = Program.build(
    [(-1, 0, -1, 0, (0, 3, 0)), (-1, 1, -1, 0, (1, 4, 0)), (0, 0, 1, 0, (1, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0]
).ops


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({"op_0": "000", "v0": "000", "v1": "00000"}, OWN),
        ({"op_2": "0", "v0": "000", "v1": "00000", "v2": "000000"}, OWN),
        ({"v0": "000", "v1": "00000", "v2": "000000"}, DA4ML),
        ({"v2": "XXXXXX"}, DA4ML),
        ({"v0": "000", "v1": "00000", "v2": "00000"}, DA4ML),  # one bit too few: a mistake that the run must find
        ({"v0": "000", "v1": "0000"}, OWN),  # fewer than most of the ops
        ({"v0": "00000000", "v1": "00000000", "v2": "000000"}, OWN),  # other signals with these names
        ({"model_out": "000000"}, OWN),
        ({}, OWN),
    ],
)
def test_whose_names(seen: dict[str, str], expected: object) -> None:
    assert chosen(OPS, OWN, seen) is expected
