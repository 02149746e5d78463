"""Which program a run was of."""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.program import Program

__all__ = ["ProgramInfo"]


@dataclass(frozen=True)
class ProgramInfo:
    """Which program, and how it was read."""

    path: str | None
    hash: str
    file_sha256: str | None
    layout: str
    layout_assumed: bool
    n_in: int
    n_out: int
    n_ops: int

    @classmethod
    def of(cls, program: Program) -> ProgramInfo:
        """Return the facts about ``program``."""
        origin = program.origin
        return cls(
            origin.path,
            program.hash,
            origin.file_sha256,
            origin.layout,
            origin.assumed,
            program.n_in,
            program.n_out,
            program.n_ops,
        )
