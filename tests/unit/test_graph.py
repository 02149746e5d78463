"""The graph: cones, dead ops, depth; a mux reads its condition too."""

from __future__ import annotations

from dais_verif.program import Program
from dais_verif.program.graph import cone, dead_ops, depths

U4 = (0, 4, 0)

#: 0, 1: inputs. 2: const. 3: 0 + 1. 4: relu 3 (dead). 5: mux, condition 2, of 3 and 0. 6: not of 5.
PROGRAM = Program.build(
    [
        (-1, 0, -1, 0, U4),
        (-1, 1, -1, 0, U4),
        (5, -1, -1, 7, U4),
        (0, 0, 1, 0, (0, 5, 0)),
        (2, 3, -1, 0, U4),
        (6, 3, 0, 2, U4),
        (9, 5, -1, 0, U4),
    ],
    [(-1, 0, 0), (6, 0, 0)],
    inp_shift=[0, 0],
)


def test_cone_is_in_order_and_holds_its_roots() -> None:
    assert cone(PROGRAM, [3]) == [0, 1, 3]
    assert cone(PROGRAM, [4, 2]) == [0, 1, 2, 3, 4]
    assert cone(PROGRAM, []) == []


def test_the_condition_of_a_mux_belongs_to_its_cone() -> None:
    assert cone(PROGRAM, [6]) == [0, 1, 2, 3, 5, 6]


def test_dead_ops_are_those_that_no_output_reaches() -> None:
    assert dead_ops(PROGRAM) == [4]
    assert dead_ops(Program.build([(5, -1, -1, 1, U4)], [(-1, 0, 0)])) == [0]
    assert dead_ops(Program.build([], [])) == []


def test_depth_counts_ops_on_the_longest_path() -> None:
    assert depths(PROGRAM) == [0, 0, 0, 1, 2, 2, 3]
