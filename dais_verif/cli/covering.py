"""The options by which ``sim`` measures coverage: of the program, and of the RTL."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from dais_verif.flows.covering import Covering

__all__ = ["covering_options"]


def covering_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--coverage`` and ``--rtl-coverage``; the command gets one ``covering`` for both."""

    @wraps(command)
    def with_options(*arguments: Any, coverage: bool, rtl_coverage: bool, **given: Any) -> Any:
        return command(*arguments, covering=Covering(coverage, rtl_coverage), **given)

    for option in (
        click.option("--rtl-coverage", is_flag=True, help="Lines and toggles of the RTL, in Verilator."),
        click.option("--coverage", is_flag=True, help="Functional coverage, with vectors for what is open."),
    ):
        with_options = option(with_options)
    return with_options
