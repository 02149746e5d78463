"""Parse the statistics of a netlist from the output of Yosys' ``stat -json``, ``ltp`` and ``write_rtlil``."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import NetlistFailure
from dais_verif.synthesis.targets import KINDS, Target

__all__ = ["NetlistCosts", "Depth", "cell_types", "read_costs", "read_depth"]

_LENGTH = re.compile(r"Longest topological path in .* \(length=(\d+)\)")
_VIA = re.compile(r"^ +\d+: .* \(via (.+)\)$")
_CELL = re.compile(r"^ *cell (\S+) (\S+)$")


class NetlistCosts(NamedTuple):
    """The numbers of ``cells`` of each type, and of cells of each of the ``kinds`` in ``KINDS``."""

    cells: dict[str, int]
    kinds: dict[str, int]


class Depth(NamedTuple):
    """The longest path without a flip-flop: its number of ``cells``, and the number of its cells of each kind."""

    cells: int
    kinds: dict[str, int]


def read_costs(path: Path, target: Target) -> NetlistCosts:
    """Return the costs in ``path``, the output of ``stat -json`` for one flat module. Raises ``ToolError``."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        # A heading precedes the JSON object.
        design = json.loads(text[text.index("{") :])["design"]
        cells = {str(name): int(number) for name, number in design["num_cells_by_type"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NetlistFailure(f"{path} does not hold the statistics of Yosys that this version understands") from error
    kinds = dict.fromkeys(KINDS, 0)
    for cell, number in cells.items():
        kinds[target.kind_of(cell)] += number
    return NetlistCosts(cells, kinds)


def read_depth(path: Path, types: Mapping[str, str], target: Target) -> Depth:
    """Return the depth in ``path``, the output of ``ltp``. ``types``: the type of each cell. Raises ``ToolError``."""
    text = path.read_text(encoding="utf-8", errors="replace")
    length = _LENGTH.search(text)
    vias = [found[1] for line in text.splitlines() if (found := _VIA.match(line))]
    if length is None or len(vias) != int(length[1]) or not types.keys() >= set(vias):
        raise NetlistFailure(f"{path} does not hold a longest path of Yosys that this version understands")
    kinds = Counter(target.kind_of(types[via]) for via in vias)
    return Depth(len(vias), {kind: kinds[kind] for kind in KINDS if kinds[kind]})


def cell_types(rtlil: Path) -> dict[str, str]:
    """Return the type of every cell, by its name, in ``rtlil``, the output of ``write_rtlil``; without backslashes."""
    return dict(_cells(rtlil))


def _cells(rtlil: Path) -> Iterator[tuple[str, str]]:
    with rtlil.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if found := _CELL.match(line):
                yield found[2].removeprefix("\\"), found[1].removeprefix("\\")
