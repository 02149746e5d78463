"""Within a module, a class name denotes one class: no module defines or imports two public classes of the same name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import dais_verif

PACKAGE = Path(dais_verif.__file__).parent


def sources() -> dict[str, str]:
    """Return the text of every module of the package, by module name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text()
    return found


def meetings(modules: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each module that defines or imports two classes of one name, with that name; re-exports are followed."""
    trees = {name: ast.parse(text) for name, text in modules.items()}
    defined = {
        (name, node.name): (name, node.name)
        for name, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }
    imported = {
        (name, alias.asname or alias.name, alias.name): (node.module, alias.name)
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def origin(module: str, symbol: str) -> tuple[str, str] | None:
        seen = set()
        while (module, symbol) not in defined:
            seen.add((module, symbol))
            behind = imported.get((module, symbol, symbol))
            if behind is None or behind in seen:
                return None
            module, symbol = behind
        return module, symbol

    met = defaultdict[tuple[str, str], set[tuple[str, str]]](set)
    for module, symbol in defined:
        met[module, symbol].add((module, symbol))
    for (module, _, _), (source, symbol) in imported.items():
        if (found := origin(source, symbol)) is not None:
            met[module, found[1]].add(found)
    return (place for place, classes in met.items() if len(classes) > 1)


def test_no_module_meets_two_classes_of_one_name() -> None:
    assert list(meetings(sources())) == []


def test_two_classes_of_one_name_are_seen() -> None:
    """Two classes of one name are found in a module that defines one and imports the other.

    They are also found if it imports both, under another name, or by way of a package that re-exports one.
    """
    one, other = "class Design: ...", "class Design: ...\nclass _Own: ..."
    modules = {
        "a": one,
        "b": other,
        "package": "from b import Design",
        "beside": "from a import Design as Other\nclass Design: ...",
        "both": "from a import Design\ndef f():\n    from package import Design as Second",
        "same": "from b import Design\nfrom package import Design as Again",
        "one": "from a import Design",
    }
    assert list(meetings(modules)) == [("beside", "Design"), ("both", "Design")]
