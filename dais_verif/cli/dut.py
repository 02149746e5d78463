"""The options that say which design is verified, and the design they mean."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, Literal

import click

from dais_verif.cli.common import file_path, notices, top_option
from dais_verif.cli.pins import Pins
from dais_verif.cli.pipelines import asked_pipeline, stage_options
from dais_verif.cli.wrapped import Wrapped, find_wrapped
from dais_verif.dut.bind import bind
from dais_verif.dut.directives import directives_of, told
from dais_verif.dut.discover import ports_in
from dais_verif.dut.face import Clocking, packed
from dais_verif.dut.parameters import parse_parameter, with_parameters
from dais_verif.dut.ports_file import PortsFile, latency_of, read_ports_file
from dais_verif.dut.verilog import included_by
from dais_verif.dut.vhdl_ports import in_lower_case, vhdl_ports_in
from dais_verif.emit import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.errors import InputError
from dais_verif.files import require_plain, write_atomically
from dais_verif.program import Program
from dais_verif.sim.build import Design
from dais_verif.sim.datafiles import data_files
from dais_verif.sim.sources import MOST_RTL_BYTES, is_vhdl, read_others

__all__ = ["DutOptions", "bound", "design_of", "dut_options", "emitted", "given", "rtl_options", "told_apart"]


@dataclass(frozen=True)
class DutOptions:
    """Somebody's RTL, or ours where ``rtl`` is empty; and the pins of a clocked design, if they are given.

    ``data``: what somebody's RTL reads. ``pipeline``: what ours is to be, if not combinational. ``parameters``: of
    somebody's top module, with their values as Verilog writes them.
    """

    rtl: tuple[Path, ...]
    data: tuple[Path, ...]
    top: str
    ports: Path | None
    pins: Pins
    pipeline: PipelineOptions | None = None
    wrapped: Wrapped | None = None
    parameters: tuple[tuple[str, str], ...] = ()


def _latency(context: click.Context, option: click.Parameter, value: str | None) -> int | Literal["auto"] | None:
    try:
        return None if value is None else "auto" if value == "auto" else latency_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _parameters(context: click.Context, option: click.Parameter, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    try:
        return tuple(dict(map(parse_parameter, texts)).items())
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_OPTIONS = (
    click.option("--rtl", type=file_path, multiple=True, help="Verify this RTL instead of our own; may be repeated."),
    click.option(
        "--data",
        type=file_path,
        multiple=True,
        help="What the RTL reads in the folder of a run: a file (or all in a folder) for $readmemh, say. What lies"
        " beside the RTL or just below, and is mentioned in it, is found unasked.",
    ),
    top_option,
    click.option(
        "--param",
        "parameters",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_parameters,
        help="Parameter of the top module of RTL in Verilog, for another value than its own; may be repeated.",
    ),
    click.option(
        "--ports",
        type=file_path,
        help="TOML file that says which ports carry what (docs/any-dut.md); options override its pins.",
    ),
    click.option("--clock", help="Clock of a pipelined design; one sample is given at every rising edge."),
    click.option(
        "--latency",
        show_default="auto",
        callback=_latency,
        help="Rising edges from an input to its output; auto: found out.",
    ),
    click.option("--reset", help="Reset of a clocked design: what is under way is dropped; NAME:low."),
    click.option("--enable", help="Clock enable of a clocked design: at 0 all registers keep their values."),
    click.option("--valid-in", help="Pin that says that an input is valid."),
    click.option("--valid-out", help="Pin by which the design says that an output is valid."),
    click.argument("more_rtl", nargs=-1, type=file_path),
)


def rtl_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options for RTL, its ports and pins, and our pipelines; the command gets one ``dut`` for all of them."""
    return stage_options(given_rtl_options(command))


def given_rtl_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same without our pipelines."""

    @wraps(command)
    def with_dut(*arguments: Any, **given: Any) -> Any:
        own = {name: given.pop(name) for name in ("rtl", "data", "top", "ports", "parameters", "more_rtl")}
        pins = {name: given.pop(name) for name in ("clock", "latency", "reset", "enable", "valid_in", "valid_out")}
        rtl, more = own.pop("rtl"), own.pop("more_rtl")
        if more and not rtl:
            raise click.UsageError(f"Got unexpected extra argument ({more[0]}); RTL files follow --rtl.")
        if own["data"] and not rtl:
            raise click.UsageError("--data is for RTL that reads files; give the RTL with --rtl.")
        if own["parameters"] and not rtl:
            raise click.UsageError("--param is for a module of somebody else's; give the RTL with --rtl.")
        asked_pins = Pins(**pins)
        if own["ports"] is None:
            asked_pins.over(None, "no ports file says which")  # refused before anything is read
        # All pins, so that all of what they do is exercised.
        stages = {name: given.pop(name, None) for name in ("stages", "max_depth", "delay_model")}
        pipeline = asked_pipeline(**stages)
        if pipeline is not None:
            pipeline = replace(pipeline, reset=True, enable=True, valid=True)
        dut = DutOptions((*rtl, *more), pins=asked_pins, pipeline=pipeline, **own)
        return command(*arguments, dut=dut, **given)

    for option in reversed(_OPTIONS):
        with_dut = option(with_dut)
    return with_dut


def dut_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, and ``--wrapped``."""

    @click.option("--wrapped", type=file_path, help="Verify a folder of `emit --wrap axis`, through its streams.")
    @wraps(command)
    def with_wrapped(*arguments: Any, dut: DutOptions, wrapped: Path | None, **given: Any) -> Any:
        if wrapped is not None:
            if dut.rtl or dut.pipeline or dut.pins.given or dut.ports:
                raise click.UsageError("--wrapped names all of the design: no RTL, ports, clock or stages beside it.")
            dut = replace(dut, wrapped=find_wrapped(wrapped))
        return command(*arguments, dut=dut, **given)

    return rtl_options(with_wrapped)


def design_of(program: Program, dut: DutOptions, folder: Path) -> Design:
    """The RTL to verify; our own is written into ``folder``. Raises ``InputError`` if it does not fit ``program``."""
    if dut.wrapped is not None:
        return dut.wrapped.design
    if not dut.rtl:
        return emitted(program, dut, folder)
    return bound(program, *given(dut, folder))


def bound(program: Program, design: Design, said: PortsFile) -> Design:
    """``design`` with its ports, as its sources declare them and ``said`` says of them."""
    if any(map(is_vhdl, design.sources)):
        found = vhdl_ports_in(design.sources, design.top)
    else:
        found = ports_in(design.sources, design.top)
    return replace(design, dut=bind(program, said, found))


def told_apart(design: Design, dut: DutOptions) -> list[str]:
    """Return warnings, which are also shown, of what in somebody's RTL tells simulation and synthesis apart."""
    lines, texts = [], design.sources if dut.rtl else ()
    if read_others([source.read_bytes() for source in texts]):
        with contextlib.suppress(InputError, OSError, RuntimeError):  # the reader says what is wrong
            texts = (*texts, *included_by(texts))
    for source in texts:
        text = source.read_bytes()
        if not is_vhdl(source) and (b"__FILE__" in text or (b"``" in text and b"__" in text)):
            lines.append(
                f"{source.name} may ask for its own name (`__FILE__): what was checked is a copy elsewhere, so "
                "nothing is said about hardware that depends on it; a sign-off refuses it"
            )
        found = directives_of(text, is_vhdl(source))
        if found:
            lines.append(
                f"{source.name} {', '.join(told(found))}: synthesis may read it otherwise; a sign-off proves that, too"
            )
    for line in lines:
        notices().print(f"warning: {line}", markup=False)
    return lines


def given(dut: DutOptions, folder: Path) -> tuple[Design, PortsFile]:
    """Somebody's RTL, and what is said of its ports, which were not looked at yet.

    A module that gives it parameters is written into ``folder``.
    Raises ``InputError`` if a file cannot be read, or an option is for our own module.
    """
    if dut.pipeline:
        raise InputError("--stages and --max-depth shape our own module; of others, name the clock: --clock")
    for source in dut.rtl:
        if not source.is_file():
            problem = "is a folder" if source.is_dir() else "does not exist"
            raise InputError(f"RTL file {str(source)!r} {problem}; give the files of module {dut.top}")
        require_plain(source, MOST_RTL_BYTES, "RTL file")
    said = read_ports_file(dut.ports) if dut.ports else PortsFile()
    said = replace(said, clocking=dut.pins.over(said.clocking, f"{str(dut.ports)!r} has no [clock]"))
    sources = tuple(source.absolute() for source in dut.rtl)
    vhdl = any(map(is_vhdl, sources))
    if vhdl and dut.parameters:
        raise InputError("--param is for RTL in Verilog; give the generics of VHDL in an entity around it")
    data, top = data_files(sources, dut.data), dut.top.lower() if vhdl else dut.top
    if dut.parameters:
        sources, top = with_parameters(sources, top, dict(dut.parameters), folder)
    design = Design(sources, top, data)
    return design, in_lower_case(said) if vhdl else said


def emitted(program: Program, dut: DutOptions, folder: Path) -> Design:
    """Our own RTL, written into ``folder``. Raises ``InputError`` for options that are for somebody else's."""
    if dut.pins.given or dut.ports:
        raise InputError(
            "our own module has its own ports: --clock and --ports need --rtl (ours is clocked with --stages)"
        )
    source = folder / f"{dut.top}.v"
    if dut.pipeline is None:
        write_atomically(source, emit_verilog(program, dut.top).encode())
        return Design((source,), dut.top)
    pipeline = emit_pipeline(program, dut.top, dut.pipeline)
    write_atomically(source, pipeline.text.encode())
    pins = Clocking("clk", pipeline.latency, "rst", False, "en", "in_valid", "out_valid")
    return Design((source,), dut.top, dut=packed(program, pins), path_of=pipeline.path_of)
