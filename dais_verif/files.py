"""Writing files so that nothing the user had is lost: to a temporary file beside it, then renamed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from dais_verif.errors import InputError

__all__ = ["link_or_copy", "make_folder", "replace_folder", "write_atomically"]


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file ``path``, or what it links to, by ``data`` in one step.

    A device or a pipe is written to as it is. Raises ``InputError`` if it cannot be written.
    """
    try:
        if path.is_dir():
            raise InputError(f"cannot write {str(path)!r}: it is a folder; name a file with -o")
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # /dev/null must stay what it is
            return
        target = path.resolve()
        # A name of our own: the user's may be as long as the file system allows.
        temporary = target.with_name(f".dais-verif.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            temporary.write_bytes(data)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write {str(path)!r}: {reason}; choose another place with -o") from None


def make_folder(path: Path) -> None:
    """Create ``path`` and its parents. Raises ``InputError`` if that is not possible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the folder {str(path)!r}: {error.strerror}; choose another place with -o"
        ) from None


def link_or_copy(source: Path, target: Path) -> None:
    """``target`` becomes ``source``: the same file where the file system permits it, else a copy."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
            raise
        shutil.copy2(source, target)


def replace_folder(path: Path, files: Mapping[str, bytes], manifest: str) -> None:
    """Make ``path`` a folder that holds exactly ``files`` (by relative name), in one step.

    The file named ``manifest`` is JSON with the SHA-256 of all others under ``files``. A folder that is there already
    is replaced only if it is as an earlier call left it. Raises ``InputError`` if it holds anything else, or if it
    cannot be written.
    """
    try:
        _refuse_foreign(path, manifest)
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = f".dais-verif.{os.getpid()}.{secrets.token_hex(4)}"
        new, old = target.with_name(f"{beside}.new"), target.with_name(f"{beside}.old")
        try:
            for name, data in files.items():
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).write_bytes(data)
            if target.exists():
                target.rename(old)
            try:
                new.rename(target)
            except OSError:
                if old.exists():
                    old.rename(target)
                raise
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write the folder {str(path)!r}: {reason}; choose another place with -o") from None


def _refuse_foreign(path: Path, manifest: str) -> None:
    problem = None
    if path.is_dir():
        problem = next(_foreign(path, manifest), None)
        if path.resolve() in (Path.cwd(), *Path.cwd().parents):
            problem = "it is the folder you are in, or holds it"
    elif path.exists():
        problem = "it is a file"
    if problem:
        raise InputError(f"{str(path)!r} is not replaced: {problem}; choose another folder with -o")


def _foreign(path: Path, manifest: str) -> Iterator[str]:
    """Reasons why a folder must not be replaced."""
    found = [file for file in sorted(path.rglob("*")) if file.is_symlink() or not file.is_dir()]
    there = {file.relative_to(path).as_posix(): file for file in found}
    hashes: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        hashes = dict(json.loads((path / manifest).read_bytes())["files"])
    if not hashes:
        yield from (f"it holds {name!r} and no {manifest} of ours" for name in there)
    for name, file in there.items():
        if name != manifest and name not in hashes:
            yield f"it holds {name!r}, which is not ours"
        elif file.is_symlink():
            yield f"{name!r} in it was made a link"
        elif name != manifest and hashlib.sha256(file.read_bytes()).hexdigest() != hashes[name]:
            yield f"{name!r} in it was edited"
