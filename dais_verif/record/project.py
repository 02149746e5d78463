"""The project folder of da4ml or alkaid of a run, and the files found in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from dais_verif.counts import counted

__all__ = ["ProjectInfo"]


@dataclass(frozen=True, kw_only=True)
class ProjectInfo:
    """The content of ``folder``. ``dialect``: DAIS or ALIR. ``model``, ``sources`` and ``data``: paths in it.

    ``model``: of the program; None if the program was given separately. ``sources``: of the RTL; empty if it was given
    separately. ``latency``: in clock edges, from the folder, and required of the RTL; None if the folder has none, or
    another was given.
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
