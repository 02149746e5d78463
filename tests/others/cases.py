"""Third-party modules, listed in ``cases.toml``, and our specifications that they are compared with."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

__all__ = ["SPECIFICATIONS", "Case", "Project", "cases", "projects"]

HERE = Path(__file__).parent
SPECIFICATIONS = HERE / "specifications"


@dataclass(frozen=True)
class Project:
    """A public repository on GitHub at one commit; ``includes`` is the folder that include paths are relative to."""

    repository: str
    commit: str
    licence: str
    includes: str | None = None


@dataclass(frozen=True)
class Case:
    """A module of a project, and the name of its specification.

    ``headers`` are only included; ``sources`` are in order. ``inputs`` and ``outputs`` are its ports, in the order of
    the specification's. ``parameters`` are as ``--param`` takes them, ``defines`` are macros that are set, ``clock``
    and ``tie`` are tables of a ports file. ``faults``: a text of the sources, and the text that replaces its first
    occurrence.
    """

    module: str
    project: str
    specification: str
    sources: list[str]
    inputs: list[str]
    outputs: list[str]
    faults: list[list[str]]
    headers: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    defines: list[str] = field(default_factory=list)
    clock: dict[str, str] = field(default_factory=dict)
    tie: dict[str, int] = field(default_factory=dict)

    @property
    def program(self) -> Path:
        """Return the file of the specification."""
        return SPECIFICATIONS / f"{self.specification}.dais"

    @property
    def ports(self) -> str:
        """Return the text of a ports file."""
        lines = [f"[{side}]\nports = [{_listed(names)}]" for side, names in self.sides.items()]
        for name, table in (("clock", self.clock), ("tie", self.tie)):
            lines += (
                [f"[{name}]", *(f'{key} = "{v}"' if isinstance(v, str) else f"{key} = {v}" for key, v in table.items())]
                if table
                else []
            )
        return "\n".join([*lines, ""])

    @property
    def sides(self) -> dict[str, list[str]]:
        """Return the inputs and outputs, by the names of their tables."""
        return {"inputs": self.inputs, "outputs": self.outputs}


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


@cache
def _table() -> dict:
    return tomllib.loads((HERE / "cases.toml").read_text())


def projects() -> dict[str, Project]:
    """Return the projects by name."""
    return {name: Project(**entry) for name, entry in _table()["projects"].items()}


def cases() -> list[Case]:
    """Return all cases, in the order of the file."""
    return [Case(**entry) for entry in _table()["cases"]]
