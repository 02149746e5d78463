"""Give GHDL's synthesis bodies of our own for the packages whose functions it would otherwise read in its own way.

GHDL knows the functions of ``ieee.numeric_std`` by their names and does not read their bodies. Its own reading is wrong
for several of them, in each version for others: narrowing ``resize`` of signed, ``/``, ``mod`` and ``rem`` of signed,
comparisons with an integer that the vector cannot hold. The copies of the user's files therefore name packages in
``work``, whose text is beside this module.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from dais_verif.base.errors import VhdlError

__all__ = ["copy_into", "redirected", "texts", "without_prefix"]

#: Our packages have the names of the originals after this.
_PREFIX = "dais_"

_OURS = ("numeric_std", "numeric_std_unsigned", "std_logic_unsigned", "std_logic_signed")
_FILES = tuple(Path(__file__).with_name(f"{_PREFIX}{name}.vhd") for name in _OURS)
#: Packages of ieee that are read as they are: types, logic, and functions that GHDL evaluates or whose bodies it reads.
_AS_THEY_ARE = ("std_logic_1164", "std_logic_misc", "std_logic_textio", "math_real", "math_complex", "all")
_CONTEXT = "library ieee; use ieee.std_logic_1164.all; use work.dais_numeric_std.all;"

_PART = re.compile(
    r"""(?P<other>--[^\n]*|/\*.*?\*/|"(?:[^"\n]|"")*"|(?<![\w)])'.'|\\[^\\\n]*\\)"""
    r"|\bcontext\s+ieee\s*\.\s*(?P<context>\w+)\s*;"
    r"|\bieee\s*\.\s*(?P<package>\w+)",
    re.DOTALL | re.IGNORECASE,
)


def copy_into(folder: Path) -> list[str]:
    """Copy our packages into ``folder``, and return their names in it."""
    for file in _FILES:
        (folder / file.name).write_bytes(file.read_bytes())
    return [file.name for file in _FILES]


def texts() -> list[bytes]:
    """Return the texts of our packages."""
    return [file.read_bytes() for file in _FILES]


def redirected(source: Path, text: bytes) -> bytes:
    """Return the text of the VHDL file ``source``, line by line, with names of our packages.

    Raises ``InputError`` for a package of ieee that GHDL would read in its own way.
    """
    whole = text.decode("latin-1")

    def named(found: re.Match[str]) -> str:
        if found["other"] is not None:
            return found[0]
        name = (found["context"] or found["package"]).lower()
        breaks = "\n" * found[0].count("\n")
        if found["context"] is not None and name == "ieee_std_context":
            return _CONTEXT + breaks
        if name in _OURS:
            return f"work.{_PREFIX}{name}{breaks}"
        if name in _AS_THEY_ARE:
            return found[0]
        raise VhdlError(
            f"{_place(source, whole, found.start())}: a proof does not read package ieee.{name}; use ieee.numeric_std"
        )

    return _PART.sub(named, whole).encode("latin-1")


def _place(source: Path, text: str, position: int) -> str:
    return f"{os.path.relpath(source)}:{text.count(chr(10), 0, position) + 1}"


def without_prefix(text: str) -> str:
    """Return a message of GHDL with the names of the packages that the user wrote."""
    return re.sub(rf"\b{_PREFIX}(?={'|'.join(_OURS)})", "", text)
