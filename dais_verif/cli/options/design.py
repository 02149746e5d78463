"""The options for the design to verify: RTL with its ports and pins, an emitted pipeline, a netlist."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from dais_verif.cli.common import file_path, parsed_by, theirs_option
from dais_verif.cli.options.pipelines import stage_options
from dais_verif.flows.design_rtl import NETLISTS, find_netlist, parse_parameter, with_bitstream
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.pins import Pins, latency_of
from dais_verif.flows.wrapper import find_wrapper
from dais_verif.subject.given import is_folder

__all__ = ["dut_options", "given_rtl_options", "netlist_options", "rtl_options", "target_option"]


_OPTIONS = (
    click.option(
        "--rtl",
        type=file_path,
        multiple=True,
        help="Verify this RTL file or project folder; may be repeated.",
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


def rtl_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for RTL, its ports and pins, and emitted pipelines; the command gets them as one ``dut``."""
    with_all: Callable[..., Any] = stage_options(given_rtl_options(command))
    return with_all


def given_rtl_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for RTL, its ports and pins, without the options for emitted pipelines."""

    @wraps(command)
    def with_dut(*arguments: Any, **given: Any) -> Any:
        own = {name: given.pop(name) for name in ("rtl", "data", "top", "ports", "parameters", "more_rtl")}
        pins = {name: given.pop(name) for name in ("clock", "latency", "reset", "enable", "valid_in", "valid_out")}
        rtl, more = own.pop("rtl"), own.pop("more_rtl")
        if more and not rtl:
            raise click.UsageError(f"Got unexpected extra argument ({more[0]}); RTL files follow --rtl.")
        asked_pins = Pins(**pins)
        if own["ports"] is None and not any(map(is_folder, (given["program"], *rtl))):
            asked_pins.over(None, "no ports file names them")  # refuse bad options before anything is read
        # Emit all pins, so that all of their functions are exercised.
        asked = given.pop("pipeline", None)
        pipeline = None if asked is None else asked.options()
        if pipeline is not None:
            pipeline = replace(pipeline, reset=True, enable=True, valid=True)
        dut = DesignRequest(rtl=(*rtl, *more), pins=asked_pins, pipeline=pipeline, **own)
        return command(*arguments, dut=dut, **given)

    for option in reversed(_OPTIONS):
        with_dut = option(with_dut)
    return with_dut


def dut_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for RTL, its ports, pins and pipelines, and ``--wrapped``."""

    @click.option("--wrapped", type=file_path, help="Verify a folder of `emit --wrap axis`, through its streams.")
    @wraps(command)
    def with_wrapped(*arguments: Any, dut: DesignRequest, wrapped: Path | None, **given: Any) -> Any:
        if wrapped is not None:
            if dut.rtl or dut.pipeline or dut.pins.given or dut.ports:
                raise click.UsageError("--wrapped is the whole design: give no RTL, ports, clock or stages with it.")
            dut = replace(dut, wrapped=find_wrapper(wrapped))
        return command(*arguments, dut=dut, **given)

    return rtl_options(with_wrapped)


def target_option(*, help: str, targets: Iterable[str], **more: Any) -> Callable[[Any], Any]:
    """Return the option ``--target``, one of ``targets``."""
    return click.option("--target", type=click.Choice(tuple(targets)), help=help, **more)


def netlist_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for netlists and bitstreams, which become part of the ``dut``."""

    @wraps(command)
    def with_options(
        *arguments: Any, dut: DesignRequest, netlist: Path | None, target: str | None, **given: Any
    ) -> Any:
        bits = [given.pop(name) for name in ("bitstream", "pins", "device", "hints")]
        if netlist is None and target is not None:
            raise click.UsageError("--target selects the cell library of a netlist: give the netlist with --netlist.")
        if netlist is not None and (dut.rtl or dut.wrapped):
            other = "--rtl" if dut.rtl else "--wrapped"
            raise click.UsageError(f"--netlist and {other} both select the design to verify; give only one.")
        if netlist is not None and dut.pipeline:
            raise click.UsageError(
                "--stages is for RTL that dais-verif emits; for a netlist of a pipeline give --clock instead."
            )
        found = None if netlist is None else find_netlist(netlist, target)
        return command(*arguments, dut=with_bitstream(replace(dut, netlist=found), *bits), **given)

    for option in (
        click.option(
            "--hints", type=file_path, help="With --bitstream: placed.json of build, which has the names of registers."
        ),
        click.option("--device", help="Device, such as ice40-hx8k-ct256. Default: the largest package of the chip."),
        click.option("--pins", type=file_path, help="Pins of the bitstream: a file with lines `set_io PORT PIN`."),
        click.option("--bitstream", type=file_path, help="Verify the logic read back from this iCE40 bitstream."),
        target_option(targets=NETLISTS, help="Cell library of the netlist; a folder of synth records it."),
        click.option("--netlist", type=file_path, help="Verify this netlist: a folder of synth or a Verilog file."),
    ):
        with_options = option(with_options)
    return with_options
