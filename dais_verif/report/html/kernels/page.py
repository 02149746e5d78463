"""The page of an instance: index space, elements that a member accesses, and activity of the first members."""

from __future__ import annotations

from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.base.verdict import Verdict
from dais_verif.record.kernel_picture import KernelPicture
from dais_verif.report.html.kernels import template_facts
from dais_verif.report.html.page import render_template
from dais_verif.report.html.verdicts import Standing

__all__ = ["write_kernel_page"]


def write_kernel_page(picture: KernelPicture, path: str | Path) -> None:
    """Write the page of ``picture`` to ``path``. Raises ``InputError`` if it cannot be written."""
    path = Path(path)
    sizes = " × ".join(map(str, picture.index_space))
    summary = f"{picture.members} member{'' if picture.members == 1 else 's'} in an index space of {sizes}"
    standing = (
        Standing(Verdict.RTL_MISMATCH, picture.broken[0], "breaks a law")
        if picture.broken
        else Standing(Verdict.PASS, f"{summary}; no law of its mapping is broken", "valid")
    )
    text = render_template(
        "kernel_page.html",
        path.parent,
        standing=standing,
        **template_facts(picture),
    )
    write_atomically(path, text.encode("utf-8", "backslashreplace"))
