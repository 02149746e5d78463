"""Write ``dais_verif/doors/api/keywords.py``, the keyword arguments of functions, from options that requests declare.

``make keywords`` calls it; a test fails if the file is not current.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from dais_verif.verbs.design_options import DesignOptions
from dais_verif.verbs.options import Declared, declared
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.simulation_request import SimulationRequest

__all__ = ["PLACE", "keywords"]

PLACE = Path(__file__).parents[1] / "dais_verif" / "doors" / "api" / "keywords.py"

_HEAD = '''"""Keyword arguments of functions, written by ``make keywords`` from the options that requests declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Final, Literal, TypedDict

__all__ = {names!r}

_Path = str | PathLike[str]
'''

#: The classes of keywords: the verb, the requests, and what the function does not take.
_FUNCTIONS: dict[str, tuple[str, tuple[type[Any], ...], tuple[str, ...]]] = {
    "Prove": ("prove", (DesignOptions, ProveRequest), ("wrapped",)),
    "Simulate": ("sim", (DesignOptions, SimulationRequest), ()),
}


def keywords() -> str:
    """Return the text of the module."""
    names = [word for name in _FUNCTIONS for word in (name.upper(), f"{name}Options")]
    parts = [_HEAD.replace("{names!r}", "[" + ", ".join(f'"{name}"' for name in sorted(names)) + "]")]
    for name, (verb, requests, without) in _FUNCTIONS.items():
        found = [one for request in requests for one in declared(request) if one.keyword not in without]
        parts.append(f"\n\nclass {name}Options(TypedDict, total=False):\n")
        parts.append(f'    """The options of ``dais-verif {verb}``, as keyword arguments."""\n\n')
        for one in found:
            parts.append(f"    {one.keyword}: {_annotation(one)}\n{_text(one)}")
        parts.append(f"\n\n#: The defaults of ``{name}Options``.\n{name.upper()}: Final[Mapping[str, Any]] = {{\n")
        parts += [f'    "{one.keyword}": {_written(_default(one))},\n' for one in found]
        parts.append("}\n")
    return "".join(parts)


def _text(one: Declared) -> str:
    text = one.option.help if one.option.help[-1] == "." else f"{one.option.help}."
    lines = textwrap.wrap(f'"""{text}"""', 116)
    return "".join(f"    {line}\n" for line in lines)


def _annotation(one: Declared) -> str:
    kinds = {"Path": "_Path", "tuple[Path, ...]": "Sequence[_Path] | _Path"}
    kind = one.option.accepts or kinds.get(one.type, one.type)
    return f"{kind.replace(chr(39), chr(34))} | None" if _default(one) is None else kind


def _default(one: Declared) -> Any:
    return None if one.value == () else one.value


def _written(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    PLACE.write_text(keywords(), encoding="utf-8")
