"""The rows of a product have one sum in every order, and the order in which a netlist adds them is found."""

from __future__ import annotations

import random

import pytest
from support.random_graphs import table

from dais_verif.prover import terms as T
from dais_verif.prover.gates.aig import Aig
from dais_verif.prover.gates.bit_blasting import Word, blast
from dais_verif.prover.gates.miter import ProgramBits
from dais_verif.prover.gates.patterns import mixed
from dais_verif.prover.gates.product_rows import rows_of_products
from dais_verif.prover.gates.products import SIGN, Rows, product_columns
from dais_verif.prover.terms.node import make
from dais_verif.spec.program import Program, assemble

COUNT = 512
PATTERNS = [mixed(random.Random(place), COUNT) for place in range(32)]


@pytest.mark.parametrize("signs", ["ss", "su", "uu"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_product_is_right_whatever_the_order_of_its_rows(signs: str, turned: bool) -> None:
    """A product of 4 and 3 bits is right in every order of rows, even one that omits rows or names missing ones."""
    rng = random.Random(f"{signs} {turned}")
    variables = [T.var(4, "a"), T.var(3, "b")]
    a, b = (T.sext(x, 7) if sign == "s" else T.zext(x, 7) for x, sign in zip(variables, signs, strict=True))
    for _ in range(20):
        graph = Aig()
        bits = {x: [graph.input() for _ in range(x.width)] for x in variables}
        order = tuple(rng.sample([SIGN, *range(6)], rng.randrange(7)))
        (word,) = blast(graph, [make("mul", 7, (a, b))], bits, Rows(turned, order))
        tables = [table(graph, literal) for literal in word]
        for row in range(1 << 7):
            x, y = row & 15, row >> 4
            x, y = (x - 16 if signs[0] == "s" and x > 7 else x), (y - 8 if signs[1] == "s" and y > 3 else y)
            assert sum((t >> row & 1) << place for place, t in enumerate(tables)) == x * y % (1 << 7)


def product(kinds: str, factors: str = "ab") -> Program:
    one, two = kinds.split()
    lines = ["input a, b", f"a = {one}.0 input a", f"b = {two}.0 input b", f"p = s16.0 {factors[0]} * {factors[1]}"]
    return assemble("\n".join([*lines, "output p = p", ""]))


def bits_of(program: Program, aig: Aig, rows: Rows) -> ProgramBits:
    """Return the bits of ``program``, whose inputs are the first nodes of ``aig``; ``rows`` orders its product."""
    words: list[Word] = [[2 * (1 + place) for place in range(8)], [2 * (9 + place) for place in range(8)]]
    words = [word[: program.ops[index].type.width] for index, word in enumerate(words)]
    variables = [T.var(len(word), f"x{index}") for index, word in enumerate(words)]
    factors = [T.sext(variables[index], 16) for index in program.ops[2].operands]
    given = dict(zip(variables, words, strict=True))
    (word,) = blast(aig, [T.mul(factors[0], factors[1])], given, rows)
    return ProgramBits(program, words, [*words, word], [word], [], [], [0, 0, 0], len(aig))


def found(program: Program, rows: Rows) -> Rows:
    """Return the order of rows that is found in a netlist that adds its product as ``rows`` says."""
    graph = Aig()
    for _ in range(16):
        graph.input()
    bits = bits_of(program, graph, Rows())
    netlist = bits_of(program, graph, rows).outputs[0]
    return rows_of_products(bits, graph, netlist, PATTERNS[:16], COUNT)[2].rows


def threes(program: Program, rows: Rows) -> list[list[set[int]]]:
    """Return the rows of each column in the groups of three that are added first; order within three is free."""
    graph = Aig()
    a, b = ([graph.input() for _ in range(program.ops[index].type.width)] for index in program.ops[2].operands)
    a, b = (word + word[-1:] * (16 - len(word)) for word in (a, b))
    found = []
    for column in product_columns(graph, a, b, turned=rows.turned):
        order = rows.sort({row: row for row in column})
        found.append([set(order[first : first + 3]) for first in range(0, len(order), 3)])
    return found


@pytest.mark.parametrize(
    ("kinds", "rows"),
    [
        ("s8 s8", Rows()),
        ("s8 s7", Rows(turned=True)),
        ("s8 s7", Rows(order=(SIGN, 2, 3, 1, 0))),
        ("s8 s8", Rows(order=(3, 4, 5, 0, 1, 2))),
        ("s8 s8", Rows(turned=True, order=(SIGN, 0, 1, 5, 6, 7, 2, 3, 4))),
    ],
    ids=str,
)
def test_the_order_of_a_netlist_is_found(kinds: str, rows: Rows) -> None:
    program = product(kinds)
    seen = found(program, rows)
    assert seen.turned == rows.turned
    assert threes(program, seen) == threes(program, rows)
    assert seen == rows or threes(program, Rows(rows.turned)) != threes(program, rows), "or nothing was to be found"


def test_the_order_of_the_factors_of_an_op_says_nothing() -> None:
    for factors in ("ab", "ba"):
        assert found(product("s8 s8", factors), Rows(turned=True)).turned


def test_nothing_is_looked_for_where_there_is_no_product() -> None:
    program = assemble("input a, b\na = s8.0 input a\nb = s8.0 input b\np = s9.0 a + b\noutput p = p\n")
    words = [[2 * place + 2 for place in range(8)], [2 * place + 18 for place in range(8)]]
    graph = Aig()
    for _ in range(16):
        graph.input()
    bits = ProgramBits(program, words, [*words, words[0]], [words[0]], [], [], [0, 0, 0], 0)
    assert rows_of_products(bits, graph, words[0], PATTERNS[:16], COUNT) == {}
