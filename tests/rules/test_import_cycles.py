"""There are no import cycles, including imports in functions: each module can be understood after those it imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from support.sources import files, module_name, tree


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the names that ``node`` imports, at any depth, without those that are imported for types only."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.orelse:
            yield from imported(child)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield f"{node.module}.{alias.name}"
    for child in ast.iter_child_nodes(node):
        yield from imported(child)


def cycle(sources: Mapping[str, ast.Module]) -> list[str]:
    """Return the modules of a cycle in ``sources``, by module names; empty if there is none."""
    graph = {}
    for name, source in sources.items():
        found = (x if x in sources else x.rpartition(".")[0] for x in imported(source))
        graph[name] = {x for x in found if x in sources and x != name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycle({module_name(path): tree(path) for path in files()}) == []


def test_a_cycle_is_seen_within_functions_and_not_where_types_alone_are_meant() -> None:
    user = ast.parse("from a.low import f\n")
    lazy = "def f():\n    from a import high\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.high import T\n"
    for low in (lazy, typed + "else:\n    import a.high\n"):
        assert set(cycle({"a.high": user, "a.low": ast.parse(low)})) == {"a.high", "a.low"}
    assert cycle({"a.high": user, "a.low": ast.parse(typed)}) == []
