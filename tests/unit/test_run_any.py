"""``dais_verif.run`` takes a program or a machine, as an object or as a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.machines import NIBBLE, connect, counter, machine, read_tree, signal
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.golden import Golden
from dais_verif.golden.run_any import run
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.program import Program

MACHINE = read_tree(counter(rst_to=[3]))
EN: dict[str, Any] = {"en": np.array([[1], [0], [1]])}


@pytest.mark.parametrize("of", [MACHINE, machine_json(MACHINE)], ids=["object", "file"])
def test_a_machine_before_and_after_its_edges(of: Any) -> None:
    assert dais_verif.run(of, EN).outputs["y"].ravel().tolist() == [3, 4, 4]
    assert dais_verif.run(of, EN, after=True, engine="exact").outputs["y"].ravel().tolist() == [4, 4, 5]


def test_a_program_is_run_as_ever() -> None:
    (program,) = (block.program for block in MACHINE.blocks.values())
    assert dais_verif.run(program, np.array([[2.0], [7.0]])).ravel().tolist() == [3, 8]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": EN, "jobs": 2}, "jobs"),
        ({"x": EN, "engine": "numpy"}, r"engine.*auto, fast, exact"),
        ({"x": np.ones((1, 1))}, "signals"),
    ],
)
def test_what_a_machine_does_not_take(asked: dict[str, Any], message: str) -> None:
    with raises(InputError, match=message):
        dais_verif.run(MACHINE, **asked)


def test_a_program_has_no_edges() -> None:
    (program,) = (block.program for block in MACHINE.blocks.values())
    with raises(InputError):
        dais_verif.run(program, np.ones((1, 1)), after=True)


def test_a_memory_of_more_words_than_muxes_is_left_to_the_oracle() -> None:
    words, index = 65_537, [[False, 17, 0]]
    m = signal("m", NIBBLE * words, reg=True, rst_to=[n % 16 for n in range(words)])
    word = [*m[:9], [0, 1], [signal("i", index, exposed=True), 1]]
    of = machine({}, [connect(word, signal("y", NIBBLE, exposed=True))])
    found = dais_verif.run(of, {"i": np.array([[65_536.0], [5.0]])})
    assert found.engine == "exact" and found.outputs["y"].ravel().tolist() == [0, 5]


@pytest.mark.parametrize("check", ["no", 0, None, 1.0])
def test_check_is_a_bool(check: Any) -> None:
    """A text such as "no" would count as true, and 0 as false."""
    program = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])
    for use in (
        lambda: run(program, [[1.0]], check=check),
        lambda: Golden(program).run([[1.0]], check=check),
        lambda: Golden(program).run_planar(np.ones((1, 1), np.int8), check=check),
    ):
        with pytest.raises(InputError, match="check"):
            use()
