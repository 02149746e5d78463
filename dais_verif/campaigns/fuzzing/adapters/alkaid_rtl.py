"""alkaid's Verilog of ALIR.

``python -m dais_verif.campaigns.fuzzing.adapters.alkaid_rtl PROGRAM FOLDER``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(program: str, folder: str) -> None:
    """Write the module ``model`` and its submodules into ``folder``."""
    from alkaid.codegen import RTLModel
    from alkaid.types import CombLogic

    logic = CombLogic.from_dict(json.loads(Path(program).read_bytes()))
    RTLModel(logic, Path(folder), "model", flavor="verilog", print_latency=False).write()


if __name__ == "__main__":
    main(*sys.argv[1:])
