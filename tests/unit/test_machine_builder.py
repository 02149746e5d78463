"""Machines written in Python: what is built is what was said, and what cannot be is refused in one line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dais_verif
from dais_verif.errors import ProgramError
from dais_verif.machine import Index, MachineBuilder, View
from dais_verif.program import FixedType, assemble

BIT, BYTE, WIDE = FixedType(0, 1, 0), FixedType(0, 8, 0), FixedType(0, 9, 0)
TOTAL = assemble("input x, t\nx = u8.0 input x\nt = u16.0 input t\ns = u17.0 t + x\nn = u16.0 quant(s)\noutput n = n")
ADD = assemble("input a, b\nx = u8.0 input a\ny = u8.0 input b\ns = u9.0 x + y\noutput s = s")


def test_an_accumulator_with_an_enable_and_a_reset() -> None:
    made = MachineBuilder()
    x, en, rst = made.input("x", BYTE), made.input("en", BIT), made.input("rst", BIT)
    total = made.register("total", BYTE, initial=3, reset=rst)
    add = made.block("add", ADD)
    made.connect(x, add.inputs[0])
    made.connect(total, add.inputs[1])
    made.connect(add.outputs, total, enable=en)
    made.connect(total, made.output("y", BYTE))
    found = dais_verif.run_machine(
        made.build(),
        {"x": [[5], [6], [7], [8], [9]], "en": [[1], [0], [1], [1], [1]], "rst": [[0], [0], [0], [1], [0]]},
    )
    assert found.outputs["y"][0, :, 0].tolist() == [3, 8, 8, 15, 3]


def test_a_table_read_at_an_index_two_words_apart() -> None:
    made = MachineBuilder()
    table = made.register("table", [BYTE] * 6, initial=range(6))
    index = made.input("i", FixedType(0, 2, 0))
    made.connect(table[0:2].at(index), made.output("y", [BYTE] * 2))
    found = dais_verif.run_machine(made.build(), {"i": [[0], [2], [1]]})
    assert found.outputs["y"][0].tolist() == [[0, 1], [4, 5], [2, 3]]


def test_parts_of_views() -> None:
    view = View("m", 2, 8)
    assert (view[0], view[-1], view[1:3]) == (View("m", 2, 3), View("m", 7, 8), View("m", 3, 5))
    assert view[:2].at(View("i", 0, 1)) == View("m", 2, 4, Index(View("i", 0, 1), 2))
    assert [one.start for one in view] == [2, 3, 4, 5, 6, 7]
    for part in (6, -7, slice(3, 3), slice(0, 4, 2)):
        with pytest.raises(IndexError, match="has no elements"):
            view[part]


REFUSED: dict[str, tuple[Callable[[MachineBuilder], object], str]] = {
    "twice": (lambda m: (m.wire("x", BYTE), m.input("x", BYTE)), "signal x: there is one of that name"),
    "block twice": (lambda m: (m.block("b", ADD), m.block("b", ADD)), "block b: there is one of that name"),
    "values": (lambda m: m.register("r", [BYTE] * 2, initial=[1]), "signal r: 1 initial values for 2 elements"),
    "too large": (lambda m: m.register("r", BYTE, initial=256), "does not hold the initial value 256"),
    "off grid": (lambda m: m.register("r", BYTE, initial=0.5), "does not hold the initial value 1/2"),
    "stranger": (lambda m: m.connect(View("z", 0, 1), m.wire("w", BYTE)), "z[0:1] is nothing of this machine"),
    "beyond": (lambda m: m.connect(View("w", 0, 2), m.wire("w", BYTE)), "w[0:2] is nothing of this machine"),
    "undriven": (lambda m: (m.wire("w", BYTE), m.build()), "signal w[0]: nothing drives it"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ProgramError) as caught:
        call(MachineBuilder())
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_the_machine_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "machines.md").read_text()
    block = re.search(r"^    made = dais_verif.*?build\(\).*?$", page, re.M | re.S)
    assert block is not None
    names: dict[str, Any] = {"dais_verif": dais_verif, "FixedType": FixedType, "program": TOTAL}
    exec(textwrap.dedent(block[0]), names)
    found = dais_verif.run_machine(names["machine"], {"x": [[3], [4], [0]], "en": [[1], [1], [1]]})
    assert found.outputs["y"][0, :, 0].tolist() == [0, 3, 7]


def test_a_machine_is_no_program() -> None:
    made = MachineBuilder()
    made.connect(made.input("x", BYTE), made.output("y", BYTE))
    with pytest.raises(ProgramError, match="a machine"):
        dais_verif.diff(ADD, made.build())
