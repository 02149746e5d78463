"""The stage that finds RTL with effects outside of its ports, before the RTL is run.

In simulators, such RTL differs from hardware: it may run a command or read a file that is not certified. A policy can
allow single names; a waiver can cover the stage.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from dais_verif.dut.outside import Use, outside_of
from dais_verif.errors import CertificateError
from dais_verif.files import read_plain
from dais_verif.signoff.context import Context, SignOffStage, write_json
from dais_verif.signoff.evidence import read_tree
from dais_verif.signoff.judge import Judgement
from dais_verif.signoff.subject import FileHash, Subject
from dais_verif.structs import converted
from dais_verif.toolchain.data_files import never_read
from dais_verif.toolchain.sources import MOST_RTL_BYTES, is_vhdl
from dais_verif.verdict import Verdict

__all__ = ["FOUND", "kept_uses", "outside_stage"]

#: The file with the findings, in the folder of the stage.
FOUND = "uses.json"

#: The number of uses that are stored, and the number that a message names.
_MOST, _SHOWN = 1000, 3


class _Found(msgspec.Struct, frozen=True):
    """The findings. ``uses``: file, line, name and effect of each. ``sha256``: the hashes of the examined files."""

    sha256: list[str]
    uses: list[tuple[str, int, str, str]]


def outside_stage() -> SignOffStage:
    """Return the stage that finds effects outside of the RTL's ports. If it is waived, the other stages still run."""
    return SignOffStage("outside", "outside", _look, _judge, waiver="outside", gate=True)


def _hashes(subject: Subject) -> list[str]:
    return [file.sha256 for role in ("rtl", "include") for file in subject.of(role)]


def _look(context: Context, folder: Path) -> None:
    subject = context.subject
    uses = _uses_of(subject.files, subject.top)
    folder.mkdir(exist_ok=True)
    write_json(folder / FOUND, {"sha256": _hashes(subject), "uses": [list(use) for use in uses[:_MOST]]})


@lru_cache(maxsize=1)
def _uses_of(files: tuple[FileHash, ...], top: str) -> tuple[Use, ...]:
    """Return the uses in the RTL of ``files``. Raises ``InputError`` if a file cannot be read."""
    for file in files:
        if file.role in ("rtl", "include"):
            read_plain(Path(file.path), MOST_RTL_BYTES, "RTL file")  # this refuses pipes and devices
    sources, included = ([Path(file.path) for file in files if file.role == role] for role in ("rtl", "include"))
    vhdl = [source for source in sources if is_vhdl(source)]
    verilog = [source for source in sources if not is_vhdl(source)]
    data = [file.name for file in files if file.role == "data"]
    return tuple(outside_of(verilog, included, vhdl, data, top, never_read(vhdl)))


def _judge(context: Context, folder: Path) -> Judgement:
    try:
        found = converted(read_tree(folder / FOUND), _Found)
    except msgspec.ValidationError as error:
        raise CertificateError(f"{folder.name}/{FOUND} is not a list of what the RTL uses: {error}") from None
    # The RTL is read again, so that evidence that lacks a use does not hide the use.
    again = _uses_of(context.subject.files, context.subject.top)
    problems = [
        f"{file}:{line}: {name} {why}"
        for file, line, name, why in dict.fromkeys((*found.uses, *again))
        if name not in context.policy.allowed
    ]
    if found.sha256 != _hashes(context.subject):
        problems.append("other RTL files were examined")
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        told = "; ".join(problems[:_SHOWN]) + more
        message = f"{told}; remove it from the RTL, allow the name in the policy (allowed), or waive it"
        return Judgement(Verdict.NOT_SIGNED_OFF, message, (message,))
    allowed = sorted({name for _, _, name, _ in again})
    message = f"only names that the policy allows: {', '.join(allowed)}" if allowed else "nothing reaches outside"
    return Judgement(Verdict.PASS, message)


def kept_uses(tree: dict[str, Any], context: Context, folder: Path) -> dict[str, Any]:
    """Return the judged part of the findings."""
    allowed = context.policy.allowed
    return {"sha256": tree["sha256"], "uses": [use for use in tree["uses"] if use[2] not in allowed]}
