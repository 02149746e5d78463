"""The model, the vectors and the delay line that ``dais_verif.cocotb`` offers to test benches, without a simulator."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cocotb.types import LogicArray
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError, ProgramError, ViolationError
from dais_verif.cocotb import DaisModel, FixedPointVector, VectorStream, exhaustive_vectors, generate_vectors
from dais_verif.cocotb.delay_line import DelayLine
from dais_verif.cocotb.port_rows import input_layout
from dais_verif.cocotb.vectors import read_vectors
from dais_verif.golden import run
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Element
from dais_verif.stimulus.generate import generate
from dais_verif.verbs.vectors import WithBoundaries

ROOT = Path(__file__).parents[2]
#: Outputs x0 + x1 and -x0; x0 is s3.1, x1 is u4.0.
SUM = Program.build(
    [(-1, 0, -1, 0, (1, 1, 1)), (-1, 1, -1, 0, (0, 4, 0)), (0, 0, 1, 0, (1, 5, 1))],
    [(2, 0, 0), (0, 0, 1)],
    inp_shift=[0, 0],
)
MODEL = DaisModel(SUM)


@pytest.mark.parametrize(
    ("inputs", "raw"),
    [
        ([-1.5, 3], False),
        ([Fraction(-3, 2), np.int64(3)], False),
        ((-1.25, 3.9), False),  # floored
        ([2.5, 19], False),  # wraps
        ([-3, 3], True),
        ([5, 3], True),  # the same three bits as for -3
        ([LogicArray("101"), 3], False),
        ([LogicArray("101"), LogicArray("0011")], False),
        (LogicArray("0011101"), False),
    ],
    ids=str,
)
def test_one_vector_in_every_form(inputs: Any, raw: bool) -> None:
    found = MODEL(inputs, raw=raw)
    assert found.real == (Fraction(3, 2), Fraction(3, 2))
    assert found.raw == (3, 3)
    assert [str(bits) for bits in found.bits] == ["0000011", "0011"]
    assert str(found.packed) == "00110000011"


@pytest.mark.parametrize(
    ("inputs", "raw", "says"),
    [
        (LogicArray("001110X"), False, ""),
        (LogicArray("00111"), False, r"model_inp.*7 bits.*LogicArray.*5"),
        ([LogicArray("1Z1"), 0], False, ""),
        ([LogicArray("11"), 0], False, r"2 bits.*3"),
        ([1], False, r"value.*2 inputs"),
        (7, False, r"value.*2 inputs"),
        ([1.5, 2], True, "raw"),
        ([True, 2], False, "number or a LogicArray"),
        (["1", 2], False, "number or a LogicArray"),
        ([float("nan"), 2], False, "nan"),
    ],
    ids=str,
)
def test_what_is_no_vector_is_refused(inputs: Any, raw: bool, says: str) -> None:
    with raises(InputError, match=says):
        MODEL(inputs, raw=raw)


def test_a_broken_promise_is_an_error_unless_unchecked() -> None:
    narrow = Program.build([(-1, 0, -1, 0, (0, 3, 0)), (0, 0, 0, 0, (0, 3, 0))], [(1, 0, 0)], inp_shift=[0])
    with pytest.raises(ViolationError, match="op 1"):
        DaisModel(narrow)([7])
    assert DaisModel(narrow, check=False)([7]).raw == (6,)


@pytest.mark.parametrize("latency", [-1, True, 1.0, "2"])
def test_a_latency_is_a_number_of_edges(latency: Any) -> None:
    with raises(InputError):
        DaisModel(SUM, latency=latency)


def test_machines_and_missing_files_are_refused() -> None:
    with pytest.raises(ProgramError, match="machine"):
        DaisModel(ROOT / "examples" / "serial_dot.mach")
    with pytest.raises(InputError, match=r"nowhere\.bin"):
        DaisModel("nowhere.bin")


def test_steps() -> None:
    """A bubble, a stall and a reset: ``step`` returns what is due just before each edge."""
    model = DaisModel(SUM, latency=2)
    one, two = model([1, 1]), model([0.5, 2])
    assert model.step([1, 1]) is None
    assert model.step() is None
    assert model.step([0.5, 2]) == one
    assert model.step([1, 1], enable=False) is None  # the bubble is due, and stays due because of the stall
    assert model.step() is None
    assert model.step() == two
    assert model.step([1, 1]) is None
    assert model.step(reset=True) is None
    assert [model.step() for _ in range(3)] == [None] * 3


@pytest.mark.parametrize("latency", [0, 1, 3])
def test_a_line_delays_by_its_latency(latency: int) -> None:
    line = DelayLine[int](latency)
    found = [line.step(item) for item in range(8)]
    assert found == [None] * latency + list(range(8 - latency))
    assert line.under_way == latency


def test_generated_vectors_are_those_of_sim() -> None:
    batch = generate(SUM, 300, 5)
    expected = run(SUM, np.array([[float(value) for value in batch.row(row)] for row in range(300)]))
    stream = generate_vectors(MODEL, 300, seed=5)
    found = [[float(value) for value in MODEL(vector).real] for vector in stream]
    assert found == expected.tolist() and len(stream) == 300
    assert list(stream) == list(stream)  # can be iterated repeatedly


def test_generated_vectors_reach_the_boundaries_that_sim_reaches() -> None:
    model = DaisModel(ROOT / "examples" / "quantised_mac.bin")
    batch = WithBoundaries(model.program, 300, 5, check=True).slice(0, 300)
    expected = run(model.program, np.array([[float(value) for value in batch.row(row)] for row in range(300)]))
    assert [[float(value) for value in model(vector).real] for vector in generate_vectors(model, 300, seed=5)] == (
        expected.tolist()
    )


def test_vectors_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("-1.5,3\n0.5,19\n")
    assert [vector.raw for vector in read_vectors(MODEL, tmp_path / "x.csv")] == [(-3, 3), (1, 3)]


def test_exhaustive_vectors() -> None:
    rows = [vector.row for vector in exhaustive_vectors(MODEL)]
    assert rows == [format(row, "07b") for row in range(128)]
    wide = Program.build([(-1, 0, -1, 0, (0, 25, 0))], [(0, 0, 0)], inp_shift=[0])
    with pytest.raises(InputError, match="25 bits"):
        exhaustive_vectors(DaisModel(wide))


def test_bubbles_lose_no_vector() -> None:
    async def collect(stream: VectorStream) -> list[FixedPointVector | None]:
        return [vector async for vector in stream]

    stream = generate_vectors(MODEL, 200)
    found = asyncio.run(collect(stream.with_bubbles(0.25, seed=2)))
    assert [vector for vector in found if vector is not None] == list(stream)
    assert 30 < found.count(None) < 110
    assert found == asyncio.run(collect(stream.with_bubbles(0.25, seed=2)))
    with pytest.raises(InputError, match="share"):
        stream.with_bubbles(1)


def test_ports_that_lose_bits_are_refused() -> None:
    with raises(InputError):
        input_layout(SUM, [Element(0, 2, 0), Element(2, 4, 0)])


def test_nothing_else_needs_cocotb() -> None:
    """Without cocotb the package can be imported, and importing ``dais_verif.cocotb`` says what to install."""
    code = (
        "import sys; sys.modules['cocotb'] = None\nimport dais_verif, dais_verif.golden\n"
        "try:\n    import dais_verif.cocotb\nexcept ImportError as error:\n    print(error)"
    )
    path = {**os.environ, "PYTHONPATH": str(Path(dais_verif.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, text=True, check=True)
    assert done.stdout == "dais_verif.cocotb needs cocotb: pip install 'dais-verif[sim]'\n"


def test_the_page_shows_what_the_model_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (block,) = (text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "DaisModel(" in text)
    known: dict[str, Any] = {}
    shown = 0
    for line in block.splitlines():
        code, _, said = line.partition("  #")
        found = re.match(r" (\(.*\))(,|$)", said)
        if found and code.strip().startswith("outputs."):
            assert repr(eval(code, known)) == found[1]  # the line that the page shows
            shown += 1
        else:
            exec(code, known)
    assert shown == 3 and known["model"]([6, 8, 1], raw=True) == known["outputs"]
