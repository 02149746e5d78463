"""The project folder of da4ml or alkaid that a run was given, and the files found in this folder."""

from __future__ import annotations

from dataclasses import dataclass, field

from dais_verif.counts import counted

__all__ = ["ProjectInfo"]


@dataclass(frozen=True, kw_only=True)
class ProjectInfo:
    """The content of ``folder``. ``dialect``: DAIS or ALIR. ``model``, ``sources``, ``data``: paths within the folder.

    ``model``: the file of the program; None if the program was given separately. ``sources``: the files of the RTL;
    empty if the RTL was given separately. ``latency``: the latency in clock edges that the folder states, which the RTL
    must have; None if the folder states none, or if the user gave another.
    """

    folder: str
    writer: str
    dialect: str
    language: str
    top: str
    model: str | None = None
    sources: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    clock: str | None = None
    latency: int | None = None

    def __str__(self) -> str:
        found = [f"{self.folder}: {self.writer} ({self.dialect}), {self.language}"]
        if self.model is not None:
            found.append(f"model {self.model}")
        if self.sources:
            files = len(self.sources) + len(self.data)
            found.append(f"top {self.top}, {counted(files, 'file')}")
            found.append("combinational" if self.clock is None else f"clock {self.clock}")
        if self.latency is not None:
            found.append(f"latency {self.latency} as it says")
        return ", ".join(found)
