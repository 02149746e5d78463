"""The design for a device: the RTL of a program or a machine, bare or behind a byte link."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from dais_verif.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.emitter.board import LINKS
from dais_verif.emitter.machines import emit_machine
from dais_verif.emitter.machines.board import BOARD_CYCLES, machine_board
from dais_verif.emitter.wrapper import wrap
from dais_verif.errors import BitstreamError, RequestError
from dais_verif.machine import Machine
from dais_verif.machine.ports import CLOCK, bits_of
from dais_verif.program import Program
from dais_verif.program.ports import ports_of

__all__ = ["BUILD_WRAPS", "NONE", "BuildDesign", "bare_bits", "build_design"]

#: No wrapper: the ports of the core are pins.
NONE = "none"
BUILD_WRAPS = (NONE, *LINKS)

_TOP = "model"


class BuildDesign(NamedTuple):
    """RTL to build. ``files``: Verilog by name, lowest module first. ``clock``: the clock's port; None: no clock.

    ``pins``: the options of ``sim`` and ``prove`` that name the pins of a bare pipeline.
    """

    top: str
    files: dict[str, str]
    clock: str | None
    pins: list[str]


def bare_bits(model: Program | Machine, options: PipelineOptions | None) -> int:
    """Return the number of bits in the ports of a bare core."""
    if isinstance(model, Machine):
        bits = sum(bits_of(signal.types) for signal in (*model.inputs, *model.outputs))
        return bits + bool(model.registers)
    ports = ports_of(model)
    control = 0 if options is None else 1 + options.reset + options.enable + 2 * options.valid
    return max(ports.input_bits, 1) + max(ports.output_bits, 1) + control


def build_design(
    model: Program | Machine, kind: str, options: PipelineOptions | None, *, period: float, cycles: int | None
) -> BuildDesign:
    """Return the RTL of ``model``, wrapped as ``kind``, one of ``BUILD_WRAPS``. ``period``: the clock period in ns.

    ``cycles``: the number of cycles per vector, for a machine behind a link. Raises ``InputError`` for a design that
    cannot be wrapped.
    """
    if cycles is not None and (kind == NONE or not isinstance(model, Machine)):
        raise RequestError.of("{cycles} is for a machine (ALIRFSM) behind a link.")
    if isinstance(model, Machine):
        if kind == NONE:
            clock = CLOCK if model.registers else None
            return BuildDesign(_TOP, {f"{_TOP}.v": emit_machine(model, _TOP)}, clock, [])
        files = machine_board(model, kind, _TOP, cycles=BOARD_CYCLES if cycles is None else cycles, period=period)
        return BuildDesign(f"{_TOP}_{kind}", files, "aclk", [])
    if options is not None and kind != NONE:
        if options.reset or options.valid:
            raise BitstreamError.of(
                "{reset} and {valid} cannot be wrapped: the wrapper handles valid data itself; leave them out"
            )
        options = replace(options, enable=True)
    pipeline = emit_pipeline(model, _TOP, options) if options else None
    text = pipeline.text if pipeline else emit_verilog(model, _TOP)
    if kind == NONE:
        return BuildDesign(_TOP, {f"{_TOP}.v": text}, "clk" if options else None, _pins(options))
    ports = ports_of(model)
    wrapped = wrap(
        kind,
        _TOP,
        text,
        model.hash,
        input_bits=max(ports.input_bits, 1),
        output_bits=max(ports.output_bits, 1),
        latency=pipeline.latency if pipeline else 0,
        period=period,
    )
    return BuildDesign(wrapped.top, wrapped.files, "aclk", [])


def _pins(options: PipelineOptions | None) -> list[str]:
    """Return the options that name the pins of an emitted pipeline."""
    if options is None:
        return []
    words = ["--clock", "clk"]
    words += ["--reset", "rst"] * options.reset + ["--enable", "en"] * options.enable
    return words + ["--valid-in", "in_valid", "--valid-out", "out_valid"] * options.valid
