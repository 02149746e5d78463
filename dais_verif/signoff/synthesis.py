"""Check RTL that synthesis may read differently from simulators: each reading is proved, or the RTL is refused.

The proof reads a copy of the RTL, in which the macros of a synthesis tool are defined, and text that is hidden from
synthesis is blank. If a ``case`` is marked for synthesis (``full_case``, ``priority``), both front ends must agree,
since Yosys follows the mark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import msgspec

from dais_verif.dut.directives import Directives, as_synthesized, directives_of, readings, told
from dais_verif.errors import CertificateError
from dais_verif.files import make_folder, read_plain, write_atomically
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    design_arguments,
    program_arguments,
    prove_arguments,
    reader_arguments,
)
from dais_verif.signoff.judge import Judgement
from dais_verif.signoff.machines.judge import judge_proof_of
from dais_verif.signoff.subject import FileHash, Subject
from dais_verif.signoff.verbs import call
from dais_verif.toolchain.sources import MOST_RTL_BYTES, is_vhdl

__all__ = ["synthesis_stages"]

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
            partial(_judge, macros=macros),
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


def _judge(context: Context, folder: Path, macros: tuple[str, ...]) -> Judgement:
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
