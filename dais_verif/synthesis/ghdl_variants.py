"""Entities with generics of which GHDL's synthesis loses one: it names them and, among hundreds, does not write them.

Each variant of an entity is a module called by the values of all of its generics: ``adder_9_0_1``. One that is used and
not there is synthesized on its own, with these values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

__all__ = ["lost_variants", "with_lost_variants"]

_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
_INSTANCE = re.compile(r"^  (\w+) \S+ \($", re.MULTILINE)
_ENTITY = re.compile(r"\bentity\s+(\w+)\s+is\s+generic\s*\((.*?)\)\s*;\s*port\b", re.DOTALL | re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*")
#: Names of integers, in the order in which they are declared.
_GENERIC = re.compile(r"([\w\s,]+?)\s*:\s*(?:integer|natural|positive)\b[^;]*(?:;|\Z)", re.IGNORECASE)

#: From an entity and the values of its generics to the text that GHDL's synthesis gives.
Synthesize = Callable[[str, dict[str, int]], str]


def with_lost_variants(text: str, sources: Sequence[Path], synthesize: Synthesize) -> str:
    """Return ``text`` and the modules that it lacks, as ``synthesize`` gives them. ``sources``: in VHDL."""
    for name, entity, values in list(lost_variants(text, sources)):
        module = _renamed(synthesize(entity, values).lower(), entity, name)
        text = text if module is None else f"{text}\n{module}"
    return text


def _generics(sources: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Return the names of the generics of each entity, in lower case, if all are integers."""
    found: dict[str, tuple[str, ...]] = {}
    for source in sources:
        text = _COMMENT.sub("", source.read_text(encoding="latin-1")).lower()
        for entity, declared in _ENTITY.findall(text):
            parts = [_GENERIC.fullmatch(part.strip()) for part in declared.split(";") if part.strip()]
            if all(part is not None for part in parts):
                found[entity] = tuple(name for part in parts if part for name in re.findall(r"\w+", part[1]))
    return found


def lost_variants(text: str, sources: Sequence[Path]) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Yield the modules that ``text`` uses and lacks: each with its entity and the values of that one's generics.

    None that the sources name themselves: that is a component without an entity, which computes nothing.
    """
    lost = sorted({*_INSTANCE.findall(text)} - {*_MODULE.findall(text)})
    if not lost:
        return
    generics = _generics(sources)
    texts = [source.read_text(encoding="latin-1").lower() for source in sources]
    for name in (name for name in lost if not any(name in source for source in texts)):
        for entity, names in generics.items():
            values = name.removeprefix(f"{entity}_").split("_")
            if name.startswith(f"{entity}_") and len(values) == len(names) and all(map(str.isdecimal, values)):
                yield name, entity, dict(zip(names, map(int, values), strict=True))


def _renamed(text: str, entity: str, name: str) -> str | None:
    """Return the one module ``entity`` of ``text`` under the name ``name``; None if there is not exactly that."""
    if _MODULE.findall(text) != [entity] or _INSTANCE.search(text):
        return None
    return _MODULE.sub(f"module {name}", text, count=1)
