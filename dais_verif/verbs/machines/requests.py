"""Options that machines do not have."""

from __future__ import annotations

from dais_verif.base.errors import Argument, RequestError

__all__ = ["require_no_options"]


def require_no_options(**options: object) -> None:
    """Raise ``RequestError`` for the first of ``options`` that is given; all of them are for programs only."""
    for name, value in options.items():
        if value:
            raise RequestError.of(
                "{option} is for programs, but this is a machine (ALIRFSM): leave it out.", option=Argument(name)
            )
