"""Edits of the evidence of a sign-off: every file and every value, one at a time, judged without looking at hashes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dais_verif.base.errors import DaisError
from dais_verif.record.signoff import CertificateFinding
from dais_verif.signoff.checking.recheck import _judge, _subject, read_certificate
from dais_verif.signoff.context import Context
from dais_verif.signoff.places import Places, find_files
from dais_verif.signoff.policy import policy_of

__all__ = ["Edit", "edits", "findings", "not_found"]


class Edit(NamedTuple):
    """An edit: ``file`` gets the bytes ``data``, or is deleted if they are None. ``what`` describes it for readers."""

    file: Path
    data: bytes | None
    what: str


def findings(out: Path) -> list[CertificateFinding]:
    """Return what the judges find in the folder of a sign-off; hashes of the evidence are not checked."""
    certificate, folder, _ = read_certificate(out)
    files, _ = find_files(certificate.files, folder, Places())
    context = Context(_subject(certificate, files), policy_of(certificate.policy, "policy"), folder / "evidence")
    try:
        return list(_judge(certificate, context, folder))
    except DaisError as error:
        return [CertificateFinding("evidence", "", str(error))]


def edits(out: Path) -> list[Edit]:
    """Return all edits of all files in ``evidence``."""
    found: list[Edit] = []
    for path in sorted((out / "evidence").rglob("*")):
        if path.is_file():
            data, name = path.read_bytes(), path.relative_to(out).as_posix()
            found += [Edit(path, None, f"{name} gone"), Edit(path, data + b"\n", f"{name} longer")]
            if path.suffix == ".json":
                found += _values(path, name, json.loads(data))
            else:
                found += [Edit(path, _flipped(data, at), f"{name} byte {at}") for at in range(0, len(data), 211)]
    return [edit for edit in found if edit.data != edit.file.read_bytes()]


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _values(path: Path, name: str, tree: Any) -> Iterator[Edit]:
    for place in _places(tree):
        *way, last = place
        for new in [*_others(_at(tree, place)), _values]:
            edited = copy.deepcopy(tree)
            if new is _values:
                del _at(edited, way)[last]
            else:
                _at(edited, way)[last] = new
            what = f"{name} {'.'.join(map(str, place))} {'gone' if new is _values else repr(new)}"
            yield Edit(path, (json.dumps(edited, indent=2, sort_keys=True) + "\n").encode(), what)


def _at(tree: Any, place: Sequence[Any]) -> Any:
    for key in place:
        tree = tree[key]
    return tree


def _places(tree: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value, list and table below ``tree``."""
    if place:
        yield place
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from _places(tree[key], (*place, key))


def _others(value: Any) -> list[Any]:
    """Return values to put in the place of ``value``."""
    match value:
        case bool():
            return [not value, 0]
        case int() | float():
            return [value + 1, value - 1, -1, str(value)]
        case str():
            return [f"{value[:-1]}{'0' if value[-1:] != '0' else '1'}", "x", None]
        case None:
            return [1, "x", {}]
        case list():
            return [[*value, *value[-1:]], value[1:], value[::-1], None] if value else [[0], None]
        case _:
            return [{**value, "more": 1}, None]


def not_found(out: Path, chosen: Sequence[Edit]) -> list[str]:
    """Return the edits of ``chosen`` that no judge finds. A printed record and its copy in ``run`` are edited alike."""
    missed = []
    for edit in chosen:
        kept = edit.file.parent / "run" / "result.json"
        both = [edit.file, *([kept] if edit.file.name == "printed.json" and kept.exists() else [])]
        before = {path: path.read_bytes() for path in both}
        try:
            for path in both:
                path.unlink() if edit.data is None else path.write_bytes(edit.data)
            if not findings(out):
                missed.append(edit.what)
        finally:
            for path, data in before.items():
                path.write_bytes(data)
    return missed
