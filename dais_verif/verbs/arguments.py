"""Check the values of requests: each must have the type of its field, or an error names the field, value and rule.

The command line only gives values of the right type; callers of functions may give others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from dais_verif.base.errors import Argument, RequestError
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import ALL_LAYOUTS, Program
from dais_verif.subject.programs import is_foreign_program, load_program

__all__ = [
    "OWN_TYPES",
    "PROGRAMS",
    "RULES",
    "path_from",
    "paths_from",
    "program_from",
    "require_type",
    "require_types",
    "required_path",
    "shown",
    "texts_from",
]

#: The accepted forms of a program, in words.
PROGRAMS = "a path, the bytes of a file, a Program, an int32 array, or a CombLogic"

_Rule = tuple[Callable[[Any], bool], str]


def shown(value: object) -> str:
    """Return ``value`` on one line, of at most 60 characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # any exception of a foreign type, or an integer of too many digits
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_integer(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_path(value: Any) -> bool:
    return isinstance(value, Path) and "\0" not in str(value)


def _is_program(value: Any) -> bool:
    return isinstance(value, Program | Machine | bytes) or _is_text(value) or _is_path(value)


def _all(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(map(holds, value))


_TEXT: _Rule = (_is_text, "a string without NUL")
_WHOLE = "an integer of at most 63 bits"

#: The rule for the values of a field, in code and in words, by the field's annotation without ``| None``.
RULES: dict[str, _Rule] = {
    "str | Callable[[Sequence[str]], str]": (lambda value: isinstance(value, str) or callable(value), "a string"),
    "Callable[[str], str]": (callable, "a function"),
    "AnyProgram": (_is_program, PROGRAMS),
    "Engine": _TEXT,
    "Path": (_is_path, "a path without NUL"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "datetime": (lambda value: isinstance(value, datetime), "a datetime"),
    "float": (_is_number, "a number"),
    "int": (_is_integer, _WHOLE),
    "int | Literal['auto']": (lambda value: value == "auto" or _is_integer(value), f"'auto', or {_WHOLE}"),
    "str": _TEXT,
    "str | Path": (lambda value: _is_text(value) or _is_path(value), "the path of a file"),
    "tuple[Path, ...]": (_all(_is_path), "paths without NUL"),
    "tuple[int, ...]": (_all(_is_integer), f"a list in which each is {_WHOLE}"),
    "tuple[int, int]": (lambda value: _all(_is_integer)(value) and len(value) == 2, "two numbers, such as (2, 5)"),
    "tuple[str, ...]": (_all(_is_text), "a list of strings without NUL"),
    "tuple[tuple[str, str], ...]": (_all(_all(_is_text)), "pairs of a name and a value"),
}

#: Annotations of types that check themselves, or that callers never give.
OWN_TYPES = (
    "Covering",
    "DesignRequest",
    "SynthesizedNetlist",
    "PipelineOptions",
    "PipelineRequest",
    "Pins",
    "WrapRequest",
    "WrapperFolder",
    "BitstreamFile",
    "BitstreamFacts",
)


def require_types(request: Any) -> None:
    """Raise ``RequestError`` unless every field of the dataclass ``request`` has the type of its annotation."""
    for field in fields(request):
        kind = str(field.type)
        value = getattr(request, field.name)
        if value is None and kind.endswith(" | None"):
            continue
        require_type(field.name, kind.removesuffix(" | None"), value)
        if field.name in ("layout", "layout_b") and value not in ALL_LAYOUTS:
            name, layouts = Argument(field.name), ", ".join(ALL_LAYOUTS)
            raise RequestError.of(
                "{name} must be one of {layouts}, not {value}.", name=name, layouts=layouts, value=shown(value)
            )
        if field.name == "jobs" and value < 1:
            raise RequestError.of("{jobs} must be a number of threads, 1 or more, not {value}.", value=shown(value))


def require_type(name: str, kind: str, value: object) -> None:
    """Raise ``RequestError`` unless ``value`` of argument ``name`` has the type ``kind``, an annotation."""
    if (rule := RULES.get(kind)) is not None and not rule[0](value):
        raise RequestError.of(
            "{name} must be {rule}, not {value}.", name=Argument(name), rule=rule[1], value=shown(value)
        )


def path_from(name: str, value: object) -> Path | None:
    """Return argument ``name`` as a path; None stays None. Raises ``RequestError`` if it is not a path."""
    if value is None:
        return None
    found = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    if not _is_text(found) or not found:
        raise RequestError(
            f"{name} must be a path, as a Path or a string that is not empty and without NUL, not {shown(value)}."
        )
    return Path(str(found))


def program_from(value: Any) -> Any:
    """Return a program of another package, an array or a ``CombLogic``, as a ``Program``; a path as a ``Path``.

    Anything else stays as it is, for ``require_types``.
    """
    if isinstance(value, str | bytes | Path | Program | Machine):
        return value
    if isinstance(value, os.PathLike):
        return path_from("program", value)
    return load_program(value) if is_foreign_program(value) else value


def required_path(name: str, value: object) -> Path:
    """Return argument ``name`` as a path. Raises ``RequestError`` if it is not a path."""
    if (path := path_from(name, value)) is None:
        raise RequestError(f"{name} must be a path, as a string or Path, not None.")
    return path


def paths_from(name: str, value: object) -> tuple[Path, ...]:
    """Return argument ``name``, a path or a list of paths, as a tuple, which is empty for None.

    Raises ``RequestError`` if it is neither, or an empty list: a pattern that matched no file must not be read as a
    request without files.
    """
    if value is None:
        return ()
    if isinstance(value, str | os.PathLike):
        path = path_from(name, value)
        return () if path is None else (path,)
    return tuple(path for each in _listed(name, value, "paths") for path in [path_from(name, each)] if path is not None)


def texts_from(name: str, value: object) -> tuple[Any, ...]:
    """Return argument ``name``, a text or a list, as a tuple, empty for None. Raises the errors of ``paths_from``."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(_listed(name, value, "values"))


def _listed(name: str, value: object, what: str) -> list[Any]:
    """Return the items of a list. Raises ``RequestError`` if the list is empty, contains None, or is unordered."""
    unordered = isinstance(value, Mapping | Set)
    if isinstance(value, bytes | bytearray) or not isinstance(value, Iterable) or (unordered and value):
        raise RequestError(f"{name} must be a list of {what}, not {shown(value)}.")
    items = list(value)
    if any(item is None for item in items):
        raise RequestError(f"{name} must be a list of {what}, without None.")
    if not items:
        raise RequestError(f"{name} is empty: leave it out, or give at least one item (did a pattern match nothing?).")
    return items
