"""A page that shows only a machine."""

from __future__ import annotations

from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.base.verdict import Verdict
from dais_verif.report.html.machines.view import view_of
from dais_verif.report.html.page import render_template
from dais_verif.report.html.verdicts import Standing
from dais_verif.spec.machine import Machine

__all__ = ["write_machine_page"]


def write_machine_page(machine: Machine, path: str | Path) -> None:
    """Write a page that shows only ``machine`` to ``path``. Raises ``InputError`` if it cannot be written."""
    path, view = Path(path), view_of(machine)
    standing = Standing(Verdict.PASS, view.summary, "valid")
    text = render_template("machine_page.html", path.parent, standing=standing, path=machine.origin.path, machine=view)
    write_atomically(path, text.encode("utf-8", "backslashreplace"))
