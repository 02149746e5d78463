"""Read Verilog text as a netlist, by either front end, and its signals as terms and values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.toolchain.rtl_files import DataFile
from dais_verif.hardware.synthesis.elaboration import elaborated as run_yosys
from dais_verif.prover import slang, yosys
from dais_verif.prover.netlist import Cone, Netlist
from dais_verif.prover.terms import Term, extract, leaves, var
from dais_verif.prover.terms.evaluate import evaluate

__all__ = ["FRONT_ENDS", "SLOW_FRONT_ENDS", "elaborated", "needs_yosys", "term_of", "value_of", "values_of"]

LIMITS = Limits(120, 4096)

#: A value that no correct result has.
UNDEFINED = 0xEE


def has_yosys() -> bool:
    try:
        tools.yosys()
    except ToolError:
        return False
    return True


needs_yosys = pytest.mark.skipif(not has_yosys(), reason="no Yosys")
FRONT_ENDS = ["slang", pytest.param("yosys", marks=needs_yosys)]
#: The same front ends, for tests that read much: Yosys takes long there, so it only runs in the slow suite.
SLOW_FRONT_ENDS = ["slang", pytest.param("yosys", marks=[needs_yosys, pytest.mark.slow])]


def elaborated(text: str, folder: Path, front_end: str, top: str = "dut", **files: Path) -> Netlist:
    (folder / "dut.v").write_text(text)
    if front_end == "slang":
        return slang.elaborate([folder / "dut.v"], top, files)
    data = [DataFile(name, path) for name, path in files.items()]
    return yosys.elaborate(run_yosys([folder / "dut.v"], top, data, folder / "yosys", LIMITS), top)


def term_of(netlist: Netlist, name: str) -> Term:
    """Return a signal as a term over the input ports."""
    inputs = {netlist.signals[port]: var(netlist.signals[port].width, port) for port in netlist.inputs}
    signal = netlist.signals[name]
    cone = Cone(lambda s, low, width: extract(inputs[s], low, width) if s in inputs else None)
    return cone.read(signal, 0, signal.width)


def value_of(term: Term, row: dict[str, int]) -> int:
    return values_of(term, [row])[0]


def values_of(term: Term, rows: Sequence[dict[str, int]]) -> list[int]:
    """Return the value of ``term`` for each row of input values, computed all at once."""
    given = {t: np.array([row[str(t.data)] for row in rows], dtype=object) for t in leaves(term) if t.op == "var"}
    given |= {
        t: np.array([UNDEFINED & ((1 << t.width) - 1)] * len(rows), dtype=object)
        for t in leaves(term)
        if t.op == "undefined"
    }
    found = evaluate([term], given)[0]
    return [int(value) for value in found] if given else [int(found[0])] * len(rows)
