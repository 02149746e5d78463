"""Polynomials of gates, the meaning of terms, and the equalities found for them are right on all inputs."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.arithmetic_circuits import adder, inputs, multiplier
from support.random_graphs import random_graph, random_term, table
from support.tier import examples

from dais_verif.prover import terms as T
from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.algebra import Gates, Polynomial, _Rest, holds, meaning_of, number_of, plus, single, times
from dais_verif.prover.gates.bit_blasting import Word, blast
from dais_verif.prover.gates.patterns import mixed, simulate, value_of

SEEDS = st.integers(0, 1 << 40)


def values_of(graph: Aig, polynomial: Polynomial) -> list[int]:
    """Return the values of a polynomial on all inputs, from the tables of its nodes."""
    rows = 1 << (sum(low < 0 for low in graph.low) - 1)
    tables = {node: table(graph, 2 * node) for monomial in polynomial for node in monomial}
    return [
        sum(c for monomial, c in polynomial.items() if all(tables[node] >> row & 1 for node in monomial))
        for row in range(rows)
    ]


def word_values(graph: Aig, word: Sequence[int]) -> list[int]:
    return values_of(graph, number_of(list(word)).polynomial)


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS)
def test_every_gate_is_the_sum_that_it_is_said_to_be(seed: int) -> None:
    graph, literals = random_graph(random.Random(seed))
    gates = Gates(graph, literals, 0)
    for node in range(1, len(graph)):
        rank, said = gates.rank(node), gates.sum_of(node)
        if said is not None:
            assert all(gates.rank(other) < rank for monomial in said for other in monomial), "or it never ends"
            assert values_of(graph, said) == values_of(graph, single(2 * node))


def faulty(graph: Aig, literals: Sequence[int], rng: random.Random) -> tuple[Aig, Word]:
    """Return a copy of the graph in which one operand of one gate is another literal."""
    copy, at = Aig(), [0]
    gates = [node for node in range(1, len(graph)) if graph.low[node] >= 0]
    victim = rng.choice(gates)
    for node in range(1, len(graph)):
        if graph.low[node] < 0:
            at.append(copy.input())
            continue
        low, high = (at[x >> 1] ^ x & 1 for x in (graph.low[node], graph.high[node]))
        if node == victim:
            low = rng.choice((low ^ 1, at[rng.randrange(node)] ^ rng.getrandbits(1), FALSE, low | 1))
        at.append(copy.both(low, high))
    return copy, [at[x >> 1] ^ x & 1 for x in literals]


def test_sums_and_products_hold_whatever_they_are_built_of() -> None:
    for width in (1, 2, 5, 16):
        graph = Aig()
        a, b = inputs(graph, width, width)
        total = plus(number_of(a).polynomial, number_of(b).polynomial)
        assert holds(graph, adder(graph, a, b, ahead=False), total, 0)
        assert holds(graph, adder(graph, a, b, ahead=True), total, 0)
        product = times(number_of(a).polynomial, number_of(b).polynomial)
        assert holds(graph, multiplier(graph, (a, b), width=len(a) + len(b), ahead=True), product, 0)
        assert width > 5 or not holds(
            graph, multiplier(graph, (a, b), width=len(a) + len(b), ahead=True), plus(product, total), 0
        )


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS)
def test_a_fault_is_proved_only_where_it_is_none(seed: int) -> None:
    rng = random.Random(seed)
    graph = Aig()
    a, b = inputs(graph, 3, 3)
    word = (
        multiplier(graph, (a, b), width=len(a) + len(b), ahead=True)
        if rng.random() < 0.7
        else adder(graph, a, b, ahead=True)
    )
    wanted = word_values(graph, word)
    copy, changed = faulty(graph, word, rng)
    polynomial = times(number_of(a).polynomial, number_of(b).polynomial)
    if len(word) == 4:
        polynomial = plus(number_of(a).polynomial, number_of(b).polynomial)
    assert not holds(copy, changed, polynomial, 0) or word_values(copy, changed) == wanted


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, st.integers(1, 6))
def test_a_term_holds_the_number_that_it_is_said_to_mean(seed: int, width: int) -> None:
    term = random_term(random.Random(seed), width, 3)
    graph = Aig()
    free = T.leaves(term)
    if sum(t.width for t in free) > 9:
        return
    words = {t: [graph.input() for _ in range(t.width)] for t in free}
    number = meaning_of(term, {t: number_of(word) for t, word in words.items()}, lambda t: blast(graph, [t], words)[0])
    (bits,) = blast(graph, [term], words)
    found = values_of(graph, number.polynomial)
    assert all(number.least <= value <= number.most for value in found)
    assert [value % (1 << width) for value in found] == word_values(graph, bits)


@pytest.mark.parametrize(("bits", "ahead"), [(16, True), (24, False)])
def test_what_is_said_of_wide_products_is_so_on_random_values(bits: int, ahead: bool) -> None:
    graph = Aig()
    a, b = inputs(graph, bits, bits)
    word = multiplier(graph, (a, b), width=2 * bits, ahead=ahead)
    gates = Gates(graph, word, 0)
    said = {node: gates.sum_of(node) for node in sorted(graph.behind(word))}
    rng = random.Random(bits)
    patterns = [mixed(rng, 256) for _ in range(2 * bits)]
    values = simulate(graph, patterns, 256)
    assert sum(polynomial is not None for polynomial in said.values()) > len(said) // 2
    for row in range(0, 256, 8):
        x, y = (sum((patterns[place + at] >> row & 1) << place for place in range(bits)) for at in (0, bits))
        assert sum((value_of(values, bit, 256) >> row & 1) << place for place, bit in enumerate(word)) == x * y
        for node, polynomial in said.items():
            if polynomial is not None:
                total = sum(c for monomial, c in polynomial.items() if all(values[n] >> row & 1 for n in monomial))
                assert total == values[node] >> row & 1


@settings(max_examples=examples(200), deadline=None)
@given(SEEDS)
def test_a_product_keeps_its_value_without_what_others_imply(seed: int) -> None:
    rng = random.Random(seed)
    graph, _ = random_graph(rng)
    nodes = [node for node, low in enumerate(graph.low) if low >= 0]
    if len(nodes) < 2:
        return
    rest = _Rest(Gates(graph, [2 * node for node in nodes], seed), 4)
    everything = list(range(1, len(graph)))
    for _ in range(20):
        product = frozenset(rng.sample(everything, min(rng.randint(2, 4), len(everything))))
        simpler = rest._simplified(product)
        found = [0] * len(values_of(graph, {product: 1})) if simpler is None else values_of(graph, {simpler: 1})
        assert found == values_of(graph, {product: 1})
