"""Compare RTL with a program: simulate it, prove it, run it on a board."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Unpack

from dais_verif.base.packages import name_missing_packages
from dais_verif.doors.api.keywords import PROVE, SIMULATE, ProveOptions, SimulateOptions
from dais_verif.doors.api.signatures import takes as takes_options
from dais_verif.subject.given import GivenProgram
from dais_verif.verbs.arguments import path_from, paths_from, program_from
from dais_verif.verbs.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.record.proof import ProofRecord
    from dais_verif.record.simulation import SimulationRecord
    from dais_verif.verbs.designs import DesignRequest
    from dais_verif.verbs.recognition import Sort

__all__ = ["design_request", "prove", "run_on_board", "simulate"]

_Path = str | PathLike[str]

_Pins = tuple[str | None, int | Literal["auto"] | None, str | None, str | None, str | None, str | None]


@name_missing_packages
@takes_options(SimulateOptions, SIMULATE)
def simulate(
    program: GivenProgram, *, progress: Progress | None = None, **options: Unpack[SimulateOptions]
) -> SimulationRecord:
    """Simulate RTL of a program and compare every output bit of every vector with the golden model.

    ``rtl``: the files of the design, or a folder with it; None: RTL is emitted, as a pipeline if ``stages`` or
    ``max_depth`` is given. A bitstream has ``pins``, a file of lines ``set_io PORT PIN``, and ``device``, such as
    ``ice40-hx8k-ct256``. ``simulators``: one or both of ``icarus`` and ``verilator``, or ``ghdl`` for VHDL; None: the
    simulators that fit the RTL. ``options`` are those of ``dais-verif sim``. Tool failures are verdicts of the record.
    """
    from dais_verif.verbs.options import build, from_keywords
    from dais_verif.verbs.recognition import ALL
    from dais_verif.verbs.simulate import simulate as flow
    from dais_verif.verbs.simulation_request import SimulationRequest

    given = from_keywords(SimulationRequest, options)
    request = build(SimulationRequest, given, program=program_from(program), design=_design(options, ALL))
    return flow(request, progress=listener(progress)).record


@name_missing_packages
@takes_options(ProveOptions, PROVE)
def prove(program: GivenProgram, *, progress: Progress | None = None, **options: Unpack[ProveOptions]) -> ProofRecord:
    """Prove for all inputs that RTL computes a program, or find an input vector for which it does not.

    ``rtl``: the files of the design, or a folder with it; None: RTL is emitted, as a pipeline if ``stages`` or
    ``max_depth`` is given. ``simulators``: one or both of ``icarus`` and ``verilator``, which replay a counterexample;
    None: the first that builds the RTL. ``options`` are those of ``dais-verif prove``. The verdict is UNKNOWN if
    equality is neither proved nor refuted. Concurrent proofs in one process run one after the other. Raises
    ``InputError`` for RTL that cannot be read, ``ToolError`` if a package or tool is missing.
    """
    from dais_verif.verbs.options import build, from_keywords
    from dais_verif.verbs.prove import ProveRequest
    from dais_verif.verbs.prove import prove as flow
    from dais_verif.verbs.recognition import Sort

    design = _design(options, (Sort.NETLIST, Sort.BITSTREAM))
    given = from_keywords(ProveRequest, options)
    return flow(
        build(ProveRequest, given, program=program_from(program), design=design), progress=listener(progress)
    ).record


@name_missing_packages
def run_on_board(
    program: GivenProgram,
    target: str,
    *,
    layout: str | None = None,
    vectors: int = 1000,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    unchecked: bool = False,
    timeout: float = 10.0,
    resume: bool = False,
    blame: _Path | None = None,
    load: str | None = None,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> SimulationRecord:
    """Run vectors on a board, or on a simulated one, and compare every output bit with the golden model.

    ``target``: ``serial:///dev/ttyUSB0?baud=115200``, ``tcp://host:port``, ``sim://uart``, ``sim://fifo`` or
    ``sim://bitstream?file=model.bin&pins=pins.pcf``, for example. ``timeout``: seconds without an answer after which
    the run is aborted. ``resume``: continue the interrupted run in ``output``. ``blame``: the folder of the build that
    runs on the board; after a mismatch, bitstreams with taps determine which op is wrong. ``load``: the command that
    loads a bitstream, such as ``iceprog {bitstream}``.
    """
    from dais_verif.verbs.boards.run_on_board import BoardRequest
    from dais_verif.verbs.boards.run_on_board import run_on_board as flow

    request = BoardRequest(
        program=program_from(program),
        target=target,
        layout=layout,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        unchecked=unchecked,
        timeout=timeout,
        resume=resume,
        blame=path_from("blame", blame),
        load=load,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress)).record


def design_request(
    *,
    rtl: Sequence[_Path] | _Path | None,
    top: str | None,
    data: Sequence[_Path] | _Path | None,
    parameters: Mapping[str, str | int] | None,
    ports: _Path | None,
    pins: _Pins,
    stages: int | None,
    max_depth: float | None,
    wrapped: _Path | None,
    netlist: _Path | None,
    target: str | None,
    bits: tuple[_Path | None, _Path | None, str | None, _Path | None],
    takes: Collection[Sort],
) -> DesignRequest:
    """Return the request for a design. ``pins``: fields of ``Pins``. ``bits``: a bitstream, its pins, device, hints.

    ``takes``: what the design may be besides RTL.
    """
    given = {
        "rtl": rtl,
        "top": top,
        "data": data,
        "parameters": parameters,
        "ports": ports,
        "stages": stages,
        "max_depth": max_depth,
        "wrapped": wrapped,
        "netlist": netlist,
        "target": target,
        **dict(zip(("clock", "latency", "reset", "enable", "valid_in", "valid_out"), pins, strict=True)),
        **dict(zip(("bitstream", "pins", "device", "hints"), bits, strict=True)),
    }
    return _design(given, takes)


def _design(keywords: Mapping[str, Any], takes: Collection[Sort]) -> DesignRequest:
    from dais_verif.verbs.design_options import DesignOptions
    from dais_verif.verbs.options import build, from_keywords
    from dais_verif.verbs.recognition import design_request as design_of

    return design_of(build(DesignOptions, from_keywords(DesignOptions, keywords)), takes)
