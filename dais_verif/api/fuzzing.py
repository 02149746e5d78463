"""Looking for what goes wrong: random cases through all that must agree, and failing cases made small."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from dais_verif.flows.arguments import paths_from, required_path
from dais_verif.flows.programs import AnyProgram
from dais_verif.flows.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.record.shrinking import ShrinkRecord

__all__ = ["shrink"]

_Path = str | PathLike[str]


def shrink(
    program: AnyProgram,
    output: _Path,
    *,
    command: str | None = None,
    layout: str | None = None,
    vectors: int = 100,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    time: float = 60.0,
    timeout: float = 20.0,
    progress: Progress | None = None,
) -> ShrinkRecord:
    """Make a failing case as small as possible, and keep it in the folder ``output``.

    ``command``: words that end with another exit code than 0, with ``{program}`` and maybe ``{inputs}`` for the files
    of a case. Without it: engines, forms or a proof of ours that disagree, or a promise that is broken. ``inputs``:
    files of vectors, before ``vectors`` generated ones. ``time``: seconds in all; ``timeout``: for each run of the
    command. The verdict is PASS, or NOT_RUN where nothing fails.
    """
    from dais_verif.flows.fuzzing.shrink import ShrinkRequest
    from dais_verif.flows.fuzzing.shrink import shrink as flow

    request = ShrinkRequest(
        program=program,
        output=required_path("output", output),
        command=command,
        layout=layout,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        time=time,
        timeout=timeout,
    )
    return flow(request, progress=listener(progress))
