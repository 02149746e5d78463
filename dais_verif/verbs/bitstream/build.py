"""Build the bitstream of a program or a machine: RTL, Yosys, nextpnr, icepack, and timing by icetime."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

from dais_verif.base.errors import BitstreamError, RequestError, ToolError
from dais_verif.base.files import read_plain, require_replaceable
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.toolchain.limits import Limits
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.emitter.board import LINKS
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.hardware.emitter.machines.board import BOARD_CYCLES, MOST_CYCLES, machine_board
from dais_verif.hardware.emitter.wrapper import wrap
from dais_verif.hardware.synthesis.bitstream import BITSTREAM, LOGS, PINS, PLACED, Built, build_tools, make_bitstream
from dais_verif.hardware.synthesis.devices import (
    DEVICES,
    MOST_CONSTRAINTS_BYTES,
    assigned,
    package_pins,
    read_constraints,
    require_pins,
)
from dais_verif.hardware.synthesis.pnr import netlist_ports
from dais_verif.hardware.synthesis.yosys import LOG, NETLIST, RTLIL, Synthesis
from dais_verif.hardware.synthesis.yosys import synthesize as run_yosys
from dais_verif.record.build import BUILD_RECORD, BuildRecord, BuildTiming
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import CLOCK, bits_of
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.options import REQUIRED, Request, option, options
from dais_verif.verbs.overwrite_guard import require_no_loss, write_folder
from dais_verif.verbs.pipelines import PipelineRequest
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress

__all__ = [
    "BUILD_WRAPS",
    "BuildDesign",
    "BuildRequest",
    "DEFAULT_CLOCK",
    "DEVICES",
    "NONE",
    "bare_bits",
    "build",
    "build_design",
]


#: No wrapper: the ports of the core are pins.
NONE = "none"
BUILD_WRAPS = (NONE, *LINKS)
#: The default clock in MHz: the oscillator of most boards with these devices.
DEFAULT_CLOCK = 12.0
#: A clock in MHz that is faster than any device of the table.
_MOST_CLOCK = 1000.0


@dataclass(frozen=True, kw_only=True)
class BuildRequest(Request):
    """A design to build for ``device`` into the folder ``output``.

    ``bram``: None: only for machines, and behind a link, which itself needs block RAMs, since proofs do not support
    them in bitstreams of bare programs.
    """

    verb: ClassVar[str] = "build"

    program: AnyProgram
    layout: str | None = common.layout()
    device: str = option(REQUIRED, "The FPGA, and its package.", group="Design", choices=tuple(DEVICES))
    pipeline: PipelineRequest = options(PipelineRequest)
    wrap: str | None = option(
        None,
        "Connect pins to ports of the core (none), or to a link for hil. Default: none if there are enough pins, "
        "else uart.",
        group="Wrapper",
        choices=BUILD_WRAPS,
    )
    cycles: int | None = option(
        None, "With --wrap: cycles of a machine per vector. Default: 32.", group="Wrapper", least=1, most=MOST_CYCLES
    )
    pins: Path | None = option(
        None,
        "File with `set_io NAME PIN` for each bit of each port. Default: pins are assigned automatically.",
        group="Design",
        rare=True,
    )
    clock: float | None = option(
        None,
        "Clock frequency that timing must meet, in MHz. Default: 12 for clocked designs.",
        group="Clocks and pipelines",
    )
    seed: int = option(1, "Seed of the placement.", group="Vectors", least=0, most=(1 << 31) - 1)
    bram: bool | None = option(
        None,
        "Put tables in block RAMs. Default: not for a bare program, so that it can be proved.",
        group="Synthesis",
        rare=True,
    )
    dsp: bool = option(False, "Put products in DSPs (UP5K only).", group="Synthesis", rare=True)
    timeout: float = common.timeout(1800.0, "Time limit for each tool, in seconds.")
    memory: int = common.memory("Memory limit for each process, in megabytes.")
    output: Path = common.output("Folder: model.bin, pins.pcf, RTL, netlist, logs.", REQUIRED)

    def require(self) -> None:
        """Raise ``RequestError`` if the clock is none, or the output would destroy what is read."""
        if self.clock is not None and not 0 < self.clock <= _MOST_CLOCK:
            raise RequestError.of(
                "{clock} is {value}, must be a number of MHz above 0, at most {most:g}.",
                value=self.clock,
                most=_MOST_CLOCK,
            )
        delays = self.pipeline.delay_model
        require_no_loss(self.output, program=self.program, delay_model=delays, pins=self.pins)
        written = (BUILD_RECORD, BITSTREAM, PINS)
        require_no_loss(self.output, written, program=self.program, delay_model=delays, pins=self.pins)


def build(request: BuildRequest, *, progress: Progress = SILENT) -> BuildRecord:
    """Build the requested bitstream; its folder may hold the files of an earlier call, which are replaced if unchanged.

    Raises ``InputError`` if the design does not fit, with the excess, or is too slow for the clock; ``ToolError`` if a
    tool is missing, fails or meets a limit. After an error nothing is written.
    """
    if request.dsp and DEVICES[request.device].chip != "5k":
        raise BitstreamError.of(
            "{device} {value} has no DSPs: leave {dsp} out, or take ice40-up5k-sg48", value=request.device
        )
    require_replaceable(request.output, BUILD_RECORD)
    options = request.pipeline.options()
    versions = build_tools()
    model = _read(request, progress)
    kind = request.wrap or _wrap(model, request)
    if kind == NONE:  # before the long run of Yosys
        require_pins(request.device, bare_bits(model, options))
    clock = DEFAULT_CLOCK if request.clock is None else request.clock
    design = build_design(model, kind, options, period=1000 / clock, cycles=request.cycles)
    required = clock if design.clock or request.clock is not None else None
    bram = (kind != NONE or isinstance(model, Machine)) if request.bram is None else request.bram
    named = kind != NONE or isinstance(model, Machine)  # only proofs of these use hints, which are names of registers
    limits = Limits(request.timeout, request.memory)
    with temporary_folder() as temporary:
        try:
            pins, built, done = _made(request, design, clock, bram, named, limits, temporary.path, progress)
        except ToolError:
            temporary.kept = True
            raise
        timing = BuildTiming(required, built.timing.registers, built.timing.path)
        _require_clock(timing)
        files = dict(_files(design, temporary.path))
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    record = BuildRecord(
        program=ProgramInfo.of_machine(model) if isinstance(model, Machine) else ProgramInfo.of(model),
        device=request.device,
        wrap=kind,
        top=design.top,
        clock_port=design.clock,
        design_options=design.pins,
        seed=request.seed,
        pins=pins,
        pins_chosen=request.pins is None,
        counts=done.costs.kinds,
        used=built.used,
        timing=timing,
        tools=versions,
        folder=str(request.output),
        files=hashes,
        stages=request.pipeline.stages,
        max_depth=request.pipeline.max_depth,
        delay_model=None if request.pipeline.delay_model is None else str(request.pipeline.delay_model),
        bram=bram,
        dsp=request.dsp,
    )
    write_folder(request.output, {**files, BUILD_RECORD: record.to_json().encode()}, BUILD_RECORD)
    return record


def _read(request: BuildRequest, progress: Progress) -> Program | Machine:
    machine = open_for("build", request.program, request.layout).machine
    if machine is None:
        return read_program(request.program, request.layout, progress)[0]
    asked = request.pipeline
    require_no_options(layout=request.layout, stages=asked.stages, max_depth=asked.max_depth)
    return machine


def _wrap(model: Program | Machine, request: BuildRequest) -> str:
    """Return the default wrapper."""
    fits = bare_bits(model, request.pipeline.options()) <= len(package_pins(DEVICES[request.device]))
    return NONE if fits else "uart"


def _made(
    request: BuildRequest,
    design: BuildDesign,
    clock: float,
    bram: bool,
    named: bool,
    limits: Limits,
    folder: Path,
    progress: Progress,
) -> tuple[dict[str, str], Built, Synthesis]:
    sources = []
    for name, text in design.files.items():
        sources.append(folder / "made" / name)
        sources[-1].parent.mkdir(exist_ok=True)
        sources[-1].write_text(text, encoding="utf-8")
    with progress.working("yosys: ice40") as show:
        done = run_yosys(
            sources,
            design.top,
            "ice40",
            folder,
            limits,
            bram=bram,
            dsp=request.dsp,
            registers=named,
            tell=lambda step: show(f"yosys: ice40: {step}"),
        )
        if not done.costs.cells:
            show("no cells: outputs are inputs or constants")
        ports = netlist_ports(folder / RTLIL, design.top)
        if request.pins is None:
            pins = assigned(request.device, ports, design.clock or "")
        else:
            data = read_plain(request.pins, MOST_CONSTRAINTS_BYTES, "pins")
            text = data.decode("utf-8", "replace")
            pins = read_constraints(text, f"pins {str(request.pins)!r}", request.device, ports)
        built = make_bitstream(done, request.device, pins, limits, seed=request.seed, megahertz=clock, tell=show)
    return pins, built, done


def _require_clock(timing: BuildTiming) -> None:
    """Raise ``InputError`` if the bitstream is too slow for the requested clock."""
    if timing.required is None or timing.met:
        return
    assert timing.allowed is not None
    raise BitstreamError.of(
        "the design reaches {allowed} MHz, less than the {required} MHz of {clock}: lower {clock}, or add {stages}",
        allowed=f"{timing.allowed:.2f}",
        required=f"{timing.required:g}",
    )


def _files(design: BuildDesign, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the kept files of a build: relative name and content."""
    for name, text in design.files.items():
        yield f"rtl/{name}", text.encode()
    for name in (BITSTREAM, PINS, PLACED, NETLIST):
        yield name, (folder / name).read_bytes()
    for name in (LOG, *LOGS):
        yield f"logs/{name}", (folder / name).read_bytes()


# The design for a device: the RTL of a program or a machine, bare or behind a byte link.


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
