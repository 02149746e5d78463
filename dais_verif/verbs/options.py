"""An option declared once, as a field of a request: its type and default, help, group, range, and names.

The command line makes its options of these declarations, ``doors.api.keywords`` has the keyword arguments of
functions, and a request checks itself and spells itself as a command line by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, NamedTuple

from dais_verif.base.errors import Argument, RequestError
from dais_verif.verbs.arguments import path_from, paths_from
from dais_verif.verbs.programs import require_counts, require_positive, require_range

__all__ = [
    "Declared",
    "Option",
    "build",
    "declared",
    "from_keywords",
    "option",
    "options",
    "require_options",
    "words_of",
]

_OPTION, _NESTED = "option", "options"


@dataclass(frozen=True, kw_only=True)
class Option:
    """What a field's type and default do not say.

    ``group``: the title above it in the help; ``rare``, ``hidden``: not in the short help, or in none. ``name``,
    ``keyword``: in the command line and in Python, if not the name of the field. ``choices``, ``least``, ``most``: the
    allowed values; ``positive``: above 0. ``parse`` makes the value of the text in a command line, and ``show`` the
    text of the value; ``take`` makes the value of what Python gives, which is of the type ``accepts``. The line that
    reproduces a run has the option if it is not the default, ``always``, or not if it is not ``told``.
    ``default_text``: the default in words.
    """

    help: str
    group: str
    name: str | None = None
    keyword: str | None = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    positive: bool = False
    parse: Callable[[Any], Any] | None = None
    show: Callable[[Any], str] = str
    take: Callable[[Any], Any] | None = None
    accepts: str | None = None
    always: bool = False
    told: bool = True
    rare: bool = False
    metavar: str | None = None
    default_text: str | None = None
    hidden: bool = False


class Declared(NamedTuple):
    """A declared option. ``type``: its annotation without None. ``within``: the field that holds it, if nested."""

    field: str
    type: str
    value: Any
    option: Option
    within: str | None = None

    @property
    def spelled(self) -> str:
        """The name in the command line."""
        return f"--{(self.option.name or self.field).replace('_', '-')}"

    @property
    def keyword(self) -> str:
        """The name in Python."""
        return self.option.keyword or self.option.name or self.field

    def of(self, request: Any) -> Any:
        """Return the value in ``request``."""
        return getattr(request if self.within is None else getattr(request, self.within), self.field)


def option(default: Any, help: str, *, group: str, **more: Any) -> Any:
    """Return a field of a request that is an option, with the attributes of ``Option``."""
    return field(default=default, metadata={_OPTION: Option(help=help, group=group, **more)})


def options(kind: type[Any]) -> Any:
    """Return a field of a request whose own fields are options."""
    return field(default_factory=kind, metadata={_NESTED: kind})


@cache
def _of_class(kind: Any) -> tuple[Declared, ...]:
    return tuple(_declared(kind, None))


def declared(kind: type[Any]) -> tuple[Declared, ...]:
    """Return the options that the dataclass ``kind`` declares, in order."""
    hashed: Any = kind
    return _of_class(hashed)


def _declared(kind: type[Any], within: str | None) -> Iterator[Declared]:
    for one in fields(kind):
        if _OPTION in one.metadata:
            default = () if one.default is MISSING else one.default
            yield Declared(one.name, str(one.type).removesuffix(" | None"), default, one.metadata[_OPTION], within)
        elif _NESTED in one.metadata:
            yield from _declared(one.metadata[_NESTED], one.name)


def build(kind: type[Any], values: Mapping[str, Any], **own: Any) -> Any:
    """Return the request ``kind`` with ``values`` of its options by their keywords, and its ``own`` other fields."""
    nested: dict[str, dict[str, Any]] = {}
    flat = dict(own)
    for one in declared(kind):
        if one.keyword in values:
            (flat if one.within is None else nested.setdefault(one.within, {}))[one.field] = values[one.keyword]
    for held in fields(kind):
        if _NESTED in held.metadata:
            flat[held.name] = held.metadata[_NESTED](**nested.get(held.name, {}))
    return kind(**flat)


def from_keywords(kind: type[Any], keywords: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of the options of ``kind`` that Python gives as ``keywords``."""
    return {one.keyword: _taken(one, keywords[one.keyword]) for one in declared(kind) if one.keyword in keywords}


def _taken(one: Declared, value: Any) -> Any:
    if one.option.take is not None:
        return one.option.take(value)
    if one.type == "Path":
        return path_from(one.keyword, value)
    return paths_from(one.keyword, value) if one.type == "tuple[Path, ...]" else value


def words_of(request: Any) -> list[str]:
    """Return the options of ``request`` as arguments of its command."""
    words: list[str] = []
    for one in declared(type(request)):
        value = one.of(request)
        if value is None or not one.option.told or (value == one.value and not one.option.always):
            continue
        if one.type == "bool":
            words.append(one.spelled if value else one.spelled.replace("--", "--no-", 1))
        else:
            words += [word for each in _each(value) for word in (one.spelled, one.option.show(each))]
    return words


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def require_options(request: Any) -> None:
    """Raise ``RequestError`` if an option of ``request`` is outside its range, or none of its choices."""
    for one in declared(type(request)):
        value, rule = one.of(request), one.option
        if value is None:
            continue
        if rule.choices and value not in rule.choices:
            known = ", ".join(rule.choices)
            raise RequestError.of(
                "{name} must be one of {known}, not {value!r}.", name=Argument(one.keyword), known=known, value=value
            )
        if one.type == "float" and rule.most is not None:
            _require_between(one, value)
        elif rule.least is not None and rule.most is not None:
            require_range(one.field, value, rule.least, rule.most)
        elif rule.least == 0:
            require_counts(**{one.field: value})
        elif rule.positive:
            require_positive(**{one.field: value})


def _require_between(one: Declared, value: float) -> None:
    least, most = one.option.least or 0, one.option.most or 0
    if not least <= value <= most:
        raise RequestError.of(
            "{name} must be {least} to {most}, not {value!r}.",
            name=Argument(one.keyword),
            least=least,
            most=most,
            value=value,
        )
