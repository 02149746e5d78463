"""The evidence that a sign-off keeps: only the judged part of each file, in one form, byte for byte.

Much of a record cannot be checked later, such as times, messages and paths. The full records are kept in ``logs`` for
users. The evidence holds only what a judge uses, so that an edit anywhere in it is detected. A value that exceeds a
requirement is replaced by the requirement. For a stage that did not pass, only the verdict is stored.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from dais_verif.base.errors import InputError
from dais_verif.base.files import make_folder, read_plain, write_atomically
from dais_verif.record.signoff import CertificateFinding, StageResult
from dais_verif.signoff.bitstreams.stages import READ_BACK
from dais_verif.signoff.context import Context, SignOffStage
from dais_verif.signoff.evidence import read_tree
from dais_verif.signoff.extras import NETLIST
from dais_verif.signoff.kept_fields import forms_of
from dais_verif.signoff.kept_parts import Form, canonical, failed
from dais_verif.signoff.results import EVIDENCE, FAILED, blocked
from dais_verif.signoff.seeded_faults import SEEDED_FAULT
from dais_verif.signoff.signed_design import sha256_of

__all__ = ["LOGS", "keep_what_is_judged", "unjudged"]

#: The folder with all output of the stages, for people, in the folder of a sign-off.
LOGS = "logs"

_MOST_BYTES = 256 << 20


def keep_what_is_judged(context: Context, stages: Sequence[SignOffStage], results: Sequence[StageResult]) -> None:
    """Move all evidence to the folder ``logs`` next to it, and write the judged part in its place."""
    evidence = context.folder
    logs = evidence.with_name(LOGS)
    shutil.rmtree(logs, ignore_errors=True)
    evidence.rename(logs)
    make_folder(evidence)
    for file in context.subject.files:
        path = Path(file.path)
        if path.is_relative_to(evidence.absolute()):
            _move(logs / path.relative_to(evidence.absolute()), path)
    for number, (stage, result) in enumerate(zip(stages, results, strict=True)):
        if blocked(stage, results[:number], stages):
            continue
        there, folder = logs / stage.folder, evidence / stage.folder
        if not result.passed:
            make_folder(folder)
            write_atomically(folder / FAILED, canonical(failed(result.verdict.value, excused=result.optional)))
            continue
        for name, form in forms_of(stage.folder, context).items():
            path = there / name
            make_folder((folder / name).parent)
            write_atomically(folder / name, canonical(form(read_tree(path), context, path.parent)))
        for name in _whole(there):
            _move(there / name, folder / name)


def _move(path: Path, to: Path) -> None:
    make_folder(to.parent)
    os.replace(path, to)


def _whole(folder: Path) -> list[str]:
    """Return the files of a stage that are judged by their hash, such as RTL and programs written for it."""
    names = [name for name in (NETLIST, READ_BACK) if (folder / name).is_file()]
    if (folder / SEEDED_FAULT).is_file():
        name = read_tree(folder / SEEDED_FAULT).get("file")
        names += [name] if isinstance(name, str) and PurePath(name).name == name else []
    return names


def unjudged(
    context: Context, stages: Sequence[SignOffStage], results: Sequence[StageResult]
) -> Iterator[CertificateFinding]:
    """Yield a finding for all evidence that no judge uses, and for each missing copy of a signed-off file."""
    forms: dict[Path, Form] = {}
    whole = set()
    for number, stage in enumerate(stages):
        folder = context.folder / stage.folder
        if blocked(stage, results[:number], stages):
            continue
        if (folder / FAILED).exists():
            forms[folder / FAILED] = _failed
            continue
        forms |= {folder / name: form for name, form in forms_of(stage.folder, context).items()}
        whole |= {folder / name for name in _whole(folder)}
    certified = {file.sha256: file for file in context.subject.files}
    copies = set()
    for path in sorted(context.folder.rglob("*")):
        name = f"{EVIDENCE}/{path.relative_to(context.folder).as_posix()}"
        if path.is_dir() or path in whole:
            continue
        if path not in forms:
            copies.add(sha256 := sha256_of(path))
            if sha256 not in certified:
                yield CertificateFinding(name, "only files that are judged", "a file that is not")
        elif (why := _other(path, forms[path], context)) is not None:
            yield CertificateFinding(name, "the judged content in the form in which it is kept", why)
    for sha256, file in certified.items():
        if sha256 not in copies and file.role != "data":  # some data files are not copied
            yield CertificateFinding(EVIDENCE, f"a copy of {file.role} {file.path}", "none")


def _other(path: Path, form: Form, context: Context) -> str | None:
    """Return why the file ``path`` differs from its retained form; None if it does not."""
    try:
        expected = canonical(form(read_tree(path), context, path.parent))
    except (InputError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return f"none ({error!r})"
    return None if read_plain(path, _MOST_BYTES) == expected else "more, or another form"


def _failed(tree: dict[str, Any], context: Context, folder: Path) -> dict[str, Any]:
    return failed(tree["verdict"], excused=tree.get("excused") is True and context.policy.proof == "optional")
