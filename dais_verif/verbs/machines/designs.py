"""Find the RTL of a machine: user RTL, the RTL of alkaid's folder given as the machine, or emitted RTL."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.record.program import ProjectInfo
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.machine import Machine
from dais_verif.subject.given import AnyProgram, is_folder
from dais_verif.verbs.design_rtl import given
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.projects import open_projects

__all__ = ["machine_design", "opened_design"]


def opened_design(program: AnyProgram, design: DesignRequest) -> tuple[DesignRequest, ProjectInfo | None]:
    """Return the design with alkaid's folder replaced by its files, and the facts of that folder.

    A folder given as the machine also provides the RTL, unless other RTL is given.
    """
    if is_folder(program) and not design.rtl:
        design = replace(design, rtl=(Path(str(program)),))
    opened = open_projects(b"", design)
    return opened.design, opened.project


def machine_design(machine: Machine, asked: DesignRequest, folder: Path) -> RtlDesign:
    """Return user RTL, or emitted RTL, which is written into ``folder``."""
    if asked.rtl:
        return given(asked, folder)[0]
    source = folder / f"{asked.module}.v"
    write_atomically(source, emit_machine(machine, asked.module).encode())
    return RtlDesign((source,), asked.module)
