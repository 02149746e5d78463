"""The functions of ``import dais_verif``: each makes a request of its arguments, and returns the record of a flow.

They print nothing; a ``Progress`` hears of what goes on. A wrong design is a verdict of the record; what cannot be used
at all raises a ``DaisError``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal

import dais_verif.notebooks  # noqa: F401  # records show themselves
from dais_verif.errors import RequestError
from dais_verif.flows.arguments import path_from, paths_from, shown, texts_from
from dais_verif.flows.programs import AnyProgram
from dais_verif.flows.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.flows.designs import DesignRequest
    from dais_verif.flows.pipelines import PipelineRequest
    from dais_verif.golden import Engine
    from dais_verif.record.check import CheckRecord
    from dais_verif.record.coverage import CoverageRecord
    from dais_verif.record.diff import DiffRecord
    from dais_verif.record.emission import EmissionRecord
    from dais_verif.record.proof import ProofRecord
    from dais_verif.record.sensitivity import SensitivityRecord
    from dais_verif.record.simulation import SimulationRecord
    from dais_verif.record.synthesis import SynthesisRecord

__all__ = ["check", "cover", "diff", "emit", "prove", "rank_sensitivity", "run_on_board", "simulate", "synthesize"]

_Path = str | PathLike[str]


def check(
    program: AnyProgram,
    *,
    layout: str | None = None,
    proof: bool = True,
    everything: bool = False,
    timeout: float = 5.0,
    progress: Progress | None = None,
) -> CheckRecord:
    """Check a program: its structure, and whether an op can break its promise not to change a value.

    ``program``: a path, the bytes of a file, or a ``Program``. ``proof``: put what intervals leave open to the prover,
    for at most 200 ops unless ``everything``; ``timeout``: seconds for each question. Raises ``ProgramError`` if there
    is no valid program.
    """
    from dais_verif.flows.check import CheckRequest
    from dais_verif.flows.check import check as flow

    request = CheckRequest(program=program, layout=layout, proof=proof, everything=everything, timeout=timeout)
    return flow(request, progress=listener(progress))


def diff(
    a: AnyProgram,
    b: AnyProgram,
    *,
    layout: str | None = None,
    layout_b: str | None = None,
    vectors: int = 1000,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    engine: Engine = "auto",
    unchecked: bool = False,
    prove: bool = False,
    timeout: float = 20.0,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> DiffRecord:
    """Compare the outputs of two programs on vectors, and with ``prove`` for all inputs.

    ``inputs``: files of vectors, before ``vectors`` generated ones. ``output``: a file for the witness of a difference.
    Raises ``InputError`` if the programs have not as many inputs and outputs.
    """
    from dais_verif.flows.diff import DiffRequest
    from dais_verif.flows.diff import diff as flow

    request = DiffRequest(
        a=a,
        b=b,
        layout=layout,
        layout_b=layout_b,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        engine=engine,
        unchecked=unchecked,
        prove=prove,
        timeout=timeout,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))


def cover(
    program: AnyProgram,
    *,
    layout: str | None = None,
    vectors: int = 1000,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    directed: bool = True,
    unreachable: bool = True,
    floor: float | None = None,
    timeout: float = 10.0,
    unchecked: bool = False,
    out_of_range: bool = False,
    jobs: int | None = None,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> CoverageRecord:
    """Count what vectors make a program do, and look for vectors that do the rest.

    ``floor``: percent of the bins that can be hit below which the verdict is NOT_SIGNED_OFF. ``timeout``: seconds for
    the solver, in all. ``output``: a folder for the bins and the directed vectors.
    """
    from dais_verif.flows.cover import CoverageRequest
    from dais_verif.flows.cover import cover as flow

    request = CoverageRequest(
        program=program,
        layout=layout,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        directed=directed,
        unreachable=unreachable,
        floor=floor,
        timeout=timeout,
        unchecked=unchecked,
        out_of_range=out_of_range,
        jobs=jobs,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress)).record


def rank_sensitivity(
    program: AnyProgram,
    *,
    layout: str | None = None,
    bits: bool = False,
    vectors: int = 64,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    unchecked: bool = False,
    timeout: float = 120.0,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> SensitivityRecord:
    """Flip bits of the values in a program, one at a time, and rank the ops by what that changes at the outputs.

    ``bits``: every bit of every op, not only the last one. ``timeout``: seconds after which no more flips are begun.
    ``output``: a file for all effects, .json or else CSV.
    """
    from dais_verif.flows.rank_sensitivity import SensitivityRequest
    from dais_verif.flows.rank_sensitivity import rank_sensitivity as flow

    request = SensitivityRequest(
        program=program,
        layout=layout,
        bits=bits,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        unchecked=unchecked,
        timeout=timeout,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))


def simulate(
    program: AnyProgram,
    *,
    layout: str | None = None,
    rtl: Sequence[_Path] | _Path | None = None,
    top: str = "model",
    data: Sequence[_Path] | _Path | None = None,
    parameters: Mapping[str, str | int] | None = None,
    ports: _Path | None = None,
    clock: str | None = None,
    latency: int | Literal["auto"] | None = None,
    reset: str | None = None,
    enable: str | None = None,
    valid_in: str | None = None,
    valid_out: str | None = None,
    stages: int | None = None,
    max_depth: float | None = None,
    wrapped: _Path | None = None,
    netlist: _Path | None = None,
    target: str | None = None,
    simulators: Sequence[str] | str | None = None,
    icarus_vectors: int | Literal["all"] | None = None,
    vectors: int = 1000,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    coverage: bool = False,
    rtl_coverage: bool = False,
    unchecked: bool = False,
    out_of_range: bool = False,
    waves: bool = False,
    bulk: bool = True,
    exhaustive: bool = False,
    exhaustive_bits: int = 24,
    jobs: int | None = None,
    timeout: float | None = None,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> SimulationRecord:
    """Simulate RTL of a program and compare every output bit of every vector with the golden model.

    ``rtl``: somebody's files; without them ours is written, as a pipeline with ``stages`` or ``max_depth``.
    ``simulators``: names of one or of both of ``icarus`` and ``verilator``, or ``ghdl`` for VHDL; None: what fits the
    RTL. Other arguments are the options of ``dais-verif sim``. Tool failures are verdicts of the record.
    """
    from dais_verif.flows.covering import Covering
    from dais_verif.flows.simulate import simulate as flow
    from dais_verif.flows.simulation_request import ALL, SimulationRequest

    design = _design(
        rtl=rtl,
        top=top,
        data=data,
        parameters=parameters,
        ports=ports,
        pins=(clock, latency, reset, enable, valid_in, valid_out),
        stages=stages,
        max_depth=max_depth,
        wrapped=wrapped,
        netlist=netlist,
        target=target,
    )
    request = SimulationRequest(
        program=program,
        layout=layout,
        design=design,
        simulator=_simulator(simulators),
        icarus_vectors=ALL if icarus_vectors == "all" else icarus_vectors,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        covering=Covering(coverage, rtl_coverage),
        unchecked=unchecked,
        out_of_range=out_of_range,
        waves=waves,
        bulk=bulk,
        exhaustive=exhaustive,
        exhaustive_bits=exhaustive_bits,
        jobs=jobs,
        timeout=timeout,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress)).record


def prove(
    program: AnyProgram,
    *,
    layout: str | None = None,
    rtl: Sequence[_Path] | _Path | None = None,
    top: str = "model",
    data: Sequence[_Path] | _Path | None = None,
    parameters: Mapping[str, str | int] | None = None,
    ports: _Path | None = None,
    clock: str | None = None,
    latency: int | Literal["auto"] | None = None,
    reset: str | None = None,
    enable: str | None = None,
    valid_in: str | None = None,
    valid_out: str | None = None,
    stages: int | None = None,
    max_depth: float | None = None,
    netlist: _Path | None = None,
    target: str | None = None,
    front_end: str = "slang",
    unchecked: bool = False,
    out_of_range: bool = False,
    timeout: float = 20.0,
    simulators: Sequence[str] | str | None = None,
    sample: float = 1.0,
    dump_smt: _Path | None = None,
    cache: bool = True,
    confirm: bool = True,
    seed: int = 0,
    jobs: int | None = None,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> ProofRecord:
    """Prove for all inputs that RTL computes a program, or find an input vector on which it does not.

    ``rtl``: somebody's files; without them ours is written, as a pipeline with ``stages`` or ``max_depth``.
    ``front_end``: ``slang``, ``yosys``, ``both`` or ``available``. ``timeout``: seconds for each obligation.
    ``simulators``: names of one or of both of ``icarus`` and ``verilator``, which replay what is wrong; None: the first
    that builds the RTL. ``confirm``: simulate RTL that is not ours before it passes. Other arguments are the options of
    ``dais-verif prove``. What is neither proved nor refuted has the verdict UNKNOWN. Threads of a process prove one
    after the other. Raises ``InputError`` for RTL that cannot be read, ``ToolError`` if a package or tool is missing.
    """
    from dais_verif.flows.prove import ProveRequest
    from dais_verif.flows.prove import prove as flow

    design = _design(
        rtl=rtl,
        top=top,
        data=data,
        parameters=parameters,
        ports=ports,
        pins=(clock, latency, reset, enable, valid_in, valid_out),
        stages=stages,
        max_depth=max_depth,
        wrapped=None,
        netlist=netlist,
        target=target,
    )
    request = ProveRequest(
        program=program,
        layout=layout,
        design=design,
        front_end=front_end,
        unchecked=unchecked,
        out_of_range=out_of_range,
        timeout=timeout,
        simulator=_simulator(simulators),
        sample=sample,
        dump_smt=path_from("dump_smt", dump_smt),
        cache=cache,
        confirm=confirm,
        seed=seed,
        jobs=jobs,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress)).record


_Pins = tuple[str | None, int | Literal["auto"] | None, str | None, str | None, str | None, str | None]


def _design(
    *,
    rtl: Sequence[_Path] | _Path | None,
    top: str,
    data: Sequence[_Path] | _Path | None,
    parameters: Mapping[str, str | int] | None,
    ports: _Path | None,
    pins: _Pins,
    stages: int | None,
    max_depth: float | None,
    wrapped: _Path | None,
    netlist: _Path | None,
    target: str | None,
) -> DesignRequest:
    """Return which design is meant. ``pins``: as ``Pins`` has them."""
    from dais_verif.flows.designs import NETLISTS, DesignRequest
    from dais_verif.flows.pins import Pins
    from dais_verif.flows.wrapper import find_wrapper
    from dais_verif.synthesis.netlist import find_netlist

    pipeline = None
    if stages is not None or max_depth is not None:
        pipeline = _pipeline(stages, max_depth, None, True, True, True).options()
    kinds = [name for name, given in (("rtl", rtl), ("wrapped", wrapped), ("netlist", netlist)) if given is not None]
    if len(kinds) > 1:
        raise RequestError(f"{' and '.join(kinds)} both name what is to be verified; give one of them.")
    if target is not None and target not in tuple(NETLISTS):
        raise RequestError(f"target must be one of {', '.join(NETLISTS)}, not {shown(target)}.")
    if target is not None and netlist is None:
        raise RequestError("target says what cells a netlist is made of; name it with netlist.")
    if netlist is not None and pipeline is not None:
        raise RequestError("stages and max_depth make RTL of ours; a netlist of a pipeline takes clock instead.")
    if wrapped is not None and (pipeline is not None or ports is not None or any(pin is not None for pin in pins)):
        raise RequestError("wrapped names all of the design: no ports, pins or stages beside it.")
    wrapped_folder, netlist_path = path_from("wrapped", wrapped), path_from("netlist", netlist)
    return DesignRequest(
        rtl=paths_from("rtl", rtl),
        data=paths_from("data", data),
        top=top,
        ports=path_from("ports", ports),
        pins=Pins(*pins),
        pipeline=pipeline,
        wrapped=None if wrapped_folder is None else find_wrapper(wrapped_folder),
        parameters=_parameters(parameters),
        netlist=None if netlist_path is None else find_netlist(netlist_path, target),
    )


def _parameters(values: Mapping[str, str | int] | None) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a module as a request has them."""
    from dais_verif.flows.designs import parse_parameter

    if values is None:
        return ()
    if not isinstance(values, Mapping):
        raise RequestError(f"parameters must be a dictionary of names and values, not {shown(values)}.")
    found = []
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise RequestError(f"parameters: {shown(name)} must have text or a whole number, not {shown(value)}.")
        try:
            found.append(parse_parameter(f"{name}={value}"))
        except ValueError as error:
            raise RequestError(f"parameters: {error}") from None
    return tuple(found)


def _simulator(names: Sequence[str] | str | None) -> str | None:
    """Return the names as one choice of ``dais-verif sim --sim``."""
    if names is None or (isinstance(names, str) and names == "both"):
        return names
    listed = texts_from("simulators", names)
    given = set(map(str, listed))
    if given == {"icarus", "verilator"}:
        return "both"
    if len(given) != 1 or not given <= {"icarus", "verilator", "ghdl"}:
        wanted = "icarus, verilator, both of them, or ghdl"
        raise RequestError(f"simulators must be {wanted}, not {', '.join(sorted(given)) or 'none'}.")
    return given.pop()


def run_on_board(
    program: AnyProgram,
    target: str,
    *,
    layout: str | None = None,
    vectors: int = 1000,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    unchecked: bool = False,
    timeout: float = 10.0,
    resume: bool = False,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> SimulationRecord:
    """Run vectors on a board, or on a simulated one, and compare every output bit with the golden model.

    ``target``: ``serial:///dev/ttyUSB0?baud=115200``, ``tcp://host:port``, ``sim://uart`` or ``sim://fifo``.
    ``timeout``: seconds without any answer after which the board is given up. ``resume``: go on with the run that was
    broken off in ``output``.
    """
    from dais_verif.flows.run_on_board import BoardRequest
    from dais_verif.flows.run_on_board import run_on_board as flow

    request = BoardRequest(
        program=program,
        target=target,
        layout=layout,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        unchecked=unchecked,
        timeout=timeout,
        resume=resume,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress)).record


def emit(
    program: AnyProgram,
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
    output: _Path | None = None,
    progress: Progress | None = None,
) -> EmissionRecord:
    """Write a program as one synthesizable Verilog-2005 module; ``verilog`` of the record is its text.

    ``stages`` or ``max_depth``: as a pipeline; ``reset``, ``enable``, ``valid``: with these ports. ``wrap``: ``axis``,
    ``uart`` or ``fifo``, in a project folder. ``output``: the file, or with ``wrap`` the folder, to write. Raises
    ``InputError`` for a pipeline that cannot be made, or a place that cannot be written.
    """
    from dais_verif.flows.emit import EmitRequest, WrapRequest
    from dais_verif.flows.emit import emit as flow

    request = EmitRequest(
        program=program,
        layout=layout,
        top=top,
        pipeline=_pipeline(stages, max_depth, delay_model, reset, enable, valid),
        wrapper=WrapRequest(wrap=wrap, axil=axil, user_bits=user_bits, check_beats=check_beats, period=period),
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))


def synthesize(
    program: AnyProgram,
    target: str,
    *,
    layout: str | None = None,
    rtl: Sequence[_Path] | _Path | None = None,
    top: str = "model",
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
    """Synthesize RTL of a program with Yosys: LUTs, flip-flops, carries, DSPs, block RAMs, logic depth.

    ``target``: ``ice40``, ``ecp5``, ``xilinx`` or ``generic``. ``rtl``: somebody's files; without them ours is written.
    ``pnr``: also place and route, for the clock in MHz (``pnr.fmax`` of the record). ``timeout``: seconds for each
    tool; ``memory``: megabytes for each process. ``output``: a folder for the netlist, which ``simulate(netlist=...)``
    verifies. Raises ``ToolError`` if Yosys is missing, fails or meets a limit.
    """
    from dais_verif.flows.synthesize import SynthesisRequest
    from dais_verif.flows.synthesize import synthesize as flow

    request = SynthesisRequest(
        program=program,
        target=target,
        layout=layout,
        rtl=paths_from("rtl", rtl),
        top=top,
        pipeline=_pipeline(stages, max_depth, delay_model, reset, enable, valid),
        alumacc=alumacc,
        bram=bram,
        pnr=pnr,
        clock=clock,
        timeout=timeout,
        memory=memory,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))


def _pipeline(
    stages: int | None, max_depth: float | None, delay_model: _Path | None, reset: bool, enable: bool, valid: bool
) -> PipelineRequest:
    from dais_verif.flows.pipelines import PipelineRequest

    return PipelineRequest(
        stages=stages,
        max_depth=max_depth,
        delay_model=path_from("delay_model", delay_model),
        reset=reset,
        enable=enable,
        valid=valid,
    )
