"""A program that adds two inputs, for tests of how RTL may be written."""

from __future__ import annotations

from dais_verif.spec.program import Program

__all__ = ["ADDER"]


#: x0 + x1 of two u4.0.
ADDER = Program.build(
    [(-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0)), (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0]
)
