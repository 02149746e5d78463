"""Yosys as a subprocess: from RTL to a mapped netlist, within limits of time and memory.

Everything it reads and writes lies in one folder, script and log included: ``yosys -s synth.ys`` there does it again.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import InputError, ToolError
from dais_verif.sim import tools
from dais_verif.sim.process import Session, describe_exit, last_error
from dais_verif.synth.report import Costs, Depth, cell_types, read_costs, read_depth
from dais_verif.synth.targets import TARGETS, Target

__all__ = ["CELLS", "NETLIST", "Limits", "Synthesis", "script", "synthesize"]

#: Our own maps and models.
CELLS = Path(__file__).parent / "cells"

#: The netlist, as Verilog for simulators and as RTLIL for Yosys; and what else a run leaves.
NETLIST, RTLIL, SCRIPT, LOG = "netlist.v", "netlist.il", "synth.ys", "yosys.log"
_STATISTICS, _PATH = "stat.json", "ltp.txt"

_PASS = re.compile(rb"^\d+(?:\.\d+)*\. Executing (\S+) pass", re.MULTILINE)
_EXHAUSTED = re.compile(r"bad_alloc|out of memory|cannot allocate memory|return code (137|139|134|9|11|6)\b", re.I)

_LESS = "try a smaller program, a pipeline's stage by itself, another target"


class Limits(NamedTuple):
    """``seconds`` for the whole run; ``megabytes`` of address space for each process: Yosys, and ABC that it starts."""

    seconds: float
    megabytes: int


class Synthesis(NamedTuple):
    """A netlist and what is known of it. ``alumacc``: whether Yosys was allowed to merge sums."""

    target: str
    top: str
    version: str
    alumacc: bool
    folder: Path
    costs: Costs
    depth: Depth
    seconds: float

    @property
    def netlist(self) -> Path:
        """The netlist as Verilog."""
        return self.folder / NETLIST


def script(sources: Sequence[Path], top: str, target: Target, *, alumacc: bool = False) -> str:
    """The commands that make a netlist of ``sources``. Raises ``InputError`` if a path cannot be written in one."""
    for path in (*sources, CELLS):
        if set('"\n') & set(str(path)):
            raise InputError(f"Yosys cannot read {str(path)!r}: a quote or line break is in its path; rename it")
    # What a source includes is also looked for beside it.
    reading = [f'read_verilog -sv "{source.absolute()}"' for source in sources]
    sums = [] if alumacc else [f'techmap -map "{CELLS / "sums.v"}"', "opt_clean"]
    lines = [
        *reading,
        f"hierarchy -top {top}",
        *(command.format(top=top) for command in (*target.before, *sums, *target.after)),
        # Names of signals would be taken for the ops they were, but bits that nobody needed are gone.
        "rename -hide w:*",
        "opt_clean -purge",
        "check",
        f"tee -q -o {_STATISTICS} stat -json",
        " ".join([f"tee -q -o {_PATH} ltp -noff *", *(f"t:{cells} %d" for cells in target.clocked)]),
        f"write_rtlil {RTLIL}",
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
    tell: Callable[[str], None] = lambda step: None,
) -> Synthesis:
    """Map module ``top`` of ``sources`` to ``target`` in ``folder``; ``tell`` hears of every pass of Yosys.

    Raises ``ToolError`` if Yosys is missing, fails or meets a limit; ``InputError`` for a path it cannot read.
    """
    found = tools.yosys()
    chosen = TARGETS[target]
    text = script(sources, top, chosen, alumacc=alumacc)
    begun = time.monotonic()
    run_yosys(found, text, folder, limits, tell=tell)
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


def run_yosys(
    found: tools.YosysTools,
    text: str,
    folder: Path,
    limits: Limits,
    *,
    name: str = SCRIPT,
    log: str = LOG,
    tell: Callable[[str], None] = lambda step: None,
) -> None:
    """Run the script ``text``, which is kept in ``folder`` under ``name``."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (NETLIST, RTLIL, _STATISTICS, _PATH):
        (folder / file).unlink(missing_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    session = Session(folder / log, cwd=folder, timeout=limits.seconds)
    begun = time.monotonic()
    with _Follower(session.log, tell):
        try:
            code = session.run("yosys", _limited([str(found.yosys), "-s", name], limits.megabytes))
        except ToolError as error:
            if time.monotonic() - begun < limits.seconds:
                raise
            raise ToolError(f"{error}; {_LESS} or a longer --timeout") from None
    if code == 0:
        return
    if _EXHAUSTED.search(session.log.read_text(encoding="utf-8", errors="replace")[-20_000:]) or code == -9:
        raise ToolError(
            f"yosys ran out of memory: {limits.megabytes} MB for each process are not enough (full output:"
            f" {session.log}); {_LESS} or more --memory"
        )
    raise ToolError(f"yosys {describe_exit(code)}: {last_error(session.log)} (full output: {session.log})")


def _limited(command: Sequence[str], megabytes: int) -> list[str]:
    return ["/bin/sh", "-c", 'ulimit -v "$1"; shift; exec "$@"', "sh", str(megabytes * 1024), *command]


class _Follower:
    """Tells of the last pass that a growing log names."""

    def __init__(self, log: Path, tell: Callable[[str], None]) -> None:
        self._log, self._tell = log, tell
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _follow(self) -> None:
        with self._log.open("rb") as log:
            while not self._done.wait(0.5):
                passes = _PASS.findall(log.read())
                if passes:
                    self._tell(passes[-1].decode(errors="replace").lower())
