"""Identify the tools of a sign-off: their versions, and hashes of executables and packages."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path, PurePath

import msgspec

import dais_verif
from dais_verif.base.errors import CertificateError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.toolchain import tools, verilator_runtime
from dais_verif.base.toolchain.icetime import part_of
from dais_verif.base.toolchain.tool_files import (
    PACKAGES,
    content_of,
    own_files,
    package_files,
    python_files,
    tool_files,
)
from dais_verif.signoff.bitstreams.table import with_files
from dais_verif.signoff.policy import Diff, Policy
from dais_verif.signoff.signed_design import FileHash, Subject, sha256_of

__all__ = ["SUBJECT", "Tool", "copied", "runtime_of", "tool_names", "tools_of", "with_paths"]


#: The tools behind each simulator, and the version of each.
_BEHIND = {"icarus": ("icarus",), "verilator": ("verilator", "g++"), "ghdl": ("ghdl",)}
_VERSIONS: dict[str, Callable[[], str]] = {
    "icarus": lambda: tools.icarus().version,
    "verilator": lambda: tools.verilator().version,
    "g++": lambda: tools.verilator().compiler_version,
    "ghdl": lambda: tools.ghdl().version,
}

#: The executables of IceStorm, which states no version. Its device data are hashed with them.
_ICESTORM = ("icepack", "icetime", "iceunpack")

#: Verilator's runtime as a tool: its version is the hash of all that went into it, its hash that of its objects.
_RUNTIME = "verilator-runtime"


@dataclass(frozen=True)
class Tool:
    """A tool. ``sha256``: the hash of its files: programs, all that they run and read, or a Python package."""

    version: str
    sha256: str


def runtime_of(policy: Policy, *, installed: bool, cache: Path) -> dict[str, Tool]:
    """Return Verilator's runtime as a tool, if ``policy`` needs it and it was compiled.

    ``installed``: the installed one may be used; else, only one in the folder of runtimes ``cache``.
    """
    if "verilator" not in policy.simulators:
        return {}
    folder = verilator_runtime.find(installed=installed, cache=cache)
    return {} if folder is None else {_RUNTIME: Tool(folder.name, verilator_runtime.digest(folder))}


def tools_of(policy: Policy, runtime: Mapping[str, Tool], *, netlist: bool) -> dict[str, Tool]:
    """Return the tools of a sign-off by ``policy``. Raises ``ToolError`` if one is missing.

    ``runtime``: that of Verilator, from ``runtime_of``. ``netlist``: the sign-off synthesized a netlist.
    """
    found = {
        "dais-verif": Tool(dais_verif.__version__, content_of(own_files())),
        "python": Tool(platform.python_version(), content_of(python_files())),
        **runtime,
    }
    for name in PACKAGES:
        files = package_files(name)
        if files is not None:
            found[name] = Tool(version(name), content_of(files))
    for simulator in policy.simulators:
        for name in _BEHIND[simulator]:
            found[name] = Tool(_VERSIONS[name](), content_of(tool_files(name)))
    if netlist:
        found["yosys"] = Tool(tools.yosys().version, content_of(tool_files("yosys")))
    if policy.bitstream.device is not None:
        chip = tools.icestorm_chip(part_of(policy.bitstream.device)[2])
        found["icestorm"] = Tool(chip.stem, content_of([*map(tools.icestorm, _ICESTORM), chip]))
    return dict(sorted(found.items()))


def tool_names(policy: Policy, *, netlist: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the tools that ``tools_of`` must return, and of those that it may return in addition."""
    needed = {"dais-verif", "python", *policy.simulators}
    needed |= {"g++"} if "verilator" in policy.simulators else set()
    needed |= {"yosys"} if netlist else set()
    needed |= {"icestorm"} if policy.bitstream.device is not None else set()
    return frozenset(needed), frozenset(PACKAGES) | ({_RUNTIME} if "verilator" in policy.simulators else set())


# Copy all signed-off files, so that the hashed content is built and proved even if a file changes in the meantime.
#
# The copies are part of the evidence. RTL files that share a folder also share a folder of copies, which holds nothing
# else: RTL finds its include files as before, and finds no file that is not certified.


#: The folder of the copies, in the folder of the evidence.
SUBJECT = "subject"


def copied(subject: Subject, policy: Policy, folder: Path) -> tuple[Subject, Policy]:
    """Return ``subject`` and ``policy`` with copies in ``folder / SUBJECT`` instead of all files.

    Our own RTL is not copied, since it already is part of the evidence. Raises ``InputError`` if a file no longer
    matches its hash, or if its copy would not be found under the name that the RTL uses.
    """
    root = folder.absolute() / SUBJECT
    sources = [] if subject.emitted else subject.of("rtl")
    places = list(dict.fromkeys(Path(source.path).parent for source in sources))
    made: dict[int, Path] = {}
    for number, file in enumerate(subject.files):
        path = Path(file.path)
        if file.role == "rtl" and not subject.emitted:
            made[number] = root / f"rtl_{places.index(path.parent)}" / path.name
            _copy(file, made[number])
        elif file.role == "include":
            copies = [_copy(file, root / place) for place in _included(path, places)]
            made[number] = copies[0]
        elif file.role == "kernel":
            made[number] = _copy(file, root / file.role / path.name)
        elif file.role == "configuration":  # commands read it from the folder of the program
            made[number] = _copy(file, root / "program_0" / path.name)
        elif file.role == "data" and "/" in file.name:
            # RTL finds the file by this name, below its folder. A file whose name leads elsewhere is read where it is.
            if not PurePath(file.name).is_absolute() and ".." not in PurePath(file.name).parts:
                made[number] = _copy(file, root / "rtl_0" / file.name)
        elif file.role != "rtl":
            made[number] = _copy(file, root / f"{file.role}_{number}" / (file.name or path.name))
    files = tuple(replace(file, path=str(made.get(number, file.path))) for number, file in enumerate(subject.files))
    own = replace(subject, path=Path(files[0].path), files=files)
    data = [file.path for file in own.of("data") if "/" not in file.name]
    return own, with_paths(policy, own, data)


def with_paths(policy: Policy, subject: Subject, data: Iterable[str]) -> Policy:
    """Return ``policy`` in which all files have their paths in ``subject``, and the data files are ``data``."""
    ports = [file.path for file in subject.of("ports")]
    rtl = msgspec.structs.replace(
        policy.rtl,
        files=() if subject.emitted else tuple(subject.rtl),
        data=tuple(data),
        ports=ports[0] if ports else None,
    )
    diff = Diff(**{role: subject.only(role).path for role in policy.diff.files})
    bits = with_files(policy.bitstream, {role: subject.only(role).path for role in policy.bitstream.files})
    inputs = tuple(file.path for file in subject.of("input"))
    return msgspec.structs.replace(policy, rtl=rtl, inputs=inputs, diff=diff, bitstream=bits)


def _included(path: Path, places: list[Path]) -> list[str]:
    """Return the places of the copies of an included file, one for each folder of RTL that contains it."""
    found = [
        f"rtl_{number}/{path.relative_to(place).as_posix()}"
        for number, place in enumerate(places)
        if path.is_relative_to(place) and ".." not in path.relative_to(place).parts
    ]
    if not found:
        raise CertificateError(
            f"{str(path)!r} is included, but is not in or below a folder of an RTL file, so it cannot"
            " be certified; move it there"
        )
    return found


def _copy(file: FileHash, copy: Path) -> Path:
    make_folder(copy.parent)
    try:
        write_atomically(copy, Path(file.path).read_bytes())
    except OSError as error:
        raise CertificateError(f"cannot read {file.path!r}: {error.strerror}") from None
    if sha256_of(copy) != file.sha256:
        raise CertificateError(f"{file.path!r} was changed while it was copied; run again")
    return copy
