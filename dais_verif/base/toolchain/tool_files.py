"""List the files of each tool: the program that is called, and all that it runs, loads or reads in its place.

``iverilog`` is a driver of ``ivl`` and ``vvp`` loads ``system.vpi``; Verilator's ``include`` is compiled into each
simulation; Yosys reads its techmaps. A version says nothing about these: their content counts.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.process import stripped

__all__ = [
    "PACKAGES",
    "TOOLS",
    "content_of",
    "installed",
    "own_files",
    "package_files",
    "python_files",
    "sha256_of",
    "stamp_of",
    "tool_files",
]

#: Python packages that commands load and that decide results.
PACKAGES = ("bitwuzla", "cocotb", "msgspec", "numpy", "pyslang", "python-sat")

#: The parts of GCC that its driver calls.
_GCC_PARTS = ("cc1plus", "collect2", "as", "ld")
_PASSING = ("__pycache__", ".pyc")


def _icarus() -> Iterator[Path]:
    found = tools.icarus()
    yield from (found.iverilog, found.vvp)
    for prefix in (found.iverilog.parent.parent, found.iverilog.resolve().parent.parent):
        for place in (prefix / "lib", prefix / "lib64"):
            yield from _below(place / "ivl")
            yield from (file for folder in place.glob("*/ivl") for file in _below(folder))


def _verilator() -> Iterator[Path]:
    found = tools.verilator()
    yield Path(found.driver[-1])
    for name in ("bin", "include"):
        yield from _below(found.root / name)


def _compiler() -> Iterator[Path]:
    compiler = tools.verilator().compiler
    yield compiler
    for part in _GCC_PARTS:
        done = subprocess.run(
            [str(compiler), f"-print-prog-name={part}"], env=stripped(), capture_output=True, text=True, check=False
        )
        place = shutil.which(done.stdout.strip())
        if place is not None:
            yield Path(place)


def _ghdl() -> Iterator[Path]:
    found = tools.ghdl().ghdl
    yield found
    yield from _below(found.resolve().parent.parent / "lib" / "ghdl")


def _yosys() -> Iterator[Path]:
    found = tools.yosys()
    yield found.yosys
    yield from (path.with_name("yosys-abc") for path in (found.yosys, found.yosys.resolve()))
    yield from _below(found.share)


#: The tools by name, each with a function that finds its files.
TOOLS: dict[str, Callable[[], Iterator[Path]]] = {
    "icarus": _icarus,
    "verilator": _verilator,
    "g++": _compiler,
    "ghdl": _ghdl,
    "yosys": _yosys,
}


def tool_files(name: str) -> tuple[Path, ...]:
    """Return the files of the tool ``name``, one of ``TOOLS``. Raises ``ToolError`` if it is missing."""
    return _plain(TOOLS[name]())


@functools.lru_cache
def package_files(name: str) -> tuple[Path, ...] | None:
    """Return the files of an installed Python package, without compiled Python files; None if it is not installed."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    return _plain(Path(str(found.locate_file(file))) for file in found.files or [])


@functools.lru_cache
def own_files() -> tuple[Path, ...]:
    """Return the files of dais-verif itself."""
    found: list[Path] = []
    for place, folders, names in os.walk(Path(__file__).parents[2]):
        folders[:] = [name for name in folders if name not in _PASSING]
        found += [Path(place, name) for name in names if not name.startswith(".") and not name.endswith(_PASSING)]
    return tuple(sorted(found))


def content_of(files: Iterable[Path]) -> str:
    """Return a hash of the names and contents of ``files``, wherever their folder is."""
    found = sorted(map(str, files))
    common = os.path.commonpath(map(os.path.dirname, found)) if found else ""
    digest = hashlib.sha256()
    for path in found:
        digest.update(f"{sha256_of(path)}  {path.removeprefix(common)}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def stamp_of(files: Iterable[Path]) -> str:
    """Return a hash of the paths, sizes and dates of ``files``, for caches of one machine, where speed counts."""
    digest = hashlib.sha256()
    for path in sorted(files):
        facts = path.stat()
        digest.update(f"{path} {facts.st_size} {facts.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


@functools.lru_cache
def installed(name: str) -> str:
    """Return a hash of what is installed as a Python package: its list of files with their hashes.

    Unlike a stamp, it is the same on all machines; unlike a hash of the content, it takes no time.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return f"{name} is not installed"
    return hashlib.sha256(f"{found.version} {found.read_text('RECORD')}".encode()).hexdigest()


def python_files() -> tuple[Path, ...]:
    """Return Python's program, and the library that simulators load."""
    found = [Path(sys.executable)]
    with contextlib.suppress(ImportError, ToolError):  # only simulations need it, and they report it
        found.append(tools.libpython())
    return _plain(found)


def _below(folder: Path) -> Iterator[Path]:
    return folder.rglob("*")


def _plain(paths: Iterable[Path]) -> tuple[Path, ...]:
    found = (path for path in paths if path.is_file() and not any(part in path.as_posix() for part in _PASSING))
    return tuple(sorted(set(found)))


def sha256_of(path: str | Path) -> str:
    """Return the hash of a file, which is read again only if its metadata say that it may have changed.

    A file that changed in the last second may change again within the resolution of its dates: it is always read.
    """
    facts = os.stat(path)
    settled = time.time_ns() - facts.st_ctime_ns > 1_000_000_000
    read = _read_once if settled else _read_once.__wrapped__
    return read(str(path), facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


@functools.lru_cache(maxsize=1 << 16)
def _read_once(path: str, *_: int) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
