"""Keyword arguments of functions, which are declared as options of requests and listed in ``doors.api.keywords``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

__all__ = ["takes"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def takes(
    kind: type[Any], defaults: Mapping[str, Any]
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Return a decorator that gives a function the signature with the keywords of the ``TypedDict`` ``kind``.

    The function then raises ``TypeError`` for another keyword, with the nearest right one.
    """

    def add(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        own = inspect.signature(function)
        listed = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        places = {one.kind for one in listed}
        words = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults[name],
                annotation=_text(kind.__annotations__[name]),
            )
            for name in kind.__annotations__
        ]
        first = [one for one in listed if one.kind is not one.KEYWORD_ONLY]
        last = (
            [one for one in listed if one.kind is one.KEYWORD_ONLY] if inspect.Parameter.KEYWORD_ONLY in places else []
        )
        signature = own.replace(parameters=[*first, *words, *last])

        @functools.wraps(function)
        def checked(*arguments: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
            for name in keywords:
                if name not in signature.parameters:
                    near = get_close_matches(name, signature.parameters, n=1)
                    hint = f"; did you mean {near[0]!r}?" if near else ""
                    what = getattr(function, "__name__", "the function")
                    raise TypeError(f"{what}() got an unexpected keyword argument {name!r}{hint}")
            return function(*arguments, **keywords)

        checked.__signature__ = signature  # type: ignore[attr-defined]
        return checked

    return add


def _text(annotation: Any) -> str:
    """Return an annotation as annotations of functions are in our modules: as text."""
    return str(getattr(annotation, "__forward_arg__", annotation))
