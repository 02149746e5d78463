"""The signed-off design: a program or a machine, its RTL and every file that these read, with their hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from dais_verif.base.errors import InputError, PolicyError
from dais_verif.base.files import open_plain, read_plain
from dais_verif.base.text import counted
from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.signoff.policy import Policy, Rtl
from dais_verif.spec.machine import Machine, looks_like_machine, parse_machine
from dais_verif.spec.program import Program
from dais_verif.subject.applied_folder import files_beside
from dais_verif.subject.programs import load_program
from dais_verif.subject.run_inputs import rtl_inputs

__all__ = [
    "ROLES",
    "Design",
    "FileHash",
    "Subject",
    "file_hash",
    "files_of_rtl",
    "load_design",
    "sha256_of",
    "subject_of",
    "top_of",
]

#: The reference for the RTL.
Design: TypeAlias = Program | Machine

#: Roles of files: ``program`` (or machine), its RTL, the files that the RTL reads, and files of the policy.
ROLES = (
    *("program", "rtl", "include", "data", "ports", "input", "kernel", "configuration"),
    *("frame", "against", "bitstream", "pins"),
)

#: The limit of file size, so that the time to check a certificate is bounded.
_MOST_BYTES = 4 << 30


@dataclass(frozen=True)
class FileHash:
    """A file and the SHA-256 of its bytes. ``name``: the name that the RTL uses for it, if that is not its path."""

    role: str
    path: str
    sha256: str
    name: str = ""


@dataclass(frozen=True)
class Subject:
    """A program or a machine, and its RTL. ``emitted``: dais-verif wrote the RTL."""

    design: Design
    path: Path
    layout: str | None
    emitted: bool
    top: str
    files: tuple[FileHash, ...]

    @property
    def program(self) -> Program:
        """The program. Raises ``TypeError`` if it is a machine."""
        if isinstance(self.design, Machine):
            raise TypeError("a machine is signed off, where a program is expected")
        return self.design

    @property
    def machine(self) -> Machine:
        """The machine. Raises ``TypeError`` if it is a program."""
        if not isinstance(self.design, Machine):
            raise TypeError("a program is signed off, where a machine is expected")
        return self.design

    @property
    def is_machine(self) -> bool:
        """True for a machine, False for a program."""
        return isinstance(self.design, Machine)

    @property
    def is_kernel(self) -> bool:
        """True if the machine is the hardware of a kernel, whose files are signed off with it."""
        return any(file.role == "kernel" for file in self.files)

    def of(self, role: str) -> list[FileHash]:
        """Return the files of one of ``ROLES``."""
        return [file for file in self.files if file.role == role]

    def only(self, role: str) -> FileHash:
        """Return the only file of a role. Raises ``InputError`` unless there is exactly one."""
        found = self.of(role)
        if len(found) != 1:
            raise PolicyError(f"{counted(len(found), 'file')} of role {role!r} signed off, must be one")
        return found[0]

    @property
    def rtl(self) -> list[str]:
        """The RTL files."""
        return [file.path for file in self.of("rtl")]

    def changed(self) -> list[str]:
        """Return a line for every file that has changed."""
        return [line for file in self.files for line in _difference(file)]


def _difference(file: FileHash) -> Iterator[str]:
    try:
        found = sha256_of(Path(file.path))
    except InputError as error:
        yield str(error)
        return
    if found != file.sha256:
        yield f"{file.path} was changed while it was signed off: it was {file.sha256[:16]}..., is {found[:16]}..."


def sha256_of(path: Path) -> str:
    """Return the hash of the file ``path``. Raises ``InputError`` if it cannot be read, or is not a regular file."""
    digest, left = hashlib.sha256(), _MOST_BYTES
    with open_plain(path, _MOST_BYTES) as file:
        try:
            while block := file.read(1 << 20):
                digest.update(block)
                left -= len(block)
                if left < 0:
                    raise PolicyError(f"file {str(path)!r} grows while it is read")
        except OSError as error:
            raise PolicyError(f"cannot read {str(path)!r}: {error.strerror}") from None
    return digest.hexdigest()


def load_design(path: Path, layout: str | None = None) -> Design:
    """Return the program or the machine in the file ``path``, by its content.

    Raises ``ProgramError`` if it is neither, or consists of several files; ``InputError`` if it cannot be read.
    """
    data = read_plain(path, _MOST_BYTES)
    if not looks_like_machine(data):
        return load_program(path, layout)
    machine = parse_machine(data)
    return replace(machine, origin=replace(machine.origin, path=str(path)))


def file_hash(role: str, path: Path, name: str = "") -> FileHash:
    """Return the file ``path`` with its current hash."""
    return FileHash(role, str(path.absolute()), sha256_of(path), name)


def subject_of(
    design: Design, path: Path, layout: str | None, policy: Policy, emitted: Path, kernel: Sequence[Path] = ()
) -> Subject:
    """Return the signed-off design, with the hashes of all its files.

    ``emitted``: the RTL if the policy names none. ``kernel``: the files of the machine's kernel. Raises ``InputError``
    if a file that the policy names, or that the RTL includes, is missing.
    """
    if design.origin.file_sha256 is None:
        raise PolicyError(f"{str(path)!r} was not read from a file; give the path of a DAIS program")
    if isinstance(design, Machine) and sha256_of(path) != design.origin.file_sha256:
        raise PolicyError.of(
            "{path!r} names files for its blocks, or was changed meanwhile; a sign-off certifies a machine in one file:"
            " write it as one, with dais-verif convert",
            path=str(path),
        )
    files = [FileHash("program", str(path.absolute()), design.origin.file_sha256)]
    sources = [Path(name) for name in policy.rtl.files] or [emitted]
    for source in sources:
        if not source.is_file():
            problem = "is a folder" if source.is_dir() else "is not there"
            raise PolicyError(
                f"RTL file {str(source)!r} {problem}; [rtl] files names the files of module {policy.rtl.top}"
            )
    files += files_of_rtl(policy.rtl) if policy.rtl.files else [file_hash("rtl", emitted)]
    files += [file_hash("input", Path(name)) for name in policy.inputs]
    files += [file_hash("kernel", path) for path in kernel]
    files += [file_hash("configuration", path) for path in files_beside(path, design.hash)]
    given = policy.diff.files | policy.bitstream.files
    files += [file_hash(role, Path(name)) for role, name in given.items()]
    return Subject(design, path, layout, not policy.rtl.files, top_of(policy, sources), tuple(files))


def top_of(policy: Policy, sources: Sequence[Path]) -> str:
    """Return the top module in the spelling of the simulators: VHDL is not case-sensitive."""
    return policy.rtl.top.lower() if any(map(is_vhdl, sources)) else policy.rtl.top


def files_of_rtl(rtl: Rtl) -> list[FileHash]:
    """Return the RTL files that a policy names, and all files that these read."""
    sources = [Path(name) for name in rtl.files]
    read = rtl_inputs(sources, [Path(name) for name in rtl.data])
    found = [file_hash("rtl", source) for source in sources]
    found += [file_hash("include", path) for path in read.includes]
    found += [file_hash("data", file.path, file.name) for file in read.tables]
    return found + ([file_hash("ports", Path(rtl.ports))] if rtl.ports is not None else [])
