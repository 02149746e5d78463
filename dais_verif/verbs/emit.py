"""Write a program or a machine as Verilog: a module, a pipeline, or a folder with all files for synthesis."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import Argument, EmitterError
from dais_verif.base.files import write_atomically
from dais_verif.base.verilog_names import require_module_name
from dais_verif.hardware.emitter import Pipeline, PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.emitter.machines.board import MOST_CYCLES
from dais_verif.hardware.emitter.project import MANIFEST, WrapperOptions, project_folder
from dais_verif.hardware.emitter.wrapper import WRAPS
from dais_verif.record.emission import EmissionRecord, PipelineInfo, PortElement, PortElements, WrapperFolderInfo
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Element, ports_of
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.machines.emit import emit_machine
from dais_verif.verbs.networks.emit import emit_network
from dais_verif.verbs.networks.hardware_forms import require_form
from dais_verif.verbs.options import Request, option, options, require_options
from dais_verif.verbs.overwrite_guard import require_no_loss, write_folder
from dais_verif.verbs.pipelines import PipelineRequest
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["WRAPS", "EmitRequest", "WrapRequest", "emit"]

#: Numbers of beats after which a longer self-check has an additional signature, to show after how many beats it fails.
_SHORTER = (1, 16, 256, 4096, 65536)

_WRAPPER = "Wrapper"


@dataclass(frozen=True, kw_only=True)
class WrapRequest:
    """The wrapper; None for settings that are not requested."""

    wrap: str | None = option(
        None,
        "Also write the wrapper and all files of an FPGA project; -o names a folder.",
        group=_WRAPPER,
        choices=WRAPS,
    )
    axil: bool = option(
        False, "With --wrap: add AXI4-Lite registers, counters and a self-check.", group=_WRAPPER, rare=True
    )
    user_bits: int | None = option(
        None,
        "With --wrap: width of TUSER in bits; 0 for none. Default: 1.",
        group=_WRAPPER,
        rare=True,
        least=0,
        most=4096,
    )
    check_beats: int | None = option(
        None,
        "With --axil: number of self-check vectors to compute the signature for. Default: 4096.",
        group=_WRAPPER,
        rare=True,
        least=1,
        most=1 << 20,
    )
    stream: Path | None = option(
        None, "With --wrap axis: TOML file that names the valid signals of a machine.", group=_WRAPPER
    )
    cycles: int | None = option(
        None,
        "With --wrap uart, spi or fifo: cycles of a machine per vector. Default: 32.",
        group=_WRAPPER,
        least=1,
        most=MOST_CYCLES,
    )
    period: float | None = option(
        None, "With --wrap: clock period in ns, in the constraints. Default: 5.", group=_WRAPPER, rare=True
    )

    def __post_init__(self) -> None:
        require_types(self)
        require_options(self)
        streams = {"axil": self.axil or None, "user_bits": self.user_bits, "check_beats": self.check_beats}
        for name, value in {**streams, "period": self.period, "stream": self.stream, "cycles": self.cycles}.items():
            if value is not None and self.wrap is None:
                raise EmitterError.of("{name} is for wrapped modules: add {wrap} axis", name=Argument(name))
            if value is not None and self.wrap != "axis" and name in streams:
                raise EmitterError.of(
                    "{name} is for AXI4-Stream, not for {wrap} {wrap_given}: leave it out, or use {wrap} axis",
                    name=Argument(name),
                    wrap_given=self.wrap,
                )
        if self.check_beats is not None and not self.axil:
            raise EmitterError.of("{check_beats} is for the self-check, which is started over AXI4-Lite: add {axil}")
        if self.period is not None and not (math.isfinite(self.period) and self.period > 0):
            raise EmitterError.of(
                "{period} is {period_given}, must be a number of nanoseconds greater than 0", period_given=self.period
            )

    def options(self, kind: str, latency: int) -> WrapperOptions:
        """Return the options to wrap a core of ``latency`` clock edges as ``kind``."""
        return WrapperOptions(
            kind,
            latency,
            user_bits=1 if self.user_bits is None else self.user_bits,
            axil=self.axil,
            period=5.0 if self.period is None else self.period,
        )

    def beats(self) -> list[int]:
        """Return the numbers of beats of the self-check after which a signature is computed."""
        last = 4096 if self.check_beats is None else self.check_beats
        return [*(beats for beats in _SHORTER if beats < last), last]


@dataclass(frozen=True, kw_only=True)
class EmitRequest(Request):
    """A design to emit. ``output``: the file, or with a wrapper the folder, to write; None: only return Verilog."""

    verb: ClassVar[str] = "emit"

    program: AnyProgram
    layout: str | None = common.layout()
    top: str = common.top()
    pipeline: PipelineRequest = options(PipelineRequest)
    wrapper: WrapRequest = options(WrapRequest)
    form: str = common.form()
    parallel: int = common.parallel()
    at_once: tuple[int, ...] = common.at_once()
    output: Path | None = common.output("File to write; stdout if not given. --wrap: folder.", writes="any")

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other, or the output would destroy what is read."""
        require_module_name(self.top)
        require_form(self.form, self.parallel, self.at_once)
        if self.wrapper.wrap is not None and self.output is None:
            raise EmitterError.of("{wrap} writes several files; name a folder for them with {output}")
        stream = self.wrapper.stream
        require_no_loss(self.output, program=self.program, delay_model=self.pipeline.delay_model, stream=stream)


def emit(request: EmitRequest, *, progress: Progress = SILENT) -> EmissionRecord:
    """Write the requested Verilog, and return it.

    Raises ``ProgramError`` if the program is invalid, ``InputError`` for a pipeline that cannot be made or a path that
    cannot be written; a folder that differs from what an earlier call wrote is never replaced.
    """
    subject = open_for("emit", request.program, request.layout)
    if request.form != "unrolled":
        return emit_network(subject, request)
    if subject.machine is not None:
        return emit_machine(subject.machine, request)
    program, _ = read_program(request.program, request.layout, progress)
    options = request.pipeline.options()
    if request.wrapper.stream is not None:
        raise EmitterError.of("{stream} names the valid signals of a machine (ALIRFSM), but this is a program")
    if request.wrapper.cycles is not None:
        raise EmitterError.of("{cycles} is for machines (ALIRFSM) on a board, but this is a program")
    if request.wrapper.wrap is not None:
        options = _held(options)
    pipeline = emit_pipeline(program, request.top, options) if options else None
    text = pipeline.text if pipeline else emit_verilog(program, request.top)
    wrapped = None
    if request.wrapper.wrap is not None and request.output is not None:
        wrapped = _write_wrapper(program, request, request.wrapper.wrap, text, pipeline, request.output)
    elif request.output is not None:
        write_atomically(request.output, text.encode())
    ports = ports_of(program)
    return EmissionRecord(
        program=ProgramInfo.of(program),
        top=request.top,
        output=None if request.output is None else str(request.output),
        ports=PortElements(list(map(_element, ports.inputs)), list(map(_element, ports.outputs))),
        pipeline=None if pipeline is None else _info(pipeline),
        wrapped=wrapped,
        verilog=text,
    )


def _held(options: PipelineOptions | None) -> PipelineOptions | None:
    """Return the pipeline options for a wrapper: with an enable, and without valid bits, which the wrapper handles."""
    if options is None:
        return None
    if options.reset or options.valid:
        raise EmitterError.of(
            "{reset} and {valid} cannot be wrapped: the wrapper handles valid data itself; leave them out"
        )
    return replace(options, enable=True)


def _write_wrapper(
    program: Program, request: EmitRequest, kind: str, text: str, pipeline: Pipeline | None, output: Path
) -> WrapperFolderInfo:
    options = request.wrapper.options(kind, pipeline.latency if pipeline else 0)
    if options.axil:
        # Signatures come from the golden model, which the emitter must not import, so they are computed here.
        from dais_verif.simulation.selfcheck import selfcheck_signatures

        options = replace(options, signatures=selfcheck_signatures(program, request.wrapper.beats()))
    files = project_folder(program, request.top, text, options)
    write_folder(output, files, MANIFEST)
    return WrapperFolderInfo(
        kind=options.kind,
        top=f"{request.top}_{options.kind}",
        folder=str(output),
        files=sorted(files),
        axil=options.axil,
        core_latency=options.latency,
        user_bits=options.user_bits,
        signatures={str(beats): f"{value:08x}" for beats, value in options.signatures.items()},
    )


def _element(element: Element) -> PortElement:
    return PortElement(element.offset, element.width, element.lo)


def _info(pipeline: Pipeline) -> PipelineInfo:
    return PipelineInfo(
        stages=pipeline.stages,
        latency=pipeline.latency,
        initiation_interval=1,
        registers=pipeline.registers,
        register_bits=pipeline.register_bits,
        depths=list(pipeline.depths),
        unit=pipeline.unit,
    )
