"""Recognise folders that are one design: a model with its RTL, or a program that another command wrote as a whole."""

from __future__ import annotations

import os
from pathlib import Path

from dais_verif.compile import network_folder
from dais_verif.subject import applied_folder

__all__ = ["brings_rtl", "design_mark", "folder_of_model"]

#: Models in project folders of da4ml and alkaid: programs, then machines and pipelines.
_MODELS = ("model/comb.json.gz", "model/comb.json", "model/fsm.json.gz", "model/pipeline.json")
#: da4ml 0.4 writes its models beside the RTL; they count if one of its other files is there, too.
_OLD_MODELS, _OLD_MARKS = ("model.json", "pipeline.json"), ("misc.json", "build_binder.mk")
#: Manifests of folders of ``kernel build``, ``emit --form`` and ``approx apply``.
_OURS = ("instance.json", network_folder.MANIFEST, applied_folder.MANIFEST)


def design_mark(folder: Path) -> Path | None:
    """Return the file by which ``folder`` is one design; None if it is no such folder, though it may hold some."""
    there = [name for name in (*_OURS, *_MODELS) if _is_there(folder / name)]
    if not there and any(_is_there(folder / name) for name in _OLD_MARKS):
        there = [name for name in _OLD_MODELS if _is_there(folder / name)]
    return folder / there[0] if there else None


def brings_rtl(folder: Path) -> bool:
    """Return True if ``folder`` is a project folder of da4ml or alkaid, which brings RTL of its own."""
    mark = design_mark(folder)
    return mark is not None and mark.name not in _OURS


def folder_of_model(file: Path) -> Path | None:
    """Return the project folder of da4ml or alkaid whose model ``file`` is; None if it is in no such folder."""
    file = Path(os.path.abspath(file))
    for folder in file.parents[:2]:
        mark = design_mark(folder)
        if mark is not None and mark.parent == file.parent and brings_rtl(folder):
            return folder
    return None


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()
