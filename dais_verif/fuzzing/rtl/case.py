"""A case with RTL: a program, input vectors, and Verilog that should compute it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from dais_verif.counts import counted
from dais_verif.fuzzing.case import Case
from dais_verif.toolchain.data_files import DataFile, copy_into

__all__ = ["Edit", "Files", "RtlCase", "edited"]

#: Texts by file name, with one character per byte (ISO 8859-1), so that positions equal those of Verilog readers.
Files = Mapping[str, str]

_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


class Edit(NamedTuple):
    """The replacement of the text from ``start`` to ``end`` of ``file`` by ``new``."""

    file: str
    start: int
    end: int
    new: str


@dataclass(frozen=True, eq=False)
class RtlCase:
    """``case`` and its RTL, module ``top`` in ``files``.

    ``ours``: True if the RTL has the ports of emitted RTL, whatever ports the original RTL has. ``includes``: the files
    that the RTL includes, which are not reduced.
    """

    case: Case
    files: Files
    top: str
    ours: bool = False
    includes: tuple[DataFile, ...] = ()

    @cached_property
    def key(self) -> object:
        """The identity of the case."""
        return self.case.key, self.top, tuple(self.files.items())

    @property
    def words(self) -> str:
        """The size of the case, as text."""
        return f"{self.case.words}, {counted(self.lines, 'line')} of RTL"

    @property
    def lines(self) -> int:
        """The number of lines of RTL that are not empty."""
        return sum(bool(line.strip()) for text in self.files.values() for line in text.splitlines())

    def with_files(self, files: Files) -> RtlCase:
        """Return the same case with other RTL."""
        return replace(self, files=files)

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write the RTL and what it includes into ``folder``, and return the paths of the files of the RTL."""
        folder.mkdir(parents=True, exist_ok=True)
        copy_into(folder, self.includes)
        for name, text in self.files.items():
            (folder / name).write_bytes(text.encode("latin-1"))
        return tuple(folder / name for name in self.files)


def edited(files: Files, edits: Iterable[Edit]) -> dict[str, str]:
    """Return ``files`` after ``edits``, without blank lines in edited files. Edits within another edit are ignored."""
    made, last = dict(files), dict.fromkeys(files, 0)
    parts: dict[str, list[str]] = {name: [] for name in files}
    for edit in sorted(edits, key=lambda edit: (edit.file, edit.start, -edit.end)):
        if edit.start >= last[edit.file]:
            parts[edit.file] += [files[edit.file][last[edit.file] : edit.start], edit.new]
            last[edit.file] = edit.end
    for name, pieces in parts.items():
        if pieces:
            made[name] = _BLANK.sub("\n", "".join(pieces) + files[name][last[name] :])
    return made
