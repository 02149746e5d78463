"""The options for the design to verify: RTL with its ports and pins, an emitted pipeline, a netlist."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from dais_verif.doors.cli.common import file_path
from dais_verif.doors.cli.options.declared import declared_options
from dais_verif.subject.given import is_folder
from dais_verif.verbs.design_options import DesignOptions
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.options import build, declared
from dais_verif.verbs.pins import Pins
from dais_verif.verbs.recognition import Sort, design_request

__all__ = ["design_options", "rtl_options", "target_option"]

_ALL = {one.keyword for one in declared(DesignOptions)}
_PIPELINES = {"stages", "max_depth", "delay_model"}
_OF_RTL = {"rtl", "data", "top", "parameters", "ports", "clock", "latency", "reset", "enable", "valid_in", "valid_out"}


def rtl_options(*takes: Sort) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options for RTL, its ports and pins; the command gets them as one ``dut``."""
    return lambda command: _with_design(command, _OF_RTL, takes)


def design_options(*takes: Sort) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options for a design of any sort that the verb ``takes``, or a pipeline."""
    return lambda command: _with_design(command, _ALL if Sort.WRAPPED in takes else _ALL - {"wrapped"}, takes)


def _with_design(command: Callable[..., Any], names: set[str], takes: tuple[Sort, ...]) -> Callable[..., Any]:
    @wraps(command)
    def with_dut(*arguments: Any, more_rtl: tuple[Any, ...], **given: Any) -> Any:
        options: DesignOptions = build(DesignOptions, {name: given.pop(name) for name in names})
        if more_rtl and not (options.rtl or options.netlist or options.bitstream or options.wrapped):
            raise click.UsageError(f"Got unexpected extra argument ({more_rtl[0]}); RTL files follow --rtl.")
        if options.ports is None and not any(map(is_folder, (given["program"], *options.rtl))):
            pins = (options.clock, options.latency, options.reset, options.enable, options.valid_in, options.valid_out)
            Pins(*pins).over(None, "no ports file names them")  # refuse bad options before anything is read
        dut: DesignRequest = design_request(replace(options, rtl=(*options.rtl, *more_rtl)), takes)
        return command(*arguments, dut=dut, **given)

    with_dut = click.argument("more_rtl", nargs=-1, type=file_path)(with_dut)
    with_all: Callable[..., Any] = declared_options(DesignOptions, without=_ALL - names)(with_dut)
    return with_all


def target_option(*, help: str, targets: Iterable[str], **more: Any) -> Callable[[Any], Any]:
    """Return the option ``--target``, one of ``targets``."""
    return click.option("--target", type=click.Choice(tuple(targets)), help=help, **more)
