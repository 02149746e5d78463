"""The stage that checks the timing of a bitstream with icetime, which reads only the bitstream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dais_verif.base.errors import CertificateError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.toolchain.icetime import path_delay
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.verdict import Verdict
from dais_verif.signoff.context import Context, SignOffStage, write_json
from dais_verif.signoff.evidence import read_tree
from dais_verif.signoff.judge import Judgement

__all__ = ["TIMING", "kept_timing", "timing_stage"]

#: The output of the stage: the hash of the bitstream, and the delay of its longest path in ns.
TIMING = "timing.json"

_LIMITS = Limits(1800, 8192)


def timing_stage() -> SignOffStage:
    """Return the stage that checks the timing."""
    return SignOffStage("timing", "timing", _run, _judge, waiver="timing")


def _run(context: Context, folder: Path) -> None:
    certified, device = context.subject.only("bitstream"), context.policy.bitstream.device
    assert device is not None
    make_folder(folder)
    copy = folder / "timed.bin"
    write_atomically(copy, Path(certified.path).read_bytes())
    path = path_delay(copy, device, _LIMITS)
    copy.unlink()
    write_json(folder / TIMING, {"bitstream": certified.sha256, "path": path})


def _judge(context: Context, folder: Path) -> Judgement:
    bitstream, path = _read(folder)
    required = context.policy.bitstream.required
    problems = []
    if bitstream != context.subject.only("bitstream").sha256:
        problems.append("the timing belongs to another bitstream")
    if path is None:
        return Judgement(Verdict.NOT_RUN, "icetime finds no path", ("icetime finds no path in the bitstream",))
    message = f"the longest path takes {path:.2f} ns, {1000 / path:.2f} MHz; {required:.2f} MHz are required"
    if 1000 / path < required:
        problems.append(message)
    return Judgement(Verdict.PASS, message, tuple(problems), known=bool(problems))


def _read(folder: Path) -> tuple[str, float | None]:
    tree = read_tree(folder / TIMING)
    path = tree.get("path")
    if path is not None and not (isinstance(path, float | int) and not isinstance(path, bool) and path > 0):
        raise CertificateError(f"{TIMING}: path is {json.dumps(path)}, must be a number of ns above 0")
    return str(tree.get("bitstream")), None if path is None else float(path)


def kept_timing(tree: dict[str, Any], context: Context, folder: Path) -> dict[str, Any]:
    """Return the hash of the bitstream, and its delay, or the longest permitted delay if that is not exceeded."""
    path, enough = tree["path"], 1000 / context.policy.bitstream.required
    return {"bitstream": tree["bitstream"], "path": enough if path is not None and path <= enough else path}
