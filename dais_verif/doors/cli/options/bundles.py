"""Groups of options, each passed to a command as one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

__all__ = ["bundled"]


def bundled(name: str, make: Any, *options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds ``options``; the command gets their values as one ``name``, made by ``make``."""
    names = _names(options)

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_bundle(*arguments: Any, **given: Any) -> Any:
            own = {field: given.pop(field) for field in names}
            return command(*arguments, **{name: make(**own)}, **given)

        for option in reversed(options):
            with_bundle = option(with_bundle)
        return with_bundle

    return add


def _names(options: Sequence[Callable[[Any], Any]]) -> list[str]:
    def probe() -> None:
        """Take the options."""

    for option in options:
        option(probe)
    parameters: list[click.Parameter] = vars(probe)["__click_params__"]
    return [str(parameter.name) for parameter in parameters]
