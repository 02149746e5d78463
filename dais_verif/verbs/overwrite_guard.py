"""Protect input files: no request overwrites a file that it reads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from dais_verif.base.cache_folder import cache_dir
from dais_verif.base.errors import FileError, InputError, RequestError
from dais_verif.base.files import make_folder, read_plain, replace_folder
from dais_verif.record.base import Record
from dais_verif.spec.program import Origin

__all__ = ["earlier_record", "require_form", "require_no_loss", "require_other_file", "write_folder"]

#: Size limit of a record, in bytes.
_MOST_RECORD = 1 << 30

_Record = TypeVar("_Record", bound=Record)


def require_other_file(
    output: Path, name: str, read: Iterable[tuple[str, Path]], error: type[InputError] = RequestError
) -> None:
    """Raise ``error`` if ``output`` is one of the files in ``read``, or a file that one of them refers to.

    ``name`` and the names in ``read`` only appear in the message. A file that does not exist yet is never refused.
    """
    if not _is_file(output):
        return
    # Imported when needed, since it imports machines and kernels: only runs whose output file exists need it.
    from dais_verif.subject.referred_files import referred_files

    for other, path in read:
        if _is_file(path) and output.samefile(path):
            raise error(
                f"{name} {str(output)!r} is the same file as {other} {str(path)!r}, which would be lost; "
                "name another file"
            )
        for referred in referred_files(path):
            if output.samefile(referred):
                raise error(
                    f"{name} {str(output)!r} is the same file as {str(referred)!r}, to which {other} {str(path)!r} "
                    "refers, and which would be lost; name another file"
                )


def require_no_loss(output: Path | None, names: Iterable[str] = (), **read: object) -> None:
    """Raise ``RequestError`` if writing ``output`` would destroy a file in ``read``, keyed by argument names.

    ``names``: the names of the files written if ``output`` is a folder; empty if ``output`` is a file. In ``read``, a
    program or a machine means the file that it was read from; a tuple holds several values; values that are not paths
    are ignored.
    """
    if output is None:
        return
    known = [(name, path) for name, value in read.items() for path in _paths(value)]
    targets = [output / name for name in names] or [output]
    for target in targets:
        require_other_file(target, "output", known)


def _paths(value: object) -> Iterator[Path]:
    if isinstance(value, tuple):
        for each in value:
            yield from _paths(each)
    elif isinstance(value, str | Path):
        yield Path(value)
    elif isinstance(origin := getattr(value, "origin", None), Origin):
        yield from _paths(origin.path)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # ValueError: a NUL in a name, which the file's reader will report
        return False


def require_form(name: str, output: Path, begins: bytes) -> None:
    """Raise ``InputError`` unless file ``output``, argument ``name``, is empty or starts with ``begins``.

    White space at the start and the case of letters do not matter; ``begins`` is in lower case.
    """
    if begins and (size := output.stat().st_size):
        with output.open("rb") as file:
            start = file.read(min(size, 64))
        if not start.lstrip().lower().startswith(begins):
            raise FileError(
                f"{name} {str(output)!r} exists and does not begin with {begins.decode()!r}, so it is not "
                "an earlier report; name another file"
            )


def earlier_record(path: Path, kind: type[_Record]) -> _Record | None:
    """Return the record that an earlier run wrote to ``path``; None if ``path`` does not exist.

    Raises ``InputError`` if ``path`` is anything else, since overwriting it would lose data.
    """
    if not os.path.lexists(path):
        return None
    try:
        return kind.from_json(read_plain(path, _MOST_RECORD))
    except InputError as error:
        raise FileError(
            f"{str(path)!r} would be overwritten, and is not a record of an earlier run ({error}); choose another "
            f"folder"
            " with -o"
        ) from None


def write_folder(folder: Path, files: Mapping[str, bytes], manifest: str) -> None:
    """Write ``files``, one of which is the ``manifest``, into ``folder``, replacing the files of an earlier call.

    Raises ``InputError`` if the folder was changed since that call, or is in use.
    """
    with _turn(folder):
        replace_folder(folder, files, manifest)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Lock ``folder`` against other runs. Raises ``InputError`` if another run holds it.

    The lock file is in the cache: the folder holds only files for manufacturing, and is replaced as a whole.
    """
    from filelock import FileLock, Timeout

    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    locks = cache_dir() / "locks"
    make_folder(locks)
    try:
        with FileLock(locks / name, timeout=0):
            yield
    except Timeout:
        raise FileError(f"{str(folder)!r} is in use by another run; choose another folder with -o") from None
