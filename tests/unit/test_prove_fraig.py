"""SAT sweeping: graphs, bit blasting, windows and the solver are checked against obvious references."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_graphs import random_graph, random_term, table
from support.tier import examples

from dais_verif.prover import terms as T
from dais_verif.prover.gates import fraig, sat_solver
from dais_verif.prover.gates.aig import FALSE, TRUE, Aig
from dais_verif.prover.gates.bit_blasting import blast
from dais_verif.prover.gates.fraig import Fraig
from dais_verif.prover.gates.patterns import columns, row_of, simulate, value_of
from dais_verif.prover.gates.sat_solver import SatSolver
from dais_verif.prover.gates.windows import Window, equal_by_table
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.prover.terms.node import make

ROWS = 64


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, 1 << 40), st.integers(1, 9))
def test_the_bits_of_a_term_are_its_value(seed: int, width: int) -> None:
    rng = random.Random(seed)
    term = random_term(rng, width, 4)
    graph = Aig()
    free = T.leaves(term)
    words = {t: [graph.input() for _ in range(t.width)] for t in free}
    values = {t: np.array([rng.getrandbits(t.width) for _ in range(ROWS)], dtype=object) for t in free}
    (found,) = blast(graph, [term], words)
    inputs = [sum((int(x) >> bit & 1) << n for n, x in enumerate(values[t])) for t in free for bit in range(t.width)]
    simulated = simulate(graph, inputs, ROWS)
    (wanted,) = evaluate([term], values)
    bits = [value_of(simulated, literal, ROWS) for literal in found]
    for n in range(ROWS):
        assert sum((bit >> n & 1) << place for place, bit in enumerate(bits)) == int(wanted[n % len(wanted)]), term


def test_a_gate_is_made_once_and_inverters_do_not_count() -> None:
    graph = Aig()
    a, b = graph.input(), graph.input()
    assert graph.both(a, b) == graph.both(b, a)
    assert graph.differ(a, b) == graph.differ(b, a) == graph.differ(a ^ 1, b) ^ 1
    assert (graph.both(a, a ^ 1), graph.either(a, TRUE), graph.choice(a, b, b)) == (FALSE, TRUE, b)
    assert table(graph, graph.sum(a, b, TRUE)[1]) == 0b1110


@given(st.lists(st.integers(0, 2**20 - 1), min_size=1, max_size=50))
def test_patterns_are_turned_and_turned_back(rows: list[int]) -> None:
    turned = columns(rows, 20)
    assert [row_of(turned, place) for place in range(len(rows))] == rows


@pytest.mark.parametrize("forgetful", [False, True], ids=["learning", "forgetful"])
@pytest.mark.parametrize("inputs", [5, 10])
@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 1 << 40))
def test_tables_and_solver_know_what_is_equal(inputs: int, forgetful: bool, seed: int) -> None:
    """With 10 inputs, a sample is tried before the table; a forgetful solver restarts for most questions."""
    rng = random.Random(seed)
    graph, literals = random_graph(rng, inputs)
    with pytest.MonkeyPatch.context() as patch:
        if forgetful:
            patch.setattr(sat_solver, "_LEAST", 1)
            patch.setattr(sat_solver, "_TIMES", 1)
        solver = SatSolver(graph)
        for _ in range(20):
            a, b = (rng.choice(literals) ^ rng.getrandbits(1) for _ in range(2))
            equal = table(graph, a) == table(graph, b)
            window = Window(graph, a >> 1, b >> 1)
            window.grow(len(graph))
            assert window.whole and equal_by_table(graph, window, a, b, 1 << 20) == equal
            answer = solver.differ(a, b, 10_000)
            assert answer.found == (not equal)
            if answer.found:
                row = sum(1 << place for place in range(inputs) if place + 1 in answer.ones)
                assert table(graph, a) >> row & 1 != table(graph, b) >> row & 1
            small = Window(graph, a >> 1, b >> 1)
            small.grow(rng.randrange(6))
            assert equal or not equal_by_table(graph, small, a, b, 1 << 20), "over a cut nothing is equal that is not"


def test_a_rare_difference_is_in_no_sample_but_in_the_table() -> None:
    graph = Aig()
    bits = [graph.input() for _ in range(18)]
    rare = graph.all(bits)
    window = Window(graph, rare >> 1)
    window.grow(len(graph))
    assert not equal_by_table(graph, window, rare, FALSE, 1 << 30)


def test_the_solver_forgets_what_it_needs_no_more() -> None:
    graph, rng = Aig(), random.Random(0)
    words = [[graph.input() for _ in range(8)] for _ in range(100)]
    products = [
        blast(graph, [make("mul", 8, (T.var(8, "a"), T.var(8, "b")))], {T.var(8, "a"): w, T.var(8, "b"): v})[0]
        for w, v in zip(words[::2], words[1::2], strict=True)
    ]
    solver = SatSolver(graph)
    for word in products:
        assert solver.differ(word[-1], word[rng.randrange(7)], 10_000).found
    assert solver.known < len(graph) // 2


def test_the_solver_takes_things_for_granted_in_one_question_only() -> None:
    graph = Aig()
    a, b = graph.input(), graph.input()
    both = graph.both(a, b)
    solver = SatSolver(graph)
    assert solver.differ_within(both, a, [b], 10).found is False
    answer = solver.differ(both, a, 1000)
    assert answer.found and answer.ones == {a >> 1}
    assert solver.differ_within(both, a, [b ^ 1, a], 10).found is True
    assert solver.differ_within(both, FALSE, [b ^ 1], 10).found is False


def swept(graph: Aig, literals: Sequence[int], rng: random.Random, count: int = 4) -> Fraig:
    bits = sum(low < 0 for low in graph.low) - 1
    first = [rng.getrandbits(count) for _ in range(bits)]
    return Fraig(graph, literals, first, count, lambda node: (), 0, lambda done, total: None)


def wrong_merges(seed: int) -> list[int]:
    """Return literals that a sweep of a random graph changed; assert that all equal literals are merged."""
    rng = random.Random(seed)
    graph, literals = random_graph(rng, gates=60)
    sweep = swept(graph, literals, rng)
    before, after = ({t: table(g, at(t)) for t in literals} for g, at in ((graph, int), (sweep.new, sweep.at)))
    wrong = [t for t in literals if before[t] != after[t]]
    for a in literals:
        for b in literals:
            assert wrong or before[a] != before[b] or sweep.at(a) == sweep.at(b)
    return wrong


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 1 << 40))
def test_nothing_changes_and_all_that_is_equal_is_merged(seed: int) -> None:
    assert wrong_merges(seed) == []


def test_that_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fraig, "equal_by_table", lambda *arguments: True)
    assert any(wrong_merges(seed) for seed in range(10))


def test_a_sum_in_another_order_is_merged_though_few_patterns_tell_anything_apart() -> None:
    graph = Aig()
    rng = random.Random(3)
    words = {name: [graph.input() for _ in range(12)] for name in "abc"}
    a, b, c = (T.var(12, name) for name in "abc")
    terms = [
        make("add", 12, (make("add", 12, (a, b), 0), c), 0),
        make("add", 12, (a, make("add", 12, (c, b), 0)), 0),
    ]
    x, y = blast(graph, terms, {T.var(12, name): word for name, word in words.items()})
    sweep = swept(graph, [*x, *y], rng, 2)
    assert sweep.merged and [sweep.at(bit) for bit in x[:6]] == [sweep.at(bit) for bit in y[:6]]


@pytest.mark.parametrize("signs", ["ss", "su", "us", "uu"])
@pytest.mark.parametrize("width", [4, 7, 9])
def test_a_product_is_right_for_all_factors(width: int, signs: str) -> None:
    """Products of factors of 4 and 3 bits are right in words that hold the product and in words that do not."""
    graph = Aig()
    variables = [T.var(4, "a"), T.var(3, "b")]
    bits = {x: [graph.input() for _ in range(x.width)] for x in variables}
    a, b = (T.sext(x, width) if sign == "s" else T.zext(x, width) for x, sign in zip(variables, signs, strict=True))
    (word,) = blast(graph, [make("mul", width, (a, b))], bits)
    tables = [table(graph, literal) for literal in word]
    for row in range(1 << 7):
        x, y = row & 15, row >> 4
        x, y = (x - 16 if signs[0] == "s" and x > 7 else x), (y - 8 if signs[1] == "s" and y > 3 else y)
        assert sum((t >> row & 1) << place for place, t in enumerate(tables)) == x * y % (1 << width)
