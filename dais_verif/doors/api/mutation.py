"""Measure the quality of a verification by mutants of RTL, and the checks that kill them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal

from dais_verif.base.packages import name_missing_packages
from dais_verif.doors.api.designs import design_request
from dais_verif.subject.given import GivenProgram
from dais_verif.verbs.arguments import path_from, paths_from, program_from, required_path, texts_from
from dais_verif.verbs.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.record.campaigns import MutationRecord

__all__ = ["mutate"]

_Path = str | PathLike[str]


@name_missing_packages
def mutate(
    program: GivenProgram,
    output: _Path = "mutation",
    *,
    layout: str | None = None,
    rtl: Sequence[_Path] | _Path | None = None,
    top: str | None = None,
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
    count: int = 200,
    seed: int = 0,
    judges: Sequence[str] | str | None = None,
    vectors: int = 1000,
    inputs: Sequence[_Path] | _Path | None = None,
    simulators: str = "verilator",
    unchecked: bool = False,
    timeout: float = 2.0,
    floor: float | None = 95.0,
    most_unknown: float | None = None,
    expected: _Path | None = None,
    add_vectors: _Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> MutationRecord:
    """Change RTL of a program in ``count`` places, one at a time, and report which changes the verification detects.

    ``judges``: any of ``sim``, ``directed``, ``hil``, ``prove``; None: ``sim`` and ``prove``. ``simulators``:
    ``icarus``, ``verilator`` or ``both``. ``timeout``: CPU seconds per mutant. ``floor``: the lowest accepted score,
    and ``most_unknown``: the largest accepted share of unknown mutants, in percent. ``expected``: a manifest of the
    mutants that each judge must kill. ``add_vectors``: a file for vectors that kill mutants which survived simulation.
    The record is also written to ``mutation.json`` in ``output``. Other arguments are those of ``simulate``.
    """
    from dais_verif.verbs.mutation.mutate import mutate as flow
    from dais_verif.verbs.mutation.requests import MutationRequest
    from dais_verif.verbs.recognition import Sort

    design = design_request(
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
        bits=(None, None, None, None),
        takes=(Sort.NETLIST,),
    )
    request = MutationRequest(
        program=program_from(program),
        layout=layout,
        design=design,
        count=count,
        seed=seed,
        judges=texts_from("judges", judges),
        vectors=vectors,
        inputs=paths_from("inputs", inputs),
        simulator=simulators,
        unchecked=unchecked,
        timeout=timeout,
        floor=floor,
        most_unknown=most_unknown,
        expected=path_from("expected", expected),
        add_vectors=path_from("add_vectors", add_vectors),
        jobs=jobs,
        output=required_path("output", output),
    )
    return flow(request, progress=listener(progress))
