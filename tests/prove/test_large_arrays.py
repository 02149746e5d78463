"""Arrays of thousands of elements that hold intermediate values are read as they simulate, at linear cost."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from prove.door import run_prove
from prove.reading import elaborated, needs_yosys, term_of, value_of, values_of
from support.adder import ADDER
from support.counting import lines
from support.tier import some

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.slang import bundles
from dais_verif.prover.slang import piecewise as pieces
from dais_verif.prover.slang.piecewise import Marks, Pieces, Value, assigned, chosen, part, whole
from dais_verif.prover.terms import Term, const, leaves, var
from dais_verif.prover.terms.evaluate import evaluate

#: COUNT is more than the number of elements that are kept as one term; arrays of MANY elements were once too large.
COUNT, MANY = 200, 5_000
HEAD = "module model(input clk, input [7:0] model_inp, output [4:0] model_out); wire [7:0] IN = model_inp;"
SUM = "5'(a[17][3:0]) + 5'(a[SIZE-1][7:4])"

#: Arrays ``a`` of SIZE elements that all equal ``IN``, and an assignment that makes an element differ.
ARRAYS = {
    "always_comb": (
        "reg [7:0] a [0:SIZE-1]; always_comb for (int i = 0; i < SIZE; i++) a[i] = IN;",
        "a[i] = IN ^ (i == 17);",
    ),
    "one from the other": (
        "reg [7:0] a [0:SIZE-1]; always_comb begin a[0] = IN; for (int i = 1; i < SIZE; i++) a[i] = a[i - 1]; end",
        "a[i] = a[i - 1] + (i == SIZE-1) * 16;",
    ),
    "assign": (
        "wire [7:0] a [0:SIZE-1]; for (genvar i = 0; i < SIZE; i++) assign a[i] = IN;",
        "assign a[i] = IN ^ (i == 17);",
    ),
    "branches": (
        "reg [7:0] a [SIZE-1:0]; always_comb begin for (int i = 0; i < SIZE; i++) begin a[i] = 0; if (IN[i % 8])"
        " a[i] = IN;"
        " else a[i][7:0] = {IN[7:1], IN[0]}; end end",
        "else a[i][7:0] = {IN[7:1], i % 8 != 1 && IN[0]};",
    ),
    "members": (
        "struct { logic [3:0] l, h; } t [0:SIZE-1]; wire [7:0] a [0:SIZE-1]; for (genvar i = 0; i < SIZE; i++) assign"
        " a[i] ="
        " {t[i].h, t[i].l}; always_comb for (int i = 0; i < SIZE; i++) begin t[i].l = IN[3:0]; t[i].h = IN[7:4]; end",
        "t[i].h = IN[7:4] + (i == SIZE-1);",
    ),
    "clocked": (
        "reg [7:0] a [0:SIZE-1]; always_ff @(posedge clk) for (int i = 0; i < SIZE; i++) a[i] <= IN;",
        "a[i] <= IN + (i == 17);",
    ),
}


def text(body: str, count: int) -> str:
    ports = HEAD if "clk)" in body else HEAD.replace("input clk, ", "")
    return f"{ports} {body} assign model_out = {SUM}; endmodule".replace("SIZE", str(count))


@pytest.fixture
def deep() -> Iterator[None]:
    """Set the recursion limit as high as ``prove`` sets it."""
    known = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(known)


@pytest.mark.few(2)
@pytest.mark.usefixtures("deep")
@pytest.mark.parametrize("name", ARRAYS)
def test_a_large_array_is_proved(name: str, tmp_path: Path) -> None:
    body, change = ARRAYS[name]
    options = ["--clock", "clk"] if name == "clocked" else []
    count = MANY if name in ("assign", "clocked") else COUNT
    assert run_prove(ADDER, tmp_path / "right", *options, rtl=text(body, count)).ending == ("PASS", 0)
    start = body.index(change[: change.index("=") + 1])
    wrong = body[:start] + change + body[body.index(";", start) + 1 :]
    if name == "branches":
        assert run_prove(ADDER, tmp_path / "wrong", *options, rtl=text(wrong, COUNT)).ending == ("RTL_MISMATCH", 1)
    term = term_of(elaborated(text(wrong, COUNT), tmp_path, "slang", "model"), "model_out")
    assert values_of(term, [{"model_inp": x} for x in range(256)]) != [(x & 15) + (x >> 4) for x in range(256)]


@needs_yosys
@pytest.mark.parametrize("name", ["always_comb", "one from the other", "assign"])
def test_both_front_ends_agree_on_an_array(name: str, tmp_path: Path) -> None:
    run = run_prove(ADDER, tmp_path, "--front-end", "both", rtl=text(ARRAYS[name][0], 140))
    assert run.ending == ("PASS", 0), run.stderr


def test_the_cost_grows_with_the_number_of_elements(tmp_path: Path) -> None:
    def work(name: str, count: int) -> int:
        return lines(lambda: elaborated(text(ARRAYS[name][0], count), tmp_path, "slang", "model"))

    for name in some(("branches", "clocked"), 1):
        few, many = (work(name, count) for count in (250, 1000))
        assert many < 6 * few, name


def test_an_array_beyond_the_limits_is_refused_where_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "_MOST_ELEMENTS", 99)
    with pytest.raises(UnsupportedVerilog, match=r"'a'.*262,144.*4,194,304.*1,048"):
        elaborated(text(ARRAYS["assign"][0], 100), tmp_path, "slang", "model")
    monkeypatch.setattr(bundles, "_MOST_ELEMENTS", 100)
    netlist = elaborated(text(ARRAYS["assign"][0], 100), tmp_path, "slang", "model")
    assert value_of(term_of(netlist, "model_out"), {"model_inp": 0x35}) == 8


def value(term: Term, row: dict[Term, int]) -> int:
    return int(evaluate([term], {t: np.array([row[t]], dtype=object) for t in leaves(term)})[0][0])


def depth(tree: Value) -> int:
    return 1 + max(depth(tree.low), depth(tree.high)) if isinstance(tree, Pieces) else 0


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(20))
def test_pieces_hold_what_was_assigned(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random assignments and choices between two values hold the same bits as integers."""
    monkeypatch.setattr(pieces, "_WIDE", seed % 4)
    chance, width = random.Random(seed), 67
    row: dict[Term, int] = {}

    def fresh(bits: int) -> tuple[Term, int]:
        term = var(bits, f"x{len(row)} of {seed}")
        row[term] = chance.getrandbits(bits)
        return term, row[term]

    first: list[tuple[Value, int]] = [fresh(width), fresh(width)]
    held = first
    for _ in range(60):
        which, low = chance.randrange(2), chance.randrange(width)
        term, number = fresh(chance.randint(1, width - low))
        tree, known = held[which]
        mask = ((1 << term.width) - 1) << low
        held = [held[0], held[1]]
        held[which] = assigned(tree, low, term), known & ~mask | number << low
        if chance.random() < 0.2:
            bit, one = fresh(1)
            held[1 - which] = chosen(bit, held[0][0], held[1][0]), held[0 if one else 1][1]
        for tree, known in held:
            assert value(whole(tree), row) == known
            low = chance.randrange(width)
            size = chance.randint(1, width - low)
            assert value(part(tree, low, size), row) == known >> low & ((1 << size) - 1)
    assert [value(whole(tree), row) for tree, _ in first] == [known for _, known in first]  # unchanged


def test_pieces_stay_balanced_and_shared() -> None:
    tree: Value = const(20_000, 0)
    for low in range(0, 20_000, 10):
        tree = assigned(tree, low, var(10, f"element {low}"))
    assert depth(tree) < 17
    assert lines(lambda: assigned(tree, 5_000, var(10, "another"))) < 800
    other = assigned(tree, 5_000, var(10, "another"))
    assert lines(lambda: chosen(var(1, "which"), tree, other)) < 800
    assert chosen(var(1, "which"), tree, tree) is tree


def test_marks_are_runs_of_bits() -> None:
    marks = Marks()
    for low, width in ((4, 2), (0, 3), (6, 1), (2, 1), (9, 2), (4, 1)):
        marks.add(low, width)
    assert list(marks.runs()) == [(0, 3), (4, 3), (9, 2)]
    assert marks.mask() == 0b110_0111_0111
    assert list(Marks().runs()) == [] and Marks().mask() == 0
