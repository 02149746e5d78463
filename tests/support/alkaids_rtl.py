"""RTL that alkaid writes for machines; tests that need it are skipped where alkaid is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.places import FSM

__all__ = ["theirs"]


def theirs(name: str, folder: Path, flavor: str) -> tuple[Path, ...]:
    """Return the RTL files that alkaid writes for the machine ``name``, without its wrapper."""
    fsm = pytest.importorskip("alkaid.stateful.fsm")
    writer = pytest.importorskip("alkaid.codegen.rtl.rtl_model")
    writer.RTLModel(fsm.FSM.load(FSM / name / "fsm.json.gz"), folder, prj_name="top", flavor=flavor).write()
    return tuple(path for path in (folder / "src").rglob("*.v*") if "wrapper" not in path.name)
