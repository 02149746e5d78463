"""Emit, synthesize and build programs as RTL, netlists and bitstreams."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from dais_verif.base.packages import name_missing_packages
from dais_verif.doors.api.pipelines import pipeline_request
from dais_verif.subject.given import GivenProgram
from dais_verif.verbs.arguments import path_from, paths_from, program_from, required_path
from dais_verif.verbs.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.record.build import BuildRecord
    from dais_verif.record.emission import EmissionRecord
    from dais_verif.record.synthesis import SynthesisRecord

__all__ = ["build_bitstream", "emit", "synthesize"]

_Path = str | PathLike[str]


@name_missing_packages
def emit(
    program: GivenProgram,
    *,
    layout: str | None = None,
    top: str = "model",
    stages: int | None = None,
    max_depth: float | None = None,
    delay_model: _Path | None = None,
    reset: bool = False,
    enable: bool = False,
    valid: bool = False,
    wrap: str | None = None,
    axil: bool = False,
    user_bits: int | None = None,
    check_beats: int | None = None,
    period: float | None = None,
    stream: _Path | None = None,
    cycles: int | None = None,
    output: _Path | None = None,
    form: str = "unrolled",
    parallel: int = 1,
    at_once: Sequence[int] = (),
    progress: Progress | None = None,
) -> EmissionRecord:
    """Write a program as one synthesizable Verilog-2005 module, whose text is ``verilog`` of the record.

    ``stages`` or ``max_depth``: emit a pipeline; ``reset``, ``enable``, ``valid``: add these ports to it. ``wrap``:
    ``axis``, ``uart``, ``spi`` or ``fifo``, in a project folder; ``stream``: a file that names the valid bits of a
    machine for ``axis``; ``cycles``: the machine cycles per vector of ``uart``, ``spi`` or ``fifo`` (default 32).
    ``form``: the form of a network: ``unrolled``, or ``memory`` or ``stream``, a machine in a folder; ``parallel``: the
    maximum number of its parallel members per stage; ``at_once``: the numbers of fused nodes, each of which one member
    computes as a whole.
    ``output``: the file to write, or the folder with ``wrap`` or ``form``. Raises ``InputError`` for a pipeline that is
    not possible, or a path that cannot be written.
    """
    from dais_verif.verbs.emit import EmitRequest, WrapRequest
    from dais_verif.verbs.emit import emit as flow

    request = EmitRequest(
        program=program_from(program),
        layout=layout,
        top=top,
        pipeline=pipeline_request(stages, max_depth, delay_model, reset, enable, valid),
        wrapper=WrapRequest(
            wrap=wrap,
            axil=axil,
            user_bits=user_bits,
            check_beats=check_beats,
            period=period,
            stream=path_from("stream", stream),
            cycles=cycles,
        ),
        output=path_from("output", output),
        form=form,
        parallel=parallel,
        at_once=tuple(at_once),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def synthesize(
    program: GivenProgram,
    target: str,
    *,
    layout: str | None = None,
    rtl: Sequence[_Path] | _Path | None = None,
    top: str | None = None,
    stages: int | None = None,
    max_depth: float | None = None,
    delay_model: _Path | None = None,
    reset: bool = False,
    enable: bool = False,
    valid: bool = False,
    alumacc: bool = False,
    bram: bool = True,
    pnr: bool = False,
    clock: str = "clk",
    timeout: float = 1800.0,
    memory: int = 8192,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> SynthesisRecord:
    """Synthesize RTL of a program with Yosys, and count LUTs, flip-flops, carries, DSPs, block RAMs and logic depth.

    ``target``: ``ice40``, ``ecp5``, ``xilinx`` or ``generic``. ``rtl``: the files of the design or a project folder;
    None: the RTL of a project folder given as the program, or emitted RTL.
    ``pnr``: also place and route, to find the maximum clock frequency in MHz (``pnr.fmax`` of the record). ``timeout``:
    seconds per tool; ``memory``: megabytes per process. ``output``: a folder for the netlist, which
    ``simulate(netlist=...)`` verifies. Raises ``ToolError`` if Yosys is missing, fails or exceeds a limit.
    """
    from dais_verif.verbs.synthesize import SynthesisRequest
    from dais_verif.verbs.synthesize import synthesize as flow

    request = SynthesisRequest(
        program=program_from(program),
        target=target,
        layout=layout,
        rtl=paths_from("rtl", rtl),
        top=top,
        pipeline=pipeline_request(stages, max_depth, delay_model, reset, enable, valid),
        alumacc=alumacc,
        bram=bram,
        pnr=pnr,
        clock=clock,
        timeout=timeout,
        memory=memory,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def build_bitstream(
    program: GivenProgram,
    device: str,
    output: _Path,
    *,
    layout: str | None = None,
    stages: int | None = None,
    max_depth: float | None = None,
    delay_model: _Path | None = None,
    reset: bool = False,
    enable: bool = False,
    valid: bool = False,
    wrap: str | None = None,
    cycles: int | None = None,
    pins: _Path | None = None,
    clock: float | None = None,
    seed: int = 1,
    bram: bool | None = None,
    dsp: bool = False,
    timeout: float = 1800.0,
    memory: int = 8192,
    progress: Progress | None = None,
) -> BuildRecord:
    """Build the bitstream of a program or a machine with Yosys, nextpnr and icepack, in the folder ``output``.

    ``device``: such as ``ice40-hx8k-ct256``. ``stages``, ``max_depth``: build a pipeline. ``wrap``: ``none``, or the
    link to the core, ``uart``, ``spi`` or ``fifo``; None: ``none`` if there are enough pins, else ``uart``. ``cycles``:
    the machine cycles per vector behind a link (default 32). ``pins``: a file with one ``set_io NAME PIN`` per bit of
    each port; None: pins are chosen. ``clock``: the required clock frequency in MHz (default 12 if there is a clock).
    ``seed``: the seed of the placement; the same input gives the same bits. ``bram``: tables may become block RAMs,
    which proofs of bitstreams do not support; None: only for machines, and behind a link. ``dsp``: products may become
    DSPs, on a UP5K. ``timeout``: seconds per tool; ``memory``: megabytes per process.

    Raises ``InputError`` with the numbers if the design does not fit or is too slow, ``ToolError`` if a tool is
    missing, fails or exceeds a limit.
    """
    from dais_verif.verbs.bitstream.build import BuildRequest
    from dais_verif.verbs.bitstream.build import build as flow

    request = BuildRequest(
        program=program_from(program),
        device=device,
        output=required_path("output", output),
        layout=layout,
        pipeline=pipeline_request(stages, max_depth, delay_model, reset, enable, valid),
        wrap=wrap,
        cycles=cycles,
        pins=path_from("pins", pins),
        clock=clock,
        seed=seed,
        bram=bram,
        dsp=dsp,
        timeout=timeout,
        memory=memory,
    )
    return flow(request, progress=listener(progress))
