"""Write docs/map.md: every package and module of dais_verif, with the first sentence of its docstring.

python tools/map.py
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "map.md"

_HEAD = """# Map of the package

Data flows binary → program → {golden model, Verilog} → testbench → verdict, and the folders follow this flow. `program`
imports no other folder, and most others use it; `golden`, `emitter` and `prover` never import each other; `flows`
combines them, one use case per file; `record` defines the results and `report` shows them; `cli` is a thin client of
`flows`. `tests/unit/test_architecture.py` states what each folder may import.

`make map` writes this page from the docstrings of packages and modules. Do not edit it.
"""


def page(package: Path = ROOT / "dais_verif") -> str:
    """Return the page, as Markdown: a section for each package, with its modules in alphabetical order."""
    return _HEAD + "".join(_sections(package, ""))


def _sections(folder: Path, name: str) -> Iterator[str]:
    yield f"\n## {name or folder.name}\n\n{_summary(folder / '__init__.py')}\n"
    modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    if modules:
        yield "\n" + "".join(f"- `{path.stem}`: {_summary(path)}\n" for path in modules)
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield from _sections(inner, f"{name}/{inner.name}".lstrip("/"))


def _summary(path: Path) -> str:
    """Return the first paragraph of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
