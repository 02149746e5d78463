"""Search for defects: run random cases on all implementations that must agree, and reduce failing cases."""

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
    from dais_verif.record.campaigns import FuzzRecord, ShrinkRecord

__all__ = ["fuzz", "shrink"]

_Path = str | PathLike[str]


@name_missing_packages
def fuzz(
    *,
    kind: str = "program",
    time: float | None = None,
    count: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    pairs: Sequence[str] | str | None = None,
    against: str | None = None,
    rtl_from: str | None = None,
    form: str | None = None,
    top: str = "model",
    timeout: float = 20.0,
    replay: _Path | None = None,
    resume: bool = False,
    cluster: str | None = None,
    output: _Path = "crashers",
    progress: Progress | None = None,
) -> FuzzRecord:
    """Run random cases on all implementations that must agree, and keep a small case per cause in folder ``output``.

    ``kind``: ``program``, ``machine``, or ``kernel``: hardware of random requests for the shipped kernels. ``time``:
    seconds; ``count``: number of cases; without both, one minute. Case n depends only on
    ``seed`` and n. ``pairs``: run only these pairs. ``against``: an interpreter, as a command with ``{program}``,
    ``{inputs}`` and ``{outputs}``, or ``da4ml`` or ``alkaid``; ``rtl_from``: a generator of Verilog with module
    ``top``, as a command with ``{program}`` and ``{folder}``; ``form``: the format of programs for such a tool;
    ``timeout``: seconds per run of the tool. ``replay``: run the kept cases in this folder again. ``resume``: continue
    after the last case of the run in ``output``. ``jobs``: number of processes. ``cluster``: run on Dask workers, named
    as in ``regress``. The verdict is PASS if all agreed, DISAGREEMENT if a case was kept.
    """
    from dais_verif.verbs.fuzzing.fuzz import fuzz as flow
    from dais_verif.verbs.fuzzing.requests import FuzzRequest

    request = FuzzRequest(
        kind=kind,
        time=time,
        count=count,
        seed=seed,
        jobs=jobs,
        pairs=texts_from("pairs", pairs),
        against=against,
        rtl_from=rtl_from,
        form=form,
        top=top,
        timeout=timeout,
        replay=path_from("replay", replay),
        resume=resume,
        cluster=cluster,
        output=required_path("output", output),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def shrink(
    program: GivenProgram,
    output: _Path,
    *,
    command: str | None = None,
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
    layout: str | None = None,
    vectors: int = 100,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    time: float = 60.0,
    timeout: float = 20.0,
    progress: Progress | None = None,
) -> ShrinkRecord:
    """Reduce a failing case as far as possible, and write it to the folder ``output``.

    ``command``: a command that fails with a non-zero exit code, with ``{program}`` and optionally ``{inputs}`` and
    ``{rtl}`` for the files of a case. Without a command, a failure is a disagreement of dais-verif's engines, forms or
    proof, or a broken promise; with ``rtl``, it is Verilog that fails in simulation, and the Verilog is reduced too.
    ``inputs``: files of vectors, which come before ``vectors`` generated ones. ``time``: seconds in total; ``timeout``:
    seconds per run of the command. The verdict is PASS, or NOT_RUN if nothing fails.
    """
    from dais_verif.verbs.fuzzing.shrink import ShrinkRequest
    from dais_verif.verbs.fuzzing.shrink import shrink as flow

    request = ShrinkRequest(
        program=program_from(program),
        output=required_path("output", output),
        command=command,
        design=design_request(
            rtl=rtl,
            top=top,
            data=data,
            parameters=parameters,
            ports=ports,
            pins=(clock, latency, reset, enable, valid_in, valid_out),
            stages=None,
            max_depth=None,
            wrapped=None,
            netlist=None,
            target=None,
            bits=(None, None, None, None),
            takes=(),
        ),
        layout=layout,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        time=time,
        timeout=timeout,
    )
    return flow(request, progress=listener(progress))
