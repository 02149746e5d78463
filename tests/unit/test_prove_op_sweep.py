"""In the sweep op by op, all merged nodes are equal for all inputs, and equal logic of other structure is found."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import programs
from support.tier import examples

from dais_verif.prover.boundary import Boundary
from dais_verif.prover.gates import op_sweep as op_question
from dais_verif.prover.gates.aig import Aig
from dais_verif.prover.gates.miter import ProgramBits
from dais_verif.prover.gates.op_sweep import ProvedBits, sweep_ops
from dais_verif.prover.gates.patterns import mixed, simulate, value_of
from dais_verif.prover.lemmas import Assumptions
from dais_verif.spec.program import Program, assemble

NETWORK = """
input a, b, c
a = s4.0 input a
b = s4.0 input b
c = s4.0 input c
p = s5.0 a + b
q = s6.0 p - c
r = u5.0 relu(q)
s = s7.0 r + p
t = s8.0 s - b
output q = q
output t = t
output s = s
"""


def graph_of(program: Program) -> tuple[Aig, ProgramBits]:
    graph, boundary = Aig(), Boundary.of_program(program)
    return graph, ProgramBits.of(program, boundary, Assumptions(program, boundary.inputs, False), graph, {})


def rewritten(graph: Aig, literals: list[int], rng: random.Random, faults: float) -> list[int]:
    """Return the same logic built from other gates, a share ``faults`` of which is wrong."""
    at: dict[int, int] = {}
    for node in sorted(graph.behind(literals)):
        low, high = graph.low[node], graph.high[node]
        if low < 0:
            at[node] = 2 * node
            continue
        a, b = at[low >> 1] ^ low & 1, at[high >> 1] ^ high & 1
        b ^= rng.random() < faults
        forms = (
            lambda a=a, b=b: graph.both(a, b),
            lambda a=a, b=b: graph.both(a, graph.either(a ^ 1, b)),
            lambda a=a, b=b: graph.both(b, graph.differ(a, b) ^ 1),
            lambda a=a, b=b: graph.both(graph.both(a, b), graph.either(a, b)),
        )
        at[node] = rng.choice(forms)()
    return [at[literal >> 1] ^ literal & 1 for literal in literals]


def patterns_of(graph: Aig, rng: random.Random) -> tuple[list[int], int]:
    """Return patterns of all inputs and their number: every combination, or 4,096 mixed ones."""
    inputs = sum(low < 0 for low in graph.low) - 1
    if inputs > 12:
        return [mixed(rng, 4096) for _ in range(inputs)], 4096
    rows = range(1 << inputs)
    return [sum((row >> place & 1) << row for row in rows) for place in range(inputs)], 1 << inputs


def swept(program: Program, seed: int, faults: float, few: int) -> tuple[Aig, list[tuple[int, int]], ProvedBits]:
    """Sweep a netlist of ``program`` with a share of ``faults`` on ``few`` patterns.

    Return the graph, pairs of an output bit of the netlist and the same bit of the program, and the proved bits.
    """
    rng = random.Random(seed)
    graph, bits = graph_of(program)
    wanted = [bit for word in bits.outputs for bit in word]
    netlist = rewritten(graph, wanted, rng, faults)
    inputs = [mixed(rng, few) for low in graph.low[1:] if low < 0]
    values = simulate(graph, inputs, few)
    proved = sweep_ops(bits, graph, netlist, values, few, {}, lambda done, total: None)
    return graph, list(zip(netlist, wanted, strict=True)), proved


def wrong_merges(graph: Aig, proved: ProvedBits, seed: int) -> list[int]:
    inputs, count = patterns_of(graph, random.Random(f"other {seed}"))
    values = simulate(graph, inputs, count)
    return [node for node, literal in proved.merged.items() if values[node] != value_of(values, literal, count)]


@pytest.mark.parametrize("seed", range(4))
def test_a_netlist_of_other_gates_is_proved(seed: int) -> None:
    graph, outputs, proved = swept(assemble(NETWORK), seed, 0, 1024)
    assert len(proved.merged) > 40
    # If many nodes are equal, only the nearest are tried; the sweep gate by gate merges the others.
    assert sum(proved.at(found) == proved.at(wanted) for found, wanted in outputs) >= 0.9 * len(outputs)
    assert wrong_merges(graph, proved, seed) == []


@settings(max_examples=examples(8), deadline=None)
@given(programs(), st.integers(0, 1 << 30), st.sampled_from([0, 0.01, 0.1]), st.sampled_from([4, 64]))
def test_what_is_merged_is_equal(made: tuple[Program, random.Random], seed: int, faults: float, few: int) -> None:
    """Merged nodes are equal, even with few patterns, where most questions are about nodes that only look equal."""
    graph, _, proved = swept(made[0], seed, faults, few)
    assert wrong_merges(graph, proved, seed) == []


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(12))
def test_no_fault_is_merged_away(seed: int) -> None:
    program = assemble(NETWORK)
    graph, outputs, proved = swept(program, seed, 0.02, 8)
    inputs, count = patterns_of(graph, random.Random(seed))
    values = simulate(graph, inputs, count)
    for found, wanted in outputs:
        if value_of(values, found, count) != value_of(values, wanted, count):
            assert proved.at(found) != proved.at(wanted)
    assert wrong_merges(graph, proved, seed) == []


def test_a_solver_that_finds_no_difference_anywhere_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(op_question.OpQuestion, "_solved", lambda self, assumed: False)
    graph, _, proved = swept(assemble(NETWORK), 1, 0.05, 4)
    assert wrong_merges(graph, proved, 1)


def test_what_does_not_depend_on_a_large_product_is_found_behind_one() -> None:
    """SAT is not tried on the product or on the sum that reads it; the other bits are proved as usual."""
    program = assemble(
        "input a, b\na = s8.0 input a\nb = s8.0 input b\np = s16.0 a * b\nq = s17.0 p + a\nr = s9.0 a + b\n"
        "s = s10.0 r - a\noutput q = q\noutput s = s\n"
    )
    graph, outputs, proved = swept(program, 0, 0, 1024)
    found = [proved.at(found) == proved.at(wanted) for found, wanted in outputs]
    assert all(found[-10:]) and not all(found[:17])
    assert wrong_merges(graph, proved, 0) == []


def test_ranges_are_proved() -> None:
    """The types of ``c`` and ``d`` are wider than their values; the upper bits are proved to be copies of the sign."""
    program = assemble("input a\na = s3.0 input a\nb = s4.0 a + a\nc = s9.0 b + a\nd = s12.0 c + c\noutput d = d\n")
    _, outputs, proved = swept(program, 0, 0, 256)
    assert set(proved.ranges) >= {2, 3}
    assert all(proved.at(found) == proved.at(wanted) for found, wanted in outputs)


def test_a_class_stands_for_its_smallest_node_and_first_op() -> None:
    program = assemble("input a\na = s2.0 input a\nb = s3.0 a + a\noutput b = b\n")
    graph, bits = graph_of(program)
    proved = ProvedBits(graph, bits)
    a, b = bits.ops[0][0], bits.ops[1][-1]
    other = graph.input()
    proved.merge(other ^ 1, b)
    proved.merge(b, a)
    assert proved.at(other) == proved.at(b) ^ 1 == a ^ 1 or proved.at(other) == min(a, b) ^ 1
    assert proved.owner[min(a, b) >> 1] == 0
    assert set(proved.points(other)) == {a >> 1, b >> 1, other >> 1}
    proved.merge(other, a ^ 1)
    assert len(proved.merged) == 2
