"""Synthesize RTL of a program or a machine with Yosys: return its costs, a netlist, and its highest clock frequency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import NetlistError, RequestError, ToolError
from dais_verif.base.files import require_plain, write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.toolchain.rtl_files import MOST_RTL_BYTES
from dais_verif.base.verdict import Verdict
from dais_verif.base.verilog_names import require_module_name
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.hardware.synthesis.netlist import RECORD
from dais_verif.hardware.synthesis.pnr import place
from dais_verif.hardware.synthesis.targets import TARGETS
from dais_verif.hardware.synthesis.yosys import FILES, Synthesis
from dais_verif.hardware.synthesis.yosys import synthesize as run_yosys
from dais_verif.record.program import ProgramInfo
from dais_verif.record.synthesis import LogicDepth, PlaceAndRoute, SynthesisRecord, SynthesizedRtl
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.subject import open_for
from dais_verif.subject.design_folders import brings_rtl
from dais_verif.subject.given import AnyProgram, is_folder, path_of
from dais_verif.verbs import common_options as common
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.options import REQUIRED, Request, option, options
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.pipelines import PipelineRequest
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.projects import open_projects
from dais_verif.verbs.work_folder import WorkFolder, work_folder

__all__ = ["TARGETS", "SynthesisRequest", "synthesize"]


@dataclass(frozen=True, kw_only=True)
class SynthesisRequest(Request):
    """A design to synthesize, and the FPGA family: ``ice40``, ``ecp5``, ``xilinx``, or ``generic`` gates.

    ``rtl``: user files or a project folder; if empty, the RTL of a project folder given as the program, or RTL that is
    emitted with ``pipeline``.
    """

    verb: ClassVar[str] = "synth"

    program: AnyProgram
    layout: str | None = common.layout()
    target: str = option(
        REQUIRED, "FPGA family; generic: technology-independent gates.", group="Synthesis", choices=tuple(TARGETS)
    )
    rtl: tuple[Path, ...] = option((), "Synthesize this RTL or project folder; may be repeated.", group="Design")
    top: str | None = option(
        None,
        "Name of the module.",
        group="Design",
        parse=common.module_name,
        default_text="model; for a project folder, its top",
    )
    pipeline: PipelineRequest = options(PipelineRequest)
    alumacc: bool = option(
        False,
        "Let Yosys merge chains of sums; the pass that does this miscompiles a - (-x) (docs/netlists.md).",
        group="Synthesis",
        rare=True,
        off="no-alumacc",
    )
    bram: bool = option(True, "Let Yosys put tables of pipelines in block RAMs.", group="Synthesis", rare=True)
    pnr: bool = option(
        False, "Also place and route with nextpnr, to find the maximum clock frequency.", group="Synthesis"
    )
    clock: str = option("clk", "With --pnr: the clock of clocked RTL.", group="Clocks and pipelines")
    timeout: float = common.timeout(1800.0, "Time limit for Yosys and for nextpnr, in seconds each.")
    memory: int = common.memory("Memory limit for each process (Yosys, its ABC, nextpnr), in megabytes.")
    output: Path | None = common.output("Folder to keep: netlist.v, synth.json, RTL, script, log.")

    @property
    def module(self) -> str:
        """The name of the top module."""
        return self.top or "model"

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other, or the output would destroy what is read."""
        require_module_name(self.module)
        if self.rtl and self.pipeline.wanted:
            raise RequestError.of("{stages} and {max_depth} are for emitted RTL, but {rtl} gives user RTL.")
        if self.pnr and TARGETS[self.target].board is None:
            able = ", ".join(name for name, other in TARGETS.items() if other.board)
            raise RequestError.of(
                "{pnr}: no open-source tool places and routes {family}; supported are {able}.",
                family=self.target,
                able=able,
            )
        written = (RECORD, *FILES, *(() if self.rtl else ("rtl.v",)))
        delays = self.pipeline.delay_model
        require_no_loss(self.output, written, program=self.program, rtl=self.rtl, delay_model=delays)


def synthesize(request: SynthesisRequest, *, progress: Progress = SILENT) -> SynthesisRecord:
    """Map the RTL of a request to its target, and count the cells.

    Raises ``ToolError`` if Yosys is missing, fails or meets a limit; for nextpnr this is a verdict in the record.
    """
    options = request.pipeline.options()
    request = _opened(request)
    program = _read(request, progress)
    tools.yosys()  # before anything is written
    with work_folder(request.output) as folder:
        # The record of an earlier run must not remain, however this run ends.
        (folder.path / RECORD).unlink(missing_ok=True)
        with progress.working("writing Verilog"):
            sources = _sources(program, request, options, folder.path)
        done, placed = _mapped(program, request, sources, folder, progress)
        record = SynthesisRecord(
            program=ProgramInfo.of_machine(program) if isinstance(program, Machine) else ProgramInfo.of(program),
            rtl=SynthesizedRtl(done.top, not request.rtl, [str(source) for source in sources]),
            target=done.target,
            top=done.top,
            tools={"yosys": done.version},
            alumacc=done.alumacc,
            counts=done.costs.kinds,
            cells=done.costs.cells,
            depth=LogicDepth(done.depth.cells, done.depth.kinds),
            seconds=round(done.seconds, 1),
            netlist=None if request.output is None else str(done.netlist),
            verify=None
            if request.output is None
            else _verify(request.program, request.output, request.module, options),
            pnr=placed,
        )
        write_atomically(folder.path / RECORD, record.to_json().encode())
    return record


def _opened(request: SynthesisRequest) -> SynthesisRequest:
    """Return ``request`` with a project folder, as the program or the RTL, replaced by its files."""
    folder = is_folder(request.program) and brings_rtl(Path(str(request.program)))
    if not (folder or any(map(is_folder, request.rtl))):
        return request
    if request.pipeline.wanted:
        raise RequestError.of("{stages} and {max_depth} are for emitted RTL, but the folder brings user RTL.")
    if folder and not request.rtl:
        request = replace(request, rtl=(Path(str(request.program)),))
    opened = open_projects(b"", DesignRequest(rtl=request.rtl, top=request.top))
    if opened.design.data:
        raise NetlistError(
            f"the RTL reads {opened.design.data[0].name!r} and Yosys gets no data files; write the folder without them"
        )
    clock = opened.design.pins.clock or request.clock
    return replace(request, rtl=opened.design.rtl, top=opened.design.module, clock=clock)


def _mapped(
    program: Program | Machine,
    request: SynthesisRequest,
    sources: tuple[Path, ...],
    folder: WorkFolder,
    progress: Progress,
) -> tuple[Synthesis, PlaceAndRoute | None]:
    """Return the results of Yosys, and of nextpnr if requested; if one of them fails, the folder is kept.

    Registers of a machine keep their names, from which a proof guesses their content. Registers of a program's pipeline
    do not keep their names, which are those of ops: a proof would take them for these ops even if bits were optimized
    away.
    """
    target, limits = request.target, Limits(request.timeout, request.memory)
    try:
        with progress.working(f"yosys: {target}") as show:
            done = run_yosys(
                sources,
                request.module,
                target,
                folder.path,
                limits,
                alumacc=request.alumacc,
                bram=request.bram,
                registers=isinstance(program, Machine),
                tell=lambda step: show(f"yosys: {target}: {step}"),
            )
            placed = _placed(done, request.clock, limits, progress, show) if request.pnr else None
    except ToolError:
        folder.kept = True
        raise
    folder.kept |= placed is not None and placed.verdict is Verdict.TOOL_FAILURE
    return done, placed


def _placed(
    done: Synthesis, clock: str, limits: Limits, progress: Progress, show: Callable[[str], None]
) -> PlaceAndRoute:
    if not done.costs.cells:
        return PlaceAndRoute(Verdict.NOT_RUN, "there are no cells to place, and so no path")
    try:
        tools.nextpnr(done.target)
    except ToolError as error:
        return PlaceAndRoute(Verdict.NOT_RUN, progress.spelled(error))
    try:
        placed = place(done, clock, limits, tell=lambda step: show(f"place and route: {step}"))
    except ToolError as error:
        return PlaceAndRoute(Verdict.TOOL_FAILURE, progress.spelled(error))
    return PlaceAndRoute(None, None, placed.device, placed.fmax, placed.used, round(placed.seconds, 1))


def _read(request: SynthesisRequest, progress: Progress) -> Program | Machine:
    """Return the program or machine of the request, for emitted and for user RTL."""
    machine = open_for("synth", request.program, request.layout).machine
    if machine is None:
        model = open_projects(request.program, DesignRequest(rtl=request.rtl)).program if request.rtl else None
        return read_program(model or request.program, request.layout, progress)[0]
    asked = request.pipeline
    require_no_options(layout=request.layout, stages=asked.stages, max_depth=asked.max_depth)
    return machine


def _sources(
    program: Program | Machine, request: SynthesisRequest, options: PipelineOptions | None, folder: Path
) -> tuple[Path, ...]:
    top = request.module
    for source in request.rtl:
        if not source.is_file():
            problem = "is a folder" if source.is_dir() else "does not exist"
            raise NetlistError(f"RTL file {str(source)!r} {problem}; give the Verilog files of module {top}")
        require_plain(source, MOST_RTL_BYTES, "RTL file")
        if source.suffix.lower() in (".vhd", ".vhdl"):
            raise NetlistError(f"RTL file {str(source)!r}: Yosys reads Verilog only; give the Verilog of module {top}")
    if request.rtl:
        return tuple(source.absolute() for source in request.rtl)
    if isinstance(program, Machine):
        text = emit_machine(program, top)
    else:
        text = emit_pipeline(program, top, options).text if options else emit_verilog(program, top)
    source = folder / "rtl.v"
    write_atomically(source, text.encode())
    return (source,)


def _verify(program: AnyProgram, output: Path, top: str, options: PipelineOptions | None) -> str:
    """Return the command that verifies the netlist."""
    words = ["sim", path_of(program), "--rtl", str(output)]
    if top != "model":
        words += ["--top", top]
    if options:
        words += ["--clock", "clk"]
        words += ["--reset", "rst"] * options.reset + ["--enable", "en"] * options.enable
        words += ["--valid-in", "in_valid", "--valid-out", "out_valid"] * options.valid
    return own_command(words)
