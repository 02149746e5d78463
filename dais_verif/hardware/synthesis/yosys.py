"""Run Yosys to make a mapped netlist of RTL, within limits of time and memory.

All files that Yosys reads and writes, including script and log, are in one folder, where ``yosys -s synth.ys`` repeats
the run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import NetlistFailure, ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, Tell, run_limited
from dais_verif.base.toolchain.private_files import copied, shown
from dais_verif.hardware.synthesis.targets import KINDS, TARGETS, Target

__all__ = [
    "CELLS",
    "Depth",
    "FILES",
    "NETLIST",
    "NetlistCosts",
    "RTLIL",
    "STEP",
    "Synthesis",
    "cell_types",
    "read_costs",
    "read_depth",
    "reading",
    "script",
    "synthesize",
]


#: The folder of our own techmaps and cell models.
CELLS = Path(__file__).parent / "cells"

#: The netlist as Verilog for simulators, and as RTLIL for Yosys; and the script and the log.
NETLIST, RTLIL, SCRIPT, LOG = "netlist.v", "netlist.il", "synth.ys", "yosys.log"
_STATISTICS, _PATH = "stat.json", "ltp.txt"

#: The techmap that maps sums to adders.
_SUMS = "sums.v"

#: All files that a run writes into its folder.
FILES = (NETLIST, RTLIL, SCRIPT, LOG, _STATISTICS, _PATH, _SUMS)

#: The line of the log at the start of a pass, with the name of the pass.
STEP = re.compile(r"^\d+(?:\.\d+)*\. Executing (\S+) pass", re.MULTILINE)


class Synthesis(NamedTuple):
    """A netlist with its costs and depth. ``alumacc``: whether Yosys was allowed to merge sums."""

    target: str
    top: str
    version: str
    alumacc: bool
    folder: Path
    costs: NetlistCosts
    depth: Depth
    seconds: float

    @property
    def netlist(self) -> Path:
        """The netlist as Verilog."""
        return self.folder / NETLIST


def reading(sources: Sequence[Path], folder: Path) -> list[str]:
    """Copy ``sources`` into ``folder`` under names that a script can contain; return commands that read the copies."""
    own = copied(sources, folder)
    beside = "".join(f" -I{place}" for place in own.folders)
    return [f"read_verilog -sv{beside} {source}" for source in own.sources]


def script(
    read: Sequence[str],
    top: str,
    target: Target,
    *,
    alumacc: bool = False,
    bram: bool = True,
    dsp: bool = False,
    registers: bool = False,
) -> str:
    """Return the script that runs the commands ``read``, which read the sources, and makes a netlist of module ``top``.

    ``bram``: block RAMs may be used. ``dsp``: use DSPs also for targets that do not use them by default.
    ``registers``: the bits of registers keep their names.
    """
    sums = [] if alumacc else [f"techmap -map {_SUMS}", "opt_clean"]
    flags = " ".join([*([] if bram else [target.no_bram]), *([target.dsp] if dsp else [])])
    kept = [f"t:{cells} %x1:+[Q] %d" for cells in target.kinds["FF"]] if registers else []
    lines = [
        *read,
        f"hierarchy -top {top}",
        *(command.format(top=top, flags=flags) for command in (*target.before, *sums, *target.after)),
        # Names are hidden, since a signal of which bits were removed could be mistaken for its op.
        " ".join(["rename -hide w:*", *kept]),
        "opt_clean -purge",
        "check",
        f"tee -q -o {_STATISTICS} stat -json",
        " ".join([f"tee -q -o {_PATH} ltp -noff *", *(f"t:{cells} %d" for cells in target.clocked)]),
        f"select {top}",  # excludes the cell models that the script has read
        f"write_rtlil -selected {RTLIL}",
        "select -clear",
        # Simulators handle a whole vector whenever one of its bits changes. Therefore cells are connected by single
        # bits, and only ports are vectors. A netlist with 600 output bits runs 25 times as fast.
        "iopadmap -bits -inpad port Y:A -outpad port A:Y",
        "setparam -set A_SIGNED 0 -set A_WIDTH 1 -set Y_WIDTH 1 t:port",
        "chtype -set $pos t:port",
        "splitnets",
        f"write_verilog -noattr {NETLIST}",
    ]
    return "\n".join([*lines, ""])


def synthesize(
    sources: Sequence[Path],
    top: str,
    target: str,
    folder: Path,
    limits: Limits,
    *,
    alumacc: bool = False,
    bram: bool = True,
    dsp: bool = False,
    registers: bool = False,
    tell: Tell = lambda step: None,
) -> Synthesis:
    """Map module ``top`` of ``sources`` to ``target``, with all files in ``folder``.

    ``tell`` is called with the name of each pass of Yosys. Raises ``ToolError`` if Yosys is missing, fails or exceeds a
    limit.
    """
    found = tools.yosys()
    chosen = TARGETS[target]
    begun = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    text = script(reading(sources, folder), top, chosen, alumacc=alumacc, bram=bram, dsp=dsp, registers=registers)
    shutil.copyfile(CELLS / _SUMS, folder / _SUMS)
    (folder / SCRIPT).write_text(text, encoding="utf-8")
    try:
        made = (NETLIST, RTLIL, _STATISTICS, _PATH)
        run_limited("yosys", [str(found.yosys), "-s", SCRIPT], folder / LOG, limits, step=STEP, tell=tell, made=made)
    except ToolError as error:
        raise NetlistFailure(shown(str(error), sources)) from None
    for name, last in ((NETLIST, b"endmodule"), (RTLIL, b"end")):
        _require_whole(folder / name, last)
    types = cell_types(folder / RTLIL)
    return Synthesis(
        target,
        top,
        found.version,
        alumacc,
        folder,
        read_costs(folder / _STATISTICS, chosen),
        read_depth(folder / _PATH, types, chosen),
        time.monotonic() - begun,
    )


def _require_whole(path: Path, last: bytes) -> None:
    """Raise ``ToolError`` unless ``last`` is the last line of ``path`` that is not empty."""
    with path.open("rb") as file:
        file.seek(-min(path.stat().st_size, 4096), os.SEEK_END)
        if file.read().rstrip().rpartition(b"\n")[2] != last:
            raise NetlistFailure(f"yosys exited with code 0, but {path} is not complete")


# Parse the statistics of a netlist from the output of Yosys' ``stat -json``, ``ltp`` and ``write_rtlil``.


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
