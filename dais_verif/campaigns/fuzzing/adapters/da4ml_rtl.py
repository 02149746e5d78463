"""da4ml's Verilog of a program in its JSON.

``python -m dais_verif.campaigns.fuzzing.adapters.da4ml_rtl PROGRAM FOLDER``
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(program: str, folder: str) -> None:
    """Write the module ``model`` and its submodules into ``folder``."""
    from da4ml.codegen import VerilogModel
    from da4ml.types import CombLogic

    VerilogModel(CombLogic.load(Path(program)), "model", Path(folder), print_latency=False).write()


if __name__ == "__main__":
    main(*sys.argv[1:])
