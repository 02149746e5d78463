"""Strongly connected components equal those that a search from every node finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dais_verif.prover.clocked.registers.control_inference import find_sccs


def reached(following: dict[int, list[int]], start: int) -> set[int]:
    """Return the nodes that can be reached from ``start`` by at least one step."""
    found: set[int] = set()
    waiting = list(following.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(following.get(node, ()))
    return found


@given(st.dictionaries(st.integers(0, 11), st.lists(st.integers(0, 13), max_size=3), max_size=12))
def test_two_nodes_have_one_number_if_they_reach_each_other(following: dict[int, list[int]]) -> None:
    found = find_sccs(following)
    paths = {node: reached(following, node) for node in range(14)}
    assert set(found) == {node for node in paths if node in paths[node]}
    for a in found:
        for b in found:
            assert (found[a] == found[b]) == (b in paths[a] and a in paths[b])


def test_a_path_as_long_as_a_program_has_none() -> None:
    assert find_sccs({n: [n + 1] for n in range(100_000)}) == {}
    assert len(find_sccs({n: [(n + 1) % 100_000] for n in range(100_000)})) == 100_000
