"""The options for the design to verify: RTL with its ports and pins, an emitted pipeline, a netlist."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import wraps
from typing import Any

import click

from dais_verif.cli.common import file_path, parsed_by, theirs_option
from dais_verif.cli.options.pipelines import stage_options
from dais_verif.flows.design_rtl import NETLISTS, parse_parameter
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.pins import Pins, latency_of
from dais_verif.flows.recognition import Brought, Sort, recognised
from dais_verif.subject.given import is_folder

__all__ = ["design_options", "rtl_options", "target_option"]


_OPTIONS = (
    click.option(
        "--rtl",
        type=file_path,
        multiple=True,
        help="Verify this design: files of RTL (may be repeated), a project folder, a netlist (a folder of synth, or a "
        "file with --target), a bitstream (with --pins, or a folder of build), or a folder of emit --wrap axis.",
    ),
    click.option(
        "--data",
        type=file_path,
        multiple=True,
        help="File that the RTL reads in simulation ($readmemh), or a folder of such files. Files named in the RTL are"
        " found without this option if they are next to it or one folder below.",
    ),
    theirs_option,
    click.option(
        "--param",
        "parameters",
        metavar="NAME=VALUE",
        multiple=True,
        callback=parsed_by(lambda texts: tuple(dict(map(parse_parameter, texts)).items())),
        help="Value of a parameter of the top module (Verilog only); may be repeated.",
    ),
    click.option(
        "--ports",
        type=file_path,
        help="TOML file that maps ports to inputs and outputs (docs/any-dut.md); options override its pins.",
    ),
    click.option("--clock", help="Clock of a pipelined design, which takes one sample at every rising edge."),
    click.option(
        "--latency",
        show_default="auto",
        callback=parsed_by(lambda text: text if text == "auto" else latency_of(text)),
        help="Rising edges from an input to its output; auto detects it.",
    ),
    click.option("--reset", help="Reset of a clocked design, which drops vectors in flight; NAME:low if active low."),
    click.option("--enable", help="Clock enable of a clocked design: at 0 all registers keep their values."),
    click.option("--valid-in", help="Input pin that marks valid inputs."),
    click.option("--valid-out", help="Output pin that marks valid outputs."),
    click.argument("more_rtl", nargs=-1, type=file_path),
)


#: Options that say more of a netlist or a bitstream, and former ones that accept what ``--rtl`` accepts.
_BROUGHT = (
    click.option("--target", type=click.Choice(tuple(NETLISTS)), help="Cell library of a netlist that is one file."),
    click.option("--pins", type=file_path, help="Pins of a bitstream: a file with lines `set_io PORT PIN`."),
    click.option("--device", help="Device of a bitstream, such as ice40-hx8k-ct256. Default: its largest package."),
    click.option("--hints", type=file_path, help="For a bitstream: placed.json of build, with names of registers."),
    click.option("--netlist", type=file_path, hidden=True),
    click.option("--bitstream", type=file_path, hidden=True),
)
_WRAPPED = click.option("--wrapped", type=file_path, hidden=True)


def rtl_options(*takes: Sort) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options for RTL, its ports and pins; the command gets them as one ``dut``."""
    return lambda command: _with_design(command, (), takes)


def design_options(*takes: Sort) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options for a design of any sort that the verb ``takes``, or a pipeline."""
    more = (*_BROUGHT, _WRAPPED) if Sort.WRAPPED in takes else _BROUGHT

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        with_all: Callable[..., Any] = stage_options(_with_design(command, more, takes))
        return with_all

    return add


def _with_design(
    command: Callable[..., Any], options: tuple[Callable[[Any], Any], ...], takes: tuple[Sort, ...]
) -> Callable[..., Any]:
    @wraps(command)
    def with_dut(*arguments: Any, **given: Any) -> Any:
        own = {name: given.pop(name) for name in ("rtl", "data", "top", "ports", "parameters", "more_rtl")}
        clocked = {name: given.pop(name) for name in ("clock", "latency", "reset", "enable", "valid_in", "valid_out")}
        brought = Brought(**{field.name: given.pop(field.name, None) for field in fields(Brought)} if options else {})
        rtl, more = own.pop("rtl"), own.pop("more_rtl")
        if more and not (rtl or any(path for path, _ in brought.paths.values())):
            raise click.UsageError(f"Got unexpected extra argument ({more[0]}); RTL files follow --rtl.")
        asked_pins = Pins(**clocked)
        if own["ports"] is None and not any(map(is_folder, (given["program"], *rtl))):
            asked_pins.over(None, "no ports file names them")  # refuse bad options before anything is read
        # Emit all pins, so that all of their functions are exercised.
        asked = given.pop("pipeline", None)
        pipeline = None if asked is None else asked.options()
        if pipeline is not None:
            pipeline = replace(pipeline, reset=True, enable=True, valid=True)
        dut = DesignRequest(rtl=(*rtl, *more), pins=asked_pins, pipeline=pipeline, **own)
        return command(*arguments, dut=recognised(dut, brought, takes), **given)

    for option in reversed((*_OPTIONS, *options)):
        with_dut = option(with_dut)
    return with_dut


def target_option(*, help: str, targets: Iterable[str], **more: Any) -> Callable[[Any], Any]:
    """Return the option ``--target``, one of ``targets``."""
    return click.option("--target", type=click.Choice(tuple(targets)), help=help, **more)
