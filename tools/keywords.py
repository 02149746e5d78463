"""Write ``dais_verif/doors/api/keywords.pyi``, the keyword arguments of functions, from options that requests declare.

``make keywords`` calls it; a test fails if the file is not current.
"""

from __future__ import annotations

import textwrap
from inspect import isfunction
from pathlib import Path
from typing import Any

import dais_verif
from dais_verif.doors.api.signatures import annotation_of

__all__ = ["PLACE", "keywords"]

PLACE = Path(__file__).parents[1] / "dais_verif" / "doors" / "api" / "keywords.pyi"

_HEAD = '''"""Keyword arguments of functions, written by ``make keywords`` from the options that requests declare."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Literal, TypedDict

from dais_verif.golden import Engine

_Path = str | PathLike[str]
'''


def keywords() -> str:
    """Return the text of the module."""
    parts = [_HEAD]
    for name in sorted(dais_verif.__all__):
        function: Any = getattr(dais_verif, name)
        if isfunction(function) and "listed" in vars(function):
            title = name.title().replace("_", "")
            parts.append(f"\n\nclass {title}(TypedDict, total=False):\n")
            parts.append(f'    """The options of ``{name}``."""\n\n')
            for one in vars(function)["listed"]():
                text = one.option.help if one.option.help[-1:] == "." else f"{one.option.help}."
                lines = textwrap.wrap(f'"""{text}"""', 116)
                parts.append(f"    {one.keyword}: {annotation_of(one)}\n" + "".join(f"    {line}\n" for line in lines))
    return "".join(parts)


if __name__ == "__main__":
    PLACE.write_text(keywords(), encoding="utf-8")
