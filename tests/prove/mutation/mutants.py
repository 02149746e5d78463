"""Make mutants of the prover's own code with the operators of cosmic-ray, each with one change at one place.

A mutant is named by its module, its function, and the old and new lines, so that edits elsewhere do not change the
name. Annotations are not mutated, since nothing evaluates them.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.operators.provider import OperatorProvider

__all__ = ["MODULES", "Mutant", "Spans", "modules_of", "mutant_in", "mutants_of", "sample", "span"]

#: The starts and the ends of parts of a source: lines and columns.
Spans = Iterator[tuple[tuple[int, int], tuple[int, int]]]

#: The modules that decide whether a proof is right: readers, registers, control, claims, comparisons. A / ends a
#: folder.
MODULES = (
    "slang/",
    "yosys/",
    "terms/",
    "clocked/registers/",
    "cross_check.py",
    "boundary.py",
    "four_state.py",
    "obligations.py",
    "signal_correspondence.py",
    "solve/discharge.py",
)

#: Operators that need the name of a variable as argument.
_UNNAMED = {"VariableReplacer", "VariableInserter"}

_PROVIDER = OperatorProvider()
_OPERATORS = {name: _PROVIDER[name]() for name in _PROVIDER if name not in _UNNAMED}


class Mutant(NamedTuple):
    """A mutant; ``lines``: the first and the last line of the statement; ``text``: the whole module with the change."""

    module: str
    function: str
    operator: str
    old: str
    new: str
    lines: tuple[int, int]
    text: str

    @property
    def key(self) -> str:
        """Return the key of the mutant, which does not depend on edits elsewhere."""
        return f"{self.module}: {self.function}: {self.old!r} -> {self.new!r}"


class _Place(NamedTuple):
    """Occurrence number ``occurrence`` of an operator."""

    operator: str
    occurrence: int


def modules_of(folder: Path) -> list[str]:
    """Return the modules below ``folder``, the prover, that are mutated."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    return sorted(name for name in found if any(name == m or (m.endswith("/") and name.startswith(m)) for m in MODULES))


def sample(folder: Path, count: int, seed: int) -> list[Mutant]:
    """Return ``count`` different mutants: for each, a random place in the sources and a random change there."""
    rng = random.Random(seed)
    sources = {name: (folder / name).read_text() for name in modules_of(folder)}
    places = [(name, changes) for name, source in sources.items() for changes in _places(source)]
    found: dict[str, Mutant] = {}
    rng.shuffle(places)
    for name, changes in places:
        if len(found) == count:
            break
        mutant = _mutant(name, sources[name], rng.choice(changes))
        if mutant is not None:
            found[mutant.key] = mutant
    return list(found.values())


def _nothing(tree: ast.Module) -> Spans:
    return iter(())


def mutant_in(
    module: str, source: str, rng: random.Random, but: Callable[[ast.Module], Spans] = _nothing
) -> Mutant | None:
    """Return a mutant of ``source`` at a random place, not in what ``but`` yields; None if the change there is none."""
    places = _places(source, but)
    return _mutant(module, source, rng.choice(rng.choice(places))) if places else None


def mutants_of(module: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of ``source``."""
    for changes in _places(source):
        for place in changes:
            mutant = _mutant(module, source, place)
            if mutant is not None:
                yield mutant


@lru_cache(1000)
def _places(source: str, but: Callable[[ast.Module], Spans] = _nothing) -> list[list[_Place]]:
    """Return the possible changes, grouped by the characters that they change."""
    tree = ast.parse(source)
    left_alone = [*_left_alone(tree), *but(tree)]
    seen = dict.fromkeys(_OPERATORS, 0)
    places: dict[tuple[tuple[int, int], tuple[int, int]], list[_Place]] = {}
    for node in ast_nodes(get_ast(source)):
        if node.type in ("name", "newline", "endmarker"):
            continue
        for name, operator in _OPERATORS.items():
            for start, end in operator.mutation_positions(node):
                if not any(first <= start < last for first, last in left_alone):
                    places.setdefault((start, end), []).append(_Place(name, seen[name]))
                seen[name] += 1
    return list(places.values())


def _left_alone(tree: ast.Module) -> Spans:
    """Yield the start and the end of annotations and of type aliases."""
    for node in ast.walk(tree):
        found: list[ast.AST | None] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Assign) and node in tree.body and isinstance(node.value, (ast.Subscript, ast.BinOp)):
            found.append(node.value)
        for part in found:
            if isinstance(part, ast.expr):
                yield span(part)


def span(node: ast.stmt | ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the start and the end of ``node``."""
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _mutant(module: str, source: str, place: _Place) -> Mutant | None:
    """Return the mutant, or None if it is not valid Python or equal to the original."""
    text = MutationVisitor.mutate_code(source, _OPERATORS[place.operator], place.occurrence)
    if text is None:
        return None
    try:
        if ast.dump(ast.parse(text)) == ast.dump(ast.parse(source)):
            return None
        compile(text, module, "exec")
    except SyntaxError:
        return None
    before, after = source.splitlines(), text.splitlines()
    first = next(n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    behind = next(n for n, (a, b) in enumerate(zip(before[::-1], after[::-1], strict=False)) if a != b)
    last = max(len(before) - behind, first + 1)
    old, new = (_joined(lines) for lines in (before[first:last], after[first : len(after) - len(before) + last]))
    function, lines = _around(ast.parse(source), first + 1)
    return Mutant(module, function, place.operator, old, new, lines, text)


def _joined(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())


def _around(tree: ast.Module, line: int) -> tuple[str, tuple[int, int]]:
    """Return the path of the function or class at ``line``, and the lines of its statement, or of a block's head."""
    path: list[str] = []
    lines = line, line
    for node in ast.walk(tree):  # outer nodes come before inner ones
        if not isinstance(node, (ast.stmt, ast.ExceptHandler)):
            continue
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        last = node.end_lineno or first
        if first <= line <= last:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                path.append(node.name)
            body = getattr(node, "body", None)
            lines = first, last if body is None else max(body[0].lineno - 1, first)
    return ".".join(path) or "module", lines if lines[0] <= line <= lines[1] else (line, line)
