"""Products with another structure than the program's are proved word by word, and faults in them are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.arithmetic_circuits import adder, inputs, multiplier, verilog

from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.bit_blasting import Word
from dais_verif.spec.program import Program, assemble

WIDTH = 12


def program(*outputs: str) -> Program:
    lines = ["input a, b, c", *(f"{x} = u{WIDTH}.0 input {x}" for x in "abc")]
    return assemble("\n".join([*lines, *outputs, "output y = y", ""]))


PRODUCT = program(f"y = u{2 * WIDTH}.0 a * b")
SUM = program(f"p = u{2 * WIDTH}.0 a * b", f"q = u{2 * WIDTH}.0 b * c", f"y = u{2 * WIDTH + 1}.0 p + q")


def circuit(program: Program) -> tuple[Aig, list[Word], Word]:
    """Return a circuit of the program: one tree of adders for all partial products, in an order of its own."""
    graph = Aig()
    a, b, c = words = inputs(graph, WIDTH, WIDTH, WIDTH)
    pairs = [(a, b)] if program is PRODUCT else [(a, b), (b, c)]
    return graph, words, multiplier(graph, *pairs, width=2 * WIDTH + len(pairs) - 1, ahead=False)


def proved(program: Program, graph: Aig, words: list[Word], found: Word, folder: Path) -> Run:
    text = verilog(graph, "model", [bit for word in words for bit in word], found)
    (folder / "gates.v").write_text(text)
    return run_prove(program, folder, "--rtl", folder / "gates.v", "--top", "model", "--timeout", 5)


@pytest.mark.parametrize("program", [pytest.param(PRODUCT, marks=pytest.mark.slow), SUM], ids=["product", "sum"])
def test_products_of_another_structure_are_proved(program: Program, tmp_path: Path) -> None:
    run = proved(program, *circuit(program), tmp_path)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.statuses("output") == {0: "PROVED"} and not run.tree["conditional"]


def test_a_product_with_a_fault_is_never_proved(tmp_path: Path) -> None:
    graph, words, found = circuit(SUM)
    gate = max(node for node in range(len(graph)) if graph.low[node] >> 1 in {bit >> 1 for bit in words[0]})
    graph.high[gate] = FALSE + 1  # a partial product loses its bit of one factor
    run = proved(SUM, graph, words, found, tmp_path)
    assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]


def test_a_lemma_is_not_used_where_what_it_takes_for_granted_is_wrong(tmp_path: Path) -> None:
    """A product is refuted if a factor is wrong only if all its input bits are 1, which random patterns rarely hit."""
    graph = Aig()
    a, b, c = words = inputs(graph, WIDTH, WIDTH, WIDTH)
    sums = adder(graph, a, b, ahead=False)
    never = graph.all([*a, *b])
    right = multiplier(graph, (sums, c), width=2 * WIDTH + 1, ahead=False)
    wrong = multiplier(graph, ([sums[0], graph.differ(sums[1], never), *sums[2:]], c), width=2 * WIDTH + 1, ahead=False)
    of_a_sum = program(f"s = u{WIDTH + 1}.0 a + b", f"y = u{2 * WIDTH + 1}.0 s * c")
    (tmp_path / "wrong").mkdir()
    assert proved(of_a_sum, graph, words, right, tmp_path).ending == ("PASS", 0)
    assert proved(of_a_sum, graph, words, wrong, tmp_path / "wrong").ending == ("RTL_MISMATCH", 1)
