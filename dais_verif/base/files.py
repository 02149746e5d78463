"""Files of users: read within limits; written to a temporary file that is then renamed, so that nothing is lost."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from dais_verif.base.errors import FileError, InputError

__all__ = [
    "link_or_copy",
    "make_folder",
    "open_plain",
    "read_plain",
    "read_toml",
    "replace_folder",
    "require_plain",
    "require_replaceable",
    "require_writable",
    "require_writable_folder",
    "write_atomically",
]

#: A key with too many parts, which is refused; valid keys have at most three.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){64}""", re.ASCII)

_KINDS = {
    stat.S_IFIFO: "it is a FIFO",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFDIR: os.strerror(errno.EISDIR),
}


#: A NUL as written in TOML; the character itself is not valid in TOML.
_NUL = re.compile(r"\\(u0000|U00000000)")


def read_plain(path: Path, most: int, what: str = "", advice: str = "name a regular file") -> bytes:
    """Return the bytes of the regular file ``path``, of at most ``most`` bytes.

    All other files are refused with ``InputError``: reading a FIFO or a device may never end, and a sparse file can be
    larger than the memory. Also raises ``InputError`` if the file cannot be read. ``what``: the kind of file, for the
    message, if the context does not show it; ``advice``: the remedy.
    """
    with open_plain(path, most, what, advice) as file:
        try:
            # Do not read ``most`` bytes at once, for which Python would allocate memory.
            size = min(os.fstat(file.fileno()).st_size, most)
            data = file.read(size + 1)
            if size < len(data) <= most:  # the file has grown, or its size is unknown
                data += file.read(most + 1 - len(data))
        except OSError as error:
            raise _unreadable(path, what, error.strerror, advice) from None
    if len(data) > most:
        raise _unreadable(path, what, f"it has more than {most} bytes", advice)
    return data


def open_plain(path: Path, most: int, what: str = "", advice: str = "name a regular file") -> BinaryIO:
    """Open the regular file ``path`` of at most ``most`` bytes, with the checks of ``read_plain``; it may grow."""
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # ValueError: a NUL in a name
        raise _unreadable(path, what, getattr(error, "strerror", None) or error, advice) from None
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_size <= most:
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISREG(status.st_mode):
        problem = f"it has {status.st_size} bytes, must have at most {most}"
    else:
        problem = _KINDS.get(stat.S_IFMT(status.st_mode), "it is not a regular file")
    raise _unreadable(path, what, problem, advice)


def _unreadable(path: Path, what: str, problem: object, advice: str) -> InputError:
    return FileError(f"cannot read {what}{' ' if what else ''}{str(path)!r}: {problem}; {advice}")


def require_plain(path: Path, most: int, what: str = "", advice: str = "name a regular file") -> None:
    """Raise the ``InputError`` of ``read_plain`` unless ``path`` is a regular file of at most ``most`` bytes."""
    open_plain(path, most, what, advice).close()


def read_toml(path: Path, most: int, what: str) -> str:
    """Return the text of the TOML file ``path``, read by ``read_plain``, if it can be parsed in linear time.

    For a key with many parts, ``a.b.c...``, a parser needs memory quadratic in the number of parts: 57 GB for a file of
    240 kB.
    """
    try:
        text = read_plain(path, most, what, "name a TOML file").decode()
    except UnicodeDecodeError as error:
        raise FileError(f"{what} {str(path)!r} is not valid TOML: {error}") from None
    if _LONG_KEY.search(text):
        raise FileError(f"{what} {str(path)!r} has a key of more than 64 parts; none needs more than 3")
    if _NUL.search(text):
        raise FileError(
            f"{what} {str(path)!r} has a NUL (\\u0000) in a string; no name of a file or signal can contain one"
        )
    return text


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file ``path``, or what it links to, by ``data`` in one step.

    A device or a pipe is written to directly. Raises ``InputError`` if the file cannot be written.
    """
    with _refusing(path, "-o"):
        _require_no_folder(path, "-o")
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # /dev/null, for example, must not be replaced
            return
        with _beside(path) as temporary:
            temporary.write_bytes(data)
            os.replace(temporary, _target(path))


def require_writable(path: Path, option: str) -> None:
    """Raise the ``InputError`` of ``write_atomically`` if ``path``, which ``option`` names, cannot be written.

    This is for files that are written at the end of long work. The file itself is neither created nor changed.
    """
    with _refusing(path, option):
        _require_no_folder(path, option)
        if path.is_file() or not path.exists():
            _try_beside(path)


def require_writable_folder(path: Path, option: str) -> None:
    """Raise ``InputError`` if the folder ``path``, which ``option`` names, cannot be created or written to."""
    with _refusing(path, option):
        _try_beside(next(filter(Path.exists, (path, *path.absolute().parents))) / "file")


def _require_no_folder(path: Path, option: str) -> None:
    if path.is_dir():
        raise FileError(f"cannot write {str(path)!r}: it is a folder; name a file with {option}")


def _try_beside(path: Path) -> None:
    with _beside(path) as temporary:
        temporary.touch(exist_ok=False)


def _target(path: Path) -> Path:
    """Return the place that ``path`` leads to. Raises ``OSError`` for links in a circle, which lead nowhere."""
    # Path.resolve raises an error of another class for them before Python 3.13, and none from then on.
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file next to the target of ``path``; the file is removed at the end."""
    # A short name, since the user's name may already be as long as the file system allows.
    temporary = _target(path).with_name(f".dais-verif.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _refusing(path: Path, option: str) -> Iterator[None]:
    """Raise ``InputError`` if the file system refuses to write ``path``, which ``option`` names."""
    try:
        yield
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {error.strerror}; choose another place with {option}") from None


def make_folder(path: Path) -> None:
    """Create ``path`` and its parents. Raises ``InputError`` if that is not possible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot create the folder {str(path)!r}: {error.strerror}; choose another place with -o"
        ) from None


def link_or_copy(source: Path, target: Path) -> None:
    """Create ``target`` as a hard link to ``source`` if the file system permits it, else as a copy."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
            raise
        shutil.copy2(source, target)


def require_replaceable(path: Path, manifest: str) -> None:
    """Raise the ``InputError`` of ``replace_folder`` if ``path`` cannot be replaced, before long work."""
    _refuse_foreign(path, manifest)
    require_writable_folder(path, "-o")


def replace_folder(path: Path, files: Mapping[str, bytes], manifest: str) -> None:
    """Make ``path`` a folder with exactly ``files`` (by relative name), in one step.

    The file named ``manifest`` is JSON, in which ``files`` has the SHA-256 of all other files. An existing folder is
    only replaced if it is unchanged since an earlier call. Raises ``InputError`` if it was changed, or cannot be
    written.
    """
    try:
        _refuse_foreign(path, manifest)
        target = _target(path)
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
    except OSError as error:
        raise FileError(
            f"cannot write the folder {str(path)!r}: {error.strerror}; choose another place with -o"
        ) from None


def _refuse_foreign(path: Path, manifest: str) -> None:
    problem = None
    if path.is_dir():
        problem = next(_foreign(path, manifest), None)
        if path.resolve() in (Path.cwd(), *Path.cwd().parents):
            problem = "it is the current folder, or contains it"
    elif path.exists():
        problem = "it is a file"
    if problem:
        raise FileError(f"{str(path)!r} is not replaced: {problem}; choose another folder with -o")


def _foreign(path: Path, manifest: str) -> Iterator[str]:
    """Yield reasons why a folder must not be replaced."""
    found = [file for file in sorted(path.rglob("*")) if file.is_symlink() or not file.is_dir()]
    there = {file.relative_to(path).as_posix(): file for file in found}
    hashes: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        hashes = dict(json.loads((path / manifest).read_bytes())["files"])
    if not hashes:
        yield from (f"it contains {name!r}, but no {manifest} that dais-verif wrote" for name in there)
    for name, file in there.items():
        if name != manifest and name not in hashes:
            yield f"it contains {name!r}, which dais-verif did not write"
        elif file.is_symlink():
            yield f"{name!r} in it was replaced by a link"
        elif name != manifest and hashlib.sha256(file.read_bytes()).hexdigest() != hashes[name]:
            yield f"{name!r} in it was edited"
