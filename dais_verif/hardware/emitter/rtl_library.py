"""Find the RTL library: in the installed package, or next to its folder in a source tree."""

from __future__ import annotations

from pathlib import Path

from dais_verif.base.errors import MissingPackage

__all__ = ["AXIL_FILES", "AXIS_FILES", "library_sources"]

#: The files that a core needs for AXI4-Stream, lowest module first, and the files that AXI4-Lite needs in addition.
AXIS_FILES = ("dais_skid.v", "dais_axis.v")
AXIL_FILES = ("dais_selfcheck.v", "dais_axil.v")

_PACKAGE = Path(__file__).parents[2]


def library_sources(*names: str) -> tuple[Path, ...]:
    """Return the paths of the files ``names`` of ``rtl/``. Raises ``ToolError`` if one is missing."""
    for folder in (_PACKAGE / "rtl", _PACKAGE.parent / "rtl"):
        paths = tuple(folder / name for name in names)
        if all(path.is_file() for path in paths):
            return paths
    raise MissingPackage(
        f"the hand-written RTL ({', '.join(names)}) is neither in {_PACKAGE / 'rtl'} nor in {_PACKAGE.parent / 'rtl'};"
        " install dais-verif again"
    )
