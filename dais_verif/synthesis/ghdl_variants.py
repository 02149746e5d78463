"""Add the variants of entities that GHDL's synthesis loses: of hundreds, it uses some that it does not write.

A variant of an entity is a module with the values of all its generics in its name, such as ``adder_9_0_1``. A variant
that is used but missing is synthesized on its own with these values.
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
#: A declaration of generics that are integers, with their names.
_GENERIC = re.compile(r"([\w\s,]+?)\s*:\s*(?:integer|natural|positive)\b[^;]*(?:;|\Z)", re.IGNORECASE)

#: A function that returns the text that GHDL's synthesis writes for an entity with given values of its generics.
Synthesize = Callable[[str, dict[str, int]], str]


def with_lost_variants(text: str, sources: Sequence[Path], synthesize: Synthesize) -> str:
    """Return ``text`` with the modules that it lacks, as made by ``synthesize``. ``sources``: the VHDL files."""
    for name, entity, values in list(lost_variants(text, sources)):
        module = _renamed(synthesize(entity, values).lower(), entity, name)
        text = text if module is None else f"{text}\n{module}"
    return text


def _generics(sources: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Return the generics of each entity that has only integer generics: names in lower case, in their order."""
    found: dict[str, tuple[str, ...]] = {}
    for source in sources:
        text = _COMMENT.sub("", source.read_text(encoding="latin-1")).lower()
        for entity, declared in _ENTITY.findall(text):
            parts = [_GENERIC.fullmatch(part.strip()) for part in declared.split(";") if part.strip()]
            if all(part is not None for part in parts):
                found[entity] = tuple(name for part in parts if part for name in re.findall(r"\w+", part[1]))
    return found


def lost_variants(text: str, sources: Sequence[Path]) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Yield each module that ``text`` uses but lacks, with its entity and the values of the entity's generics.

    A name that occurs in the sources is left out, because it is that of a component without an entity, which computes
    nothing.
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
    """Return ``text`` with its only module ``entity`` renamed to ``name``; None if ``text`` holds anything else."""
    if _MODULE.findall(text) != [entity] or _INSTANCE.search(text):
        return None
    return _MODULE.sub(f"module {name}", text, count=1)
