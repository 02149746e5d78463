"""Add the variants of entities that GHDL's synthesis loses: of hundreds, it uses some that it does not write.

A variant of an entity is a module with the values of all its generics in its name, such as ``adder_9_0_1``. A variant
that is used but missing is synthesized on its own with these values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dais_verif.synthesis.ghdl_netlist import Module

__all__ = ["lost_variants", "with_lost_variants"]

_ENTITY = re.compile(r"\bentity\s+(\w+)\s+is\s+generic\s*\((.*?)\)\s*;\s*port\b", re.DOTALL | re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*")
#: A declaration of generics that are integers, with their names.
_GENERIC = re.compile(r"([\w\s,]+?)\s*:\s*(?:integer|natural|positive)\b[^;]*(?:;|\Z)", re.IGNORECASE)

#: A function that returns the modules of the netlist of an entity, with options that set its generics.
Synthesize = Callable[[str, Sequence[str]], Sequence[Module]]


def with_lost_variants(found: Sequence[Module], sources: Sequence[Path], synthesize: Synthesize) -> tuple[Module, ...]:
    """Return ``found`` with the modules that it lacks, as made by ``synthesize``. ``sources``: the VHDL files."""
    added = []
    for name, entity, values in lost_variants(found, sources):
        made = synthesize(entity, [f"-g{generic.upper()}={value}" for generic, value in values.items()])
        if len(made) == 1 and not any(gate.kind.startswith("\\") for gate in made[0].gates):
            added.append(replace(made[0], name=name))
    return (*found, *added)


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


def lost_variants(found: Sequence[Module], sources: Sequence[Path]) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Yield each module that ``found`` uses but lacks, with its entity and the values of the entity's generics.

    A name that occurs in the sources is left out, because it is that of a component without an entity, which computes
    nothing.
    """
    used = {gate.kind for module in found for gate in module.gates if gate.kind.startswith("\\")}
    lost = sorted(used - {module.name for module in found})
    if not lost:
        return
    generics = _generics(sources)
    texts = [source.read_text(encoding="latin-1").lower() for source in sources]
    for kind in lost:
        name = kind.removeprefix("\\").lower()
        if any(name in source for source in texts):
            continue
        for entity, names in generics.items():
            values = name.removeprefix(f"{entity}_").split("_")
            if name.startswith(f"{entity}_") and len(values) == len(names) and all(map(str.isdecimal, values)):
                yield kind, entity, dict(zip(names, map(int, values), strict=True))
