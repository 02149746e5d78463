"""An option declared once, as a field of a request: its type and default, help, group, range, and names.

The command line makes its options of these declarations, ``doors.api.keywords`` has the keyword arguments of
functions, and a request checks itself and spells itself as a command line by them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, NamedTuple

from dais_verif.base.errors import Argument, RequestError
from dais_verif.base.own_command import own_command
from dais_verif.subject.given import path_of
from dais_verif.verbs.arguments import (
    path_from,
    paths_from,
    program_from,
    require_type,
    require_types,
    required_path,
    texts_from,
)
from dais_verif.verbs.programs import require_counts, require_positive, require_range

__all__ = [
    "REQUIRED",
    "Declared",
    "Option",
    "Request",
    "build",
    "declared",
    "from_keywords",
    "keywords_of",
    "option",
    "options",
    "require_options",
    "require_usable",
    "words_for",
    "words_of",
]

#: In place of a default: the option must be given.
REQUIRED: Any = MISSING

_OPTION, _NESTED = "option", "options"


@dataclass(frozen=True, kw_only=True)
class Option:
    """What a field's type and default do not say.

    ``group``: the title above it in the help; ``rare``, ``hidden``: not in the short help, or in none. ``name``,
    ``keyword``: in the command line and in Python, if not the name of the field. ``choices``, ``least``, ``most``: the
    allowed values; ``positive``: above 0. ``parse`` makes the value of the text in a command line, and ``show`` the
    text of the value; ``take`` makes the value of what Python gives, which is of the type ``accepts``. The line that
    reproduces a run has the option if it is not the default, ``always``, or not if it is not ``told``.
    ``default_text``: the default in words. ``writes``: the path is a ``file`` or ``folder`` that the verb writes, or
    ``any`` of both. ``off``: the name of the opposite of a flag, if it has one besides ``--no-``.
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
    writes: str = ""
    off: str | None = None


@dataclass(frozen=True)
class _Nested:
    """The options of ``kind`` without some, in a field whose value is ``make`` of them; None: they are the value."""

    kind: type[Any]
    make: Callable[[Any], Any] | None
    without: Collection[str]


class Declared(NamedTuple):
    """A declared option. ``type``: its annotation without None. ``within``: the field that holds it, if nested.

    ``made``: the nested value is not the options themselves, but is made of them.
    """

    field: str
    type: str
    value: Any
    option: Option
    required: bool = False
    within: str | None = None
    made: bool = False

    @property
    def spelled(self) -> str:
        """The name in the command line."""
        return f"--{(self.option.name or self.field).replace('_', '-')}"

    @property
    def off(self) -> str:
        """The name of the opposite of a flag."""
        return f"--{self.option.off}" if self.option.off else self.spelled.replace("--", "--no-", 1)

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


def options(
    kind: type[Any], make: Callable[[Any], Any] | None = None, *, empty: Any = None, without: Collection[str] = ()
) -> Any:
    """Return a field of a request that holds the options of ``kind``, or what ``make`` makes of them.

    ``empty``: makes the default. ``without``: keywords of options that the request does not have.
    """
    return field(default_factory=empty or kind, metadata={_NESTED: _Nested(kind, make, without)})


@cache
def _of_class(kind: Any) -> tuple[Declared, ...]:
    return tuple(_declared(kind))


def declared(kind: type[Any]) -> tuple[Declared, ...]:
    """Return the options that the dataclass ``kind`` declares, in order."""
    hashed: Any = kind
    return _of_class(hashed)


def _declared(kind: type[Any]) -> Iterator[Declared]:
    for one in fields(kind):
        if _OPTION in one.metadata:
            required = one.default is MISSING
            default = None if required else one.default
            said = str(one.type).removesuffix(" | None")
            yield Declared(one.name, said, default, one.metadata[_OPTION], required)
        elif _NESTED in one.metadata:
            nested = one.metadata[_NESTED]
            for inner in declared(nested.kind):
                if inner.keyword not in nested.without:
                    yield inner._replace(within=one.name, made=nested.make is not None)


def build(kind: type[Any], values: Mapping[str, Any], **own: Any) -> Any:
    """Return the request ``kind`` with ``values`` of its options by their keywords, and its ``own`` other fields."""
    nested: dict[str, dict[str, Any]] = {}
    flat = dict(own)
    for one in declared(kind):
        if one.keyword in values:
            (flat if one.within is None else nested.setdefault(one.within, {}))[one.field] = values[one.keyword]
    for held in fields(kind):
        if _NESTED in held.metadata and held.name not in own:
            said = held.metadata[_NESTED]
            inner = said.kind(**nested.get(held.name, {}))
            flat[held.name] = inner if said.make is None else said.make(inner)
    return kind(**flat)


def from_keywords(kind: type[Any], keywords: Mapping[str, Any]) -> Any:
    """Return the request ``kind`` for ``keywords`` as Python gives them."""
    known = declared(kind)
    values = {one.keyword: _taken(one, keywords[one.keyword]) for one in known if one.keyword in keywords}
    others = [one for one in fields(kind) if one.name in keywords and _OPTION not in one.metadata]
    own = {one.name: _own(one.name, str(one.type), keywords[one.name]) for one in others if one.name not in values}
    return build(kind, values, **own)


def _taken(one: Declared, value: Any) -> Any:
    if one.option.take is not None:
        return one.option.take(value)
    if one.type == "Path":
        return (
            required_path(one.keyword, value)
            if one.required or one.value is not None
            else path_from(one.keyword, value)
        )
    if one.type in ("tuple[str, ...]", "tuple[int, ...]"):
        return texts_from(one.keyword, value)
    return paths_from(one.keyword, value) if one.type == "tuple[Path, ...]" else value


def _own(name: str, kind: str, value: Any) -> Any:
    if kind == "AnyProgram":
        return program_from(value)
    if kind in ("Path", "str | Path"):
        return required_path(name, value)
    return tuple(map(str, paths_from(name, value))) if kind == "tuple[str, ...]" else value


def words_of(request: Any) -> list[str]:
    """Return the options of ``request`` as arguments of its command."""
    words = [word for one in declared(type(request)) if not one.made for word in _words(one, one.of(request))]
    made = [one.name for one in fields(request) if _NESTED in one.metadata and one.metadata[_NESTED].make is not None]
    return [*words, *(word for name in made for word in getattr(request, name).words())]


def words_for(kind: type[Any], keywords: Mapping[str, Any]) -> list[str]:
    """Return the options of ``kind`` that Python gives as ``keywords`` as arguments of its command."""
    given = [one for one in declared(kind) if one.keyword in keywords]
    return [word for one in given for word in _words(one, _taken(one, keywords[one.keyword]))]


def _words(one: Declared, value: Any) -> list[str]:
    if value is None or not one.option.told or (value == one.value and not one.option.always):
        return []
    if one.type == "bool":
        return [one.spelled if value else one.off]
    return [word for each in _each(one, value) for word in (one.spelled, one.option.show(each))]


def keywords_of(kind: type[Any], words: Iterable[str]) -> Mapping[str, Any]:
    """Return options of ``kind`` in ``words`` of a command line, as Python gives them. Raises ``RequestError``."""
    names = {name: one for one in declared(kind) for name in (one.spelled, one.off)}
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        name, equals, text = word.partition("=")
        one = names.get(name)
        if one is None or (one.type == "bool" and equals):
            raise RequestError(f"{word!r} is no option of {kind.verb}.")
        if one.type == "bool":
            found[one.keyword] = name == one.spelled
            continue
        given = text if equals else next(rest, None)
        if given is None:
            raise RequestError(f"{word!r} needs a value.")
        many = one.type.endswith(", ...]")
        value = _parsed(one, [given] if many else given)
        if isinstance(value, dict):
            value = {**found.get(one.keyword, {}), **value}
        found[one.keyword] = [*found.get(one.keyword, ()), *value] if isinstance(value, list) else value
    for keyword, value in found.items():
        require_usable(next(one for one in names.values() if one.keyword == keyword), value)
    return found


def _parsed(one: Declared, text: Any) -> Any:
    """Return the value of an option in a command line, as Python gives it."""
    kinds: dict[str, Callable[[Any], Any]] = {
        "int": int,
        "float": float,
        "tuple[int, ...]": lambda texts: list(map(int, texts)),
    }
    try:
        value = (one.option.parse or kinds.get(one.type, lambda text: text))(text)
    except ValueError as error:
        raise RequestError(f"{one.spelled}: {error}") from None
    return dict(value) if (one.option.accepts or "").startswith("Mapping") else value


def require_usable(one: Declared, value: Any) -> None:
    """Raise ``RequestError`` if ``value`` cannot be the value of an option, in the way that Python gives it."""
    try:
        taken = (
            one.option.parse(value) if one.option.parse is not None and isinstance(value, str) else _taken(one, value)
        )
    except ValueError as error:
        raise RequestError(f"{one.keyword}: {error}") from None
    require_type(one.keyword, one.type, taken)
    for each in _each(one, taken):
        require_value(one, each)


def _each(one: Declared, value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) and one.type.endswith(", ...]") else (value,)


def require_options(request: Any) -> None:
    """Raise ``RequestError`` if an option of ``request`` is outside its range, or none of its choices."""
    for one in declared(type(request)):
        for value in () if one.made else _each(one, one.of(request)):
            if value is not None:
                require_value(one, value)


def require_value(one: Declared, value: Any) -> None:
    """Raise ``RequestError`` if ``value`` is outside the range of an option, or none of its choices."""
    rule = one.option
    if rule.choices and value not in rule.choices:
        known = ", ".join(rule.choices)
        raise RequestError.of(
            "{name} must be {one} {known}, not {value!r}.",
            name=Argument(one.keyword),
            one="among" if one.type.startswith("tuple") else "one of",
            known=known,
            value=value,
        )
    if one.type == "float" and rule.most is not None:
        _require_between(one, value)
    elif rule.least is not None and rule.most is not None:
        require_range(one.keyword, value, rule.least, rule.most)
    elif rule.least is not None:
        require_counts(rule.least, **{one.keyword: value})
    elif rule.positive:
        require_positive(**{one.keyword: value})


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


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a verb is asked for. A subclass declares its options, and names the ``verb`` of the command line.

    ``command``: the command line of the request, or a function that takes additional arguments and returns it; None:
    derived from the request.
    """

    verb: ClassVar[str]

    command: str | Callable[[Sequence[str]], str] | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_options(self)
        self.require()

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other."""

    def arguments(self) -> list[str]:
        """Return the words before the options; ``PROGRAM`` stands for a program without a file."""
        return [path_of(vars(self)["program"])]

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request."""
        return [*self.verb.split(), *self.arguments(), *words_of(self)]

    def reproduce(self, more: Sequence[str] = ()) -> str:
        """Return the command line of this request, with the additional arguments ``more``."""
        if self.command is None:
            return own_command([*self.words(), *more])
        return self.command if isinstance(self.command, str) else self.command(more)
