"""Defaults of options from a file of the project: ``dais-verif.toml``, or ``[tool.dais-verif]`` in ``pyproject.toml``.

A default becomes an option in front of those of the user, so that the line that reproduces a run names it. Processes
that dais-verif starts get none, since their command lines are complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from dais_verif.base.errors import FileError, RequestError
from dais_verif.base.files import read_toml
from dais_verif.base.toml import parse_toml

__all__ = ["Defaults", "read_defaults"]

_OWN, _PROJECT, _TABLE = "dais-verif.toml", "pyproject.toml", "dais-verif"
_MOST_BYTES = 4 << 20

#: Options that may be set for all verbs that have them.
_COMMON = ("color", "jobs", "memory", "quiet", "sandbox", "seed", "vectors", "verbose")
#: The options of a sign-off that no verdict depends on; its policy, which the certificate covers, sets the others.
_OF_SIGN_OFF = ("color", "html", "jobs", "json", "output", "paranoid", "quiet", "sandbox", "sign", "verbose")


@dataclass(frozen=True)
class Defaults:
    """The table in ``file``, whose relative paths begin in the file's folder. ``table``: empty if there is none."""

    file: Path = Path(_OWN)
    table: Mapping[str, Any] = field(default_factory=dict)

    def options_of(
        self, names: Sequence[str], ctx: click.Context, every: Sequence[click.Parameter]
    ) -> Mapping[str, Any]:
        """Return the defaults of the verb ``names``, which has all options of ``every``, by the options' names.

        Raises ``RequestError`` with the file and the key if a key is unknown, or its value cannot be used.
        """
        known = {_key_of(one): one for one in every if isinstance(one, click.Option) and not one.is_eager}
        found = {key: value for key, value in self._common() if key in known and not _is_judged(names, key)}
        table: Any = self.table
        for name in names:
            table = table.get(name, {})
            if not isinstance(table, dict):
                raise self._wrong(name, "must be a table of options, such as vectors = 5000")
        place = ".".join(names)
        for key, value in table.items():
            name = key.replace("_", "-")
            if name not in known:
                raise self._wrong(f"[{place}] {key}", f"is no option of {' '.join(names)}", name, known)
            if _is_judged(names, name):
                allowed = ", ".join(sorted(set(known) & set(_OF_SIGN_OFF)))
                raise self._wrong(
                    f"[{place}] {key}", f"decides a sign-off, so only its policy may set it; here may be {allowed}"
                )
            found[name] = value
        own = {key.replace("_", "-") for key in table}
        for key, value in found.items():
            self._require_usable(f"[{place}] {key}" if key in own else key, known[key], value, ctx)
        return found

    def words_of(self, option: click.Option, value: Any) -> list[str]:
        """Return ``value`` of ``option`` as arguments."""
        name = max(option.opts, key=len)
        if option.is_flag:
            return [name] if value else [max(option.secondary_opts, key=len)] if option.secondary_opts else []
        return [word for one in _list(value) for word in (name, self._text(option, one))]

    def require_known(self, verbs: Sequence[str]) -> None:
        """Raise ``RequestError`` if a key of the table is neither one of ``verbs`` nor an option for all of them."""
        known = [*verbs, *_COMMON]
        for key in self.table:
            if key.replace("_", "-") not in known:
                raise self._wrong(key, "is no verb, and no option that may be set for all verbs", key, known)

    def _common(self) -> Iterator[tuple[str, Any]]:
        for key, value in self.table.items():
            if key.replace("_", "-") in _COMMON and not isinstance(value, dict):
                yield key.replace("_", "-"), value

    def _require_usable(self, place: str, option: click.Option, value: Any, ctx: click.Context) -> None:
        if option.is_flag or option.count:
            if not isinstance(value, bool):
                raise self._wrong(place, f"must be true or false, not {value!r}")
            return
        for one in _list(value):
            if isinstance(one, bool) or not isinstance(one, str | int | float):
                raise self._wrong(place, f"must be a string or a number, not {one!r}")
        if isinstance(value, list) and not option.multiple:
            raise self._wrong(place, "must be one value, not a list")
        try:
            texts = [self._text(option, one) for one in _list(value)]
            option.process_value(ctx, tuple(texts) if option.multiple else texts[0])
        except click.UsageError as error:
            raise self._wrong(place, error.message.rstrip(".")) from None

    def _text(self, option: click.Option, value: Any) -> str:
        if isinstance(option.type, click.Path) and not Path(str(value)).is_absolute():
            return os.path.relpath(self.file.parent / str(value))
        return str(value)

    def _wrong(self, place: str, problem: str, key: str = "", known: Iterable[str] = ()) -> RequestError:
        near = get_close_matches(key.replace("_", "-"), list(known), n=1)
        return RequestError(f"{str(self.file)!r}: {place} {problem}{f'; did you mean {near[0]}?' if near else '.'}")


def read_defaults() -> Defaults:
    """Return the defaults of the nearest file in the working directory or above it.

    ``DAIS_VERIF_DEFAULTS`` names the file instead, or is ``none``. A file of another user is left out. Raises
    ``InputError`` if the file cannot be read, ``RequestError`` if a folder has two.
    """
    given = os.environ.get("DAIS_VERIF_DEFAULTS")
    if given == "none":
        return Defaults()
    if given:
        path = Path(given)
        return Defaults(path, _table_in(path) or {})
    try:
        here = Path.cwd()
    except OSError:  # the folder has been removed
        return Defaults()
    for folder in (here, *here.parents):
        found = [(path, table) for path in (folder / _OWN, folder / _PROJECT) if (table := _table_in(path)) is not None]
        if len(found) > 1:
            raise RequestError(f"{str(folder)!r} has defaults in {_OWN} and in {_PROJECT}: keep one of them.")
        if found:
            return Defaults(*found[0])
    return Defaults()


def _table_in(path: Path) -> Mapping[str, Any] | None:
    """Return the table of defaults in ``path``; None if it has none, or belongs to another user, who could set any."""
    try:
        if path.stat().st_uid not in (os.getuid(), 0):
            if path.name == _OWN:
                click.echo(f"warning: {str(path)!r} belongs to another user, so it sets no defaults", err=True)
            return None
        if path.name == _PROJECT and _TABLE.encode() not in path.read_bytes():
            return None
    except OSError:
        return None
    try:
        tree: Any = parse_toml(read_toml(path, _MOST_BYTES, "file of defaults"))
    except ValueError as error:
        raise FileError(f"file of defaults {str(path)!r} is not valid TOML: {error}") from None
    if path.name == _PROJECT:
        tree = tree.get("tool", {}).get(_TABLE)
    return tree if isinstance(tree, dict) else None


def _key_of(option: click.Option) -> str:
    return max(option.opts, key=len).removeprefix("--")


def _is_judged(names: Sequence[str], key: str) -> bool:
    return names[0] == "signoff" and key not in _OF_SIGN_OFF


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
