"""The program that tests of registers use."""

from __future__ import annotations

from dais_verif.spec.program import Program

__all__ = ["PROGRAM"]


#: (x + 3)**2
PROGRAM = Program.build(
    [(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 3, (1, 8, 0)), (7, 1, 1, 0, (1, 17, 0))], [(2, 0, 0)], inp_shift=[0]
)
