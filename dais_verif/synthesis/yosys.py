"""Run Yosys to make a mapped netlist of RTL, within limits of time and memory.

All files that Yosys reads and writes, including script and log, are in one folder, where ``yosys -s synth.ys`` repeats
the run.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import NetlistFailure, ToolError
from dais_verif.synthesis.report import Depth, NetlistCosts, cell_types, read_costs, read_depth
from dais_verif.synthesis.targets import TARGETS, Target
from dais_verif.toolchain import tools
from dais_verif.toolchain.limits import Limits, Tell, run_limited
from dais_verif.toolchain.private_files import copied, shown

__all__ = ["CELLS", "FILES", "NETLIST", "RTLIL", "STEP", "Synthesis", "reading", "script", "synthesize"]

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
    for file in (NETLIST, RTLIL, _STATISTICS, _PATH):
        (folder / file).unlink(missing_ok=True)
    (folder / SCRIPT).write_text(text, encoding="utf-8")
    try:
        run_limited("yosys", [str(found.yosys), "-s", SCRIPT], folder / LOG, limits, step=STEP, tell=tell)
    except ToolError as error:
        raise NetlistFailure(shown(str(error), sources)) from None
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
