"""Convert tables of users to structs; an error names the key, and the allowed keys or values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from dais_verif.base.structs import converted

__all__ = ["convert_table"]

_Table = TypeVar("_Table", bound=msgspec.Struct)

_UNKNOWN_VALUE = "Invalid enum value "

#: Types of numbers, in words.
_WORDS = {inspect.IntType: "an integer", inspect.FloatType: "a number"}


def convert_table(tree: object, kind: type[_Table], below: str = "", **options: Any) -> _Table:
    """Return ``tree`` as a struct of ``kind``, by ``msgspec.convert`` with ``options``.

    ``below``: the keys that lead to the table, such as ``variants.x``. Raises ``ValueError`` with the key, such as
    ``[rtl] latency``, the problem, and the allowed keys or values, in one line.
    """
    try:
        table: _Table = converted(tree, kind, **options)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        key = path.rstrip("`").lstrip(".")
        found = _type_at(inspect.type_info(kind), key)
        place = _place(".".join(filter(None, (below, key))), isinstance(found, inspect.StructType))
        raise ValueError(f"{place}{_told(problem, found)}") from None
    return table


def _place(key: str, is_table: bool) -> str:
    table, dot, last = key.rpartition(".")
    if "[" in key:
        return f"{key}: "
    if is_table:
        return f"[{key}]: " if key else ""
    return f"[{table}] {last}: " if dot else f"{last}: "


def _told(problem: str, kind: inspect.Type | None) -> str:
    if isinstance(kind, inspect.StructType) and "unknown field" in problem:
        return f"{problem}; known are {', '.join(field.encode_name for field in kind.fields)}"
    allowed = list(dict.fromkeys(_allowed(kind)))
    if not any(isinstance(one, inspect.LiteralType) for one in _members(kind)):
        return problem
    must = f"must be {'one of ' if len(allowed) > 1 else ''}{', '.join(allowed)}"
    if problem.startswith(_UNKNOWN_VALUE):
        return f"unknown value {problem.removeprefix(_UNKNOWN_VALUE)}, {must}"
    return f"{problem}; {must}"


def _allowed(kind: inspect.Type | None) -> Iterator[str]:
    """Yield the allowed values, in words."""
    for one in _members(kind):
        if isinstance(one, inspect.LiteralType):
            yield from (f'"{value}"' for value in one.values)
        elif type(one) in _WORDS:
            yield _WORDS[type(one)]


def _members(kind: inspect.Type | None) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else () if kind is None else (kind,)


def _type_at(kind: inspect.Type, path: str) -> inspect.Type | None:
    """Return the type of the value at ``path``, such as ``rtl.files[0]``; None if no type is known."""
    kinds: tuple[inspect.Type, ...] = (kind,)
    for part in re.findall(r"\[\w+|\w+", path):
        kinds = tuple(below for one in kinds for below in _below(one, part))
    return inspect.UnionType(kinds) if len(kinds) > 1 else next(iter(kinds), None)


def _below(kind: inspect.Type, part: str) -> Iterator[inspect.Type]:
    for one in _members(kind):
        if isinstance(one, inspect.StructType):
            yield from (field.type for field in one.fields if field.encode_name == part)
        elif isinstance(one, inspect.ListType | inspect.VarTupleType):
            yield one.item_type
