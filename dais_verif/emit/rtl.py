"""Where the hand-written RTL is, which a wrapped program needs beside its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

__all__ = ["copy_rtl"]

_FOLDER = Path(__file__).parents[2] / "rtl"


def copy_rtl(names: Iterable[str], folder: Path) -> list[Path]:
    return [Path(shutil.copy(_FOLDER / name, folder / name)) for name in names]
