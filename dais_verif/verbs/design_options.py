"""The options for a design to verify, declared once for all verbs that take one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

from dais_verif.base.errors import RequestError
from dais_verif.hardware.ports.parameters import parse_parameter
from dais_verif.hardware.synthesis.targets import NETLISTS
from dais_verif.verbs.arguments import require_types, shown
from dais_verif.verbs.common_options import module_name
from dais_verif.verbs.options import option, require_options
from dais_verif.verbs.pins import latency_of
from dais_verif.verbs.pipelines import delay_model_option, max_depth_option, stages_option

__all__ = ["SORTS", "DesignOptions", "Sort"]


class Sort(Enum):
    """What a design can be besides RTL, in words."""

    NETLIST = "a netlist"
    BITSTREAM = "a bitstream"
    WRAPPED = "a wrapped core"


SORTS = tuple(Sort)

_DESIGN, _CLOCKS = "Design", "Clocks and pipelines"


def _parsed(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(dict(map(parse_parameter, texts)).items())


def _parameters(values: Mapping[str, str | int] | None) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a module that Python gives."""
    if values is None:
        return ()
    if not isinstance(values, Mapping):
        raise RequestError(f"parameters must be a dictionary of names and values, not {shown(values)}.")
    found = []
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise RequestError(f"parameters: {shown(name)} must be a string or an integer, not {shown(value)}.")
        try:
            found.append(parse_parameter(f"{name}={value}"))
        except ValueError as error:
            raise RequestError(f"parameters: {error}") from None
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    """The options. ``netlist``, ``bitstream`` and ``wrapped`` are former ones, which accept what ``rtl`` accepts."""

    rtl: tuple[Path, ...] = option(
        (),
        "Verify this design: files of RTL (may be repeated), a project folder, a netlist (a folder of synth, or a file "
        "with --target), a bitstream (with --pins, or a folder of build), or a folder of emit --wrap axis.",
        group=_DESIGN,
    )
    data: tuple[Path, ...] = option(
        (),
        "File that the RTL reads in simulation ($readmemh), or a folder of such files. Files named in the RTL are "
        "found without this option if they are next to it or one folder below.",
        group=_DESIGN,
        rare=True,
    )
    top: str | None = option(
        None,
        "Name of the module.",
        group=_DESIGN,
        parse=module_name,
        default_text="model; for a project folder, its top",
    )
    parameters: tuple[tuple[str, str], ...] = option(
        (),
        "Value of a parameter of the top module (Verilog only); may be repeated.",
        group=_DESIGN,
        rare=True,
        name="param",
        keyword="parameters",
        metavar="NAME=VALUE",
        parse=_parsed,
        take=_parameters,
        show="=".join,
        accepts="Mapping[str, str | int]",
    )
    ports: Path | None = option(
        None,
        "TOML file that maps ports to inputs and outputs (docs/any-dut.md); options override its pins.",
        group=_DESIGN,
    )
    clock: str | None = option(
        None, "Clock of a pipelined design, which takes one sample at every rising edge.", group=_CLOCKS
    )
    latency: int | Literal["auto"] | None = option(
        None,
        "Rising edges from an input to its output; auto detects it.",
        group=_CLOCKS,
        parse=lambda text: text if text == "auto" else latency_of(text),
        default_text="auto",
        accepts="int | Literal['auto']",
    )
    reset: str | None = option(
        None,
        "Reset of a clocked design, which drops vectors in flight; NAME:low if active low.",
        group=_CLOCKS,
        rare=True,
    )
    enable: str | None = option(
        None, "Clock enable of a clocked design: at 0 all registers keep their values.", group=_CLOCKS, rare=True
    )
    valid_in: str | None = option(None, "Input pin that marks valid inputs.", group=_CLOCKS, rare=True)
    valid_out: str | None = option(None, "Output pin that marks valid outputs.", group=_CLOCKS, rare=True)
    stages: int | None = stages_option()
    max_depth: float | None = max_depth_option()
    delay_model: Path | None = delay_model_option()
    target: str | None = option(
        None, "Cell library of a netlist that is one file.", group=_DESIGN, rare=True, choices=tuple(NETLISTS)
    )
    pins: Path | None = option(
        None, "Pins of a bitstream: a file with lines `set_io PORT PIN`.", group=_DESIGN, rare=True
    )
    device: str | None = option(
        None, "Device of a bitstream, such as ice40-hx8k-ct256. Default: its largest package.", group=_DESIGN, rare=True
    )
    hints: Path | None = option(
        None, "For a bitstream: placed.json of build, with names of registers.", group=_DESIGN, rare=True
    )
    netlist: Path | None = option(None, "The same as rtl.", group=_DESIGN, hidden=True)
    bitstream: Path | None = option(None, "The same as rtl.", group=_DESIGN, hidden=True)
    wrapped: Path | None = option(None, "The same as rtl.", group=_DESIGN, hidden=True)

    def __post_init__(self) -> None:
        require_types(self)
        require_options(self)
