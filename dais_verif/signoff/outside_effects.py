"""The stage that finds RTL with effects outside of its ports, before the RTL is run.

In simulators, such RTL differs from hardware: it may run a command or read a file that is not certified. A policy can
allow single names; a waiver can cover the stage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec

from dais_verif.base.errors import CertificateError
from dais_verif.base.files import make_folder, read_plain, write_atomically
from dais_verif.base.structs import converted
from dais_verif.base.toolchain.rtl_files import MOST_RTL_BYTES, is_vhdl, never_read
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.directives import Directives, as_synthesized, directives_of, readings, told
from dais_verif.hardware.ports.outside_effects import Use, outside_of
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    design_arguments,
    program_arguments,
    prove_arguments,
    reader_arguments,
    write_json,
)
from dais_verif.signoff.evidence import read_tree
from dais_verif.signoff.judge import Judgement
from dais_verif.signoff.machines.judge import judge_proof_of
from dais_verif.signoff.signed_design import FileHash, Subject
from dais_verif.signoff.verbs import call

__all__ = ["FOUND", "kept_uses", "outside_stage", "synthesis_stages"]


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


# Check RTL that synthesis may read differently from simulators: each reading is proved, or the RTL is refused.
#
# The proof reads a copy of the RTL, in which the macros of a synthesis tool are defined, and text that is hidden from
# synthesis is blank. If a ``case`` is marked for synthesis (``full_case``, ``priority``), both front ends must agree,
# since Yosys follows the mark.


_COPY = "rtl"
_TEXTS = ("rtl", "include")


def synthesis_stages(context: Context) -> list[SignOffStage]:
    """Return one stage for each reading of the RTL by synthesis tools; none if all tools read it like simulators.

    If the policy refuses such RTL, or it cannot be read as synthesis does, return one stage that fails.
    """
    subject = context.subject
    if subject.emitted:
        return []
    found = _directives(subject.files)
    sets = readings(found.values())
    if not sets and not any(found.values()):
        return []
    marks = frozenset().union(*(one.marks for one in found.values()))
    if context.policy.synthesis == "refused" or len(marks) > 1 or any(one.others for one in found.values()):
        return [SignOffStage("synthesis", "synthesis", _run_nothing, partial(_refuse, found=found), waiver="synthesis")]
    both = any(one.cases for one in found.values())
    return [
        SignOffStage(
            f"synthesis, {' '.join(macros) or 'no macros'}",
            f"synthesis-{number}",
            partial(_run, macros=macros, both=both),
            partial(_judge_of_synthesis, macros=macros),
            waiver="synthesis",
        )
        for number, macros in enumerate(sets or [()])
    ]


@lru_cache(maxsize=1)
def _directives(files: tuple[FileHash, ...]) -> dict[str, Directives]:
    """Return the tool-specific directives of each RTL file, by its path."""
    texts = [Path(file.path) for file in files if file.role in _TEXTS]
    return {str(path): directives_of(_text(path), is_vhdl(path)) for path in texts}


def _text(path: Path) -> bytes:
    return read_plain(path, MOST_RTL_BYTES, "RTL file")


def _run_nothing(context: Context, folder: Path) -> None:
    make_folder(folder)


def _refuse(context: Context, folder: Path, found: dict[str, Directives]) -> Judgement:
    raise CertificateError("synthesis reads it differently from simulators: " + "; ".join(_told(found)))


def _told(found: dict[str, Directives]) -> Iterator[str]:
    for path, one in found.items():
        if one:
            yield f"{Path(path).name} {', '.join(told(one))}"


def _run(context: Context, folder: Path, macros: tuple[str, ...], both: bool) -> None:
    subject = context.subject
    copied = _copied(subject, macros, folder)
    for file, data in copied:
        make_folder(Path(file.path).parent)
        write_atomically(Path(file.path), data)
    design = design_arguments(replace(subject, files=tuple(file for file, _ in copied)), context.policy)
    arguments = prove_arguments(context, program_arguments(subject), design)
    call("prove", [*arguments, *reader_arguments(context, both)], folder)


def _judge_of_synthesis(context: Context, folder: Path, macros: tuple[str, ...]) -> Judgement:
    """Judge the proof, which must be of the RTL as synthesis reads it; that text is generated again to compare it."""
    copied = tuple(file for file, _ in _copied(context.subject, macros, folder))
    policy = msgspec.structs.replace(context.policy, proof="required")
    subject = context.subject
    others = tuple(file for file in subject.files if file.role not in (*_TEXTS, "data"))
    return judge_proof_of(replace(subject, files=(*others, *copied)), policy, folder)


def _copied(subject: Subject, macros: tuple[str, ...], folder: Path) -> list[tuple[FileHash, bytes]]:
    """Return the RTL and the files that it reads, as synthesis reads them, with their bytes and places in ``folder``.

    Below ``folder``, files keep their absolute paths, so that relative paths in the RTL still lead to them.
    """
    found = []
    for file in subject.files:
        if file.role not in (*_TEXTS, "data"):
            continue
        path = Path(file.path)
        data = _text(path)
        if file.role in _TEXTS:
            data = as_synthesized(data, macros if file.role == "rtl" else (), is_vhdl(path))
        place = folder.absolute() / _COPY / path.absolute().relative_to("/")
        found.append((FileHash(file.role, str(place), hashlib.sha256(data).hexdigest(), file.name), data))
    return found
