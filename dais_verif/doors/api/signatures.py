"""Functions whose keyword arguments are the options that a request declares; ``keywords.pyi`` lists them for types."""

from __future__ import annotations

import functools
import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar, cast

from dais_verif.base.packages import name_missing_packages
from dais_verif.verbs.options import Declared, declared, from_keywords
from dais_verif.verbs.progress import listener

__all__ = ["annotation_of", "asks", "options_of"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def asks(
    run: str, request: str, *, without: Collection[str] = ()
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Return a decorator for a function that asks the verb ``run`` and returns its record.

    ``run``, ``request``: the places of the verb and of its request, such as ``diff:diff``; the first call loads them.
    The arguments of the function become the request. ``without``: options that the function does not have. It has the
    signature with all others, and raises ``TypeError`` for another keyword, with the nearest right one.
    """

    def add(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        own = inspect.signature(function)
        signature = _Signature(return_annotation=own.return_annotation)
        signature.find = functools.cache(lambda: _parameters(own, _loaded(request), without))

        @name_missing_packages
        @functools.wraps(function)
        def asked(*arguments: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
            for name in keywords:
                if name not in signature.parameters:
                    near = get_close_matches(name, signature.parameters, n=1)
                    hint = f"; did you mean {near[0]!r}?" if near else ""
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")
            defaults = {one.name: one.default for one in own.parameters.values() if one.default is not one.empty}
            given = {**defaults, **signature.bind(*arguments, **keywords).arguments}
            progress = given.pop("progress")
            done = _loaded(run)(from_keywords(_loaded(request), given), progress=listener(progress))
            return cast(_Result, getattr(done, "record", done))

        vars(asked).update(__signature__=signature, listed=lambda: options_of(own, _loaded(request), without))
        return asked

    return add


def _loaded(place: str) -> Any:
    return pkgutil.resolve_name(f"dais_verif.verbs.{place}")


class _Signature(inspect.Signature):
    """A signature whose parameters are found when they are read, since that loads modules."""

    find: Callable[[], Mapping[str, inspect.Parameter]] | None = None

    @property
    def parameters(self) -> Any:
        """The parameters by their names."""
        return super().parameters if self.find is None else self.find()


def _parameters(
    own: inspect.Signature, request: type[Any], without: Collection[str]
) -> Mapping[str, inspect.Parameter]:
    listed = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    words = [
        inspect.Parameter(
            one.keyword, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=annotation_of(one)
        )
        for one in options_of(own, request, without)
    ]
    first = [one for one in listed if one.kind is not one.KEYWORD_ONLY]
    last = [one for one in listed if one.kind is one.KEYWORD_ONLY]
    return {one.name: one for one in (*first, *words, *last)}


def options_of(function: inspect.Signature, request: type[Any], without: Collection[str]) -> Iterable[Declared]:
    """Return the options of ``request`` that are neither parameters of ``function`` itself nor left out."""
    names = {*without, *(one.name for one in function.parameters.values() if one.kind is not one.VAR_KEYWORD)}
    return [one for one in declared(request) if one.keyword not in names]


def annotation_of(one: Declared) -> str:
    """Return the type that Python takes for an option, as text."""
    kinds = {
        "Path": "_Path",
        "tuple[Path, ...]": "Sequence[_Path] | _Path",
        "tuple[str, ...]": "Sequence[str] | str",
        "tuple[int, ...]": "Sequence[int]",
    }
    kind = one.option.accepts or kinds.get(one.type, one.type)
    return f"{kind.replace(chr(39), chr(34))} | None" if _default(one) is None and not one.required else kind


def _default(one: Declared) -> Any:
    if one.required:
        return inspect.Parameter.empty
    return None if one.value == () else str(one.value) if one.type == "Path" and one.value is not None else one.value
