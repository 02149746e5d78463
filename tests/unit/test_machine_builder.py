"""Machines built in Python have the parts that were specified, and impossible ones are refused with one line."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import ProgramError
from dais_verif.spec.machine import Index, MachineBuilder, Schedule, View
from dais_verif.spec.program import FixedType, assemble

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
        with raises(IndexError):
            view[part]


REFUSED: dict[str, tuple[Callable[[Any], object], str]] = {
    "twice": (lambda m: (m.wire("x", BYTE), m.input("x", BYTE)), "signal x:"),
    "block twice": (lambda m: (m.block("b", ADD), m.block("b", ADD)), "block b:"),
    "values": (lambda m: m.register("r", [BYTE] * 2, initial=[1]), "2 elements"),
    "too large": (lambda m: m.register("r", BYTE, initial=256), "value 256"),
    "off grid": (lambda m: m.register("r", BYTE, initial=0.5), "value 1/2"),
    "stranger": (lambda m: m.connect(View("z", 0, 1), m.wire("w", BYTE)), "z[0:1]"),
    "beyond": (lambda m: m.connect(View("w", 0, 2), m.wire("w", BYTE)), "w[0:2]"),
    "not a number": (
        lambda m: m.register("r", BYTE, initial=math.nan),
        "signal r:",
    ),
    "infinite": (
        lambda m: m.register("r", BYTE, initial=[math.inf]),
        "signal r:",
    ),
    "numpy's infinity": (lambda m: m.register("r", BYTE, initial=np.float32("inf")), "signal r:"),
    "a text as values": (
        lambda m: m.register("r", [BYTE] * 2, initial="34"),
        "value '34'",
    ),
    "no values": (lambda m: m.register("r", BYTE, initial=object()), "value <object"),
    "a reset of another machine": (
        lambda m: (m.register("r", BYTE, reset=MachineBuilder().input("q", BIT)), m.build()),
        "reset: q[0:1]",
    ),
    "a reset that is not a view": (
        lambda m: m.register("r", BYTE, reset="rst"),
        "reset: 'rst'",
    ),
    "an index that is not a view": (
        lambda m: m.connect(m.input("x", BYTE), m.register("r", [BYTE] * 4)[0].at(2)),
        "connection: 2",
    ),
    "a stride that is no int": (
        lambda m: m.connect(m.input("x", BYTE), m.register("r", [BYTE] * 4)[0].at(m.input("i", BYTE), 0.5)),
        "connection: View(signal='..., stride=0.5)):",
    ),
    "a source that is not a view": (lambda m: m.connect(3, m.wire("w", BYTE)), "connection: 3"),
    "a target that is none": (lambda m: m.connect(m.input("x", BYTE), None), "connection: None"),
    "no name": (lambda m: m.input("", BYTE), "signal '': a name"),
    "an invisible name": (lambda m: m.wire("x\n", BYTE), "signal 'x\\n': a name"),
    "a name that is no text": (lambda m: m.input(5, BYTE), "signal 5: a name"),
    "a long name": (lambda m: m.register("x" * 256, BYTE), "1 to 255"),
    "a block of no name": (lambda m: m.block(None, ADD), "block None: a name"),
    "a block whose wires have long names": (lambda m: m.block("b" * 250, ADD), "1 to 255"),
    "no program": (lambda m: m.block("b", "p.bin"), "'p.bin'"),
    "too wide": (lambda m: m.input("x", FixedType(0, 5000, 0)), "width is 0 to 4096"),
    "too narrow": (lambda m: m.input("x", FixedType(0, -3, 0)), "width is 0 to 4096"),
    "a type that is none": (lambda m: m.input("x", (0, 4, 0)), "types[0] is 0"),
    "a text as type": (lambda m: m.input("x", "u4.0"), "types[0] is 'u'"),
    "a number as type": (
        lambda m: m.input("x", 4),
        "FixedType",
    ),
    "a type of halves": (lambda m: m.input("x", FixedType(0, 4, 0.5)), "FixedType"),
    "toggles that fall": (
        lambda m: m.input("x", BYTE, schedule=Schedule((3, 1), 8)),
        "Schedule(toggles=(3, 1), period=8)",
    ),
    "no toggles": (lambda m: m.output("y", BYTE, schedule=Schedule((), 4)), "Schedule(toggles=(), period=4)"),
    "no schedule": (lambda m: m.output("y", BYTE, schedule=(1, 4)), "Schedule"),
    "undriven": (lambda m: (m.wire("w", BYTE), m.build()), "signal w[0]: nothing drives it"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ProgramError) as caught:
        call(MachineBuilder())
    assert message in str(caught.value) and "\n" not in str(caught.value)
    if name != "no values":  # which has an address
        as_recorded(caught.value)


@pytest.mark.parametrize(
    "value",
    [0.5, Fraction(1, 2), np.float32(0.5), np.longdouble(0.5), [0.5], np.array([0.5])],
    ids=repr,
)
def test_numbers_of_python_and_numpy_are_exact(value: Any) -> None:
    made = MachineBuilder()
    made.connect(made.register("r", FixedType(0, 1, 1), initial=value), made.output("y", FixedType(0, 1, 1)))
    assert made.build().signals["r"].initial == (Fraction(1, 2),)
    made = MachineBuilder()
    made.connect(made.register("r", BYTE, initial=np.int64(200)), made.output("y", BYTE))
    assert made.build().signals["r"].initial == (Fraction(200),)


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
