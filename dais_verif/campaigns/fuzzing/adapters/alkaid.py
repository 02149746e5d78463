"""alkaid's C++ interpreter on ALIR.

``python -m dais_verif.campaigns.fuzzing.adapters.alkaid PROGRAM INPUTS OUTPUTS``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np


def main(program: str, inputs: str, outputs: str) -> None:
    """Write the outputs (vectors, outputs) of ``inputs``, both .npy."""
    from alkaid.types import CombLogic

    logic, x = CombLogic.from_dict(json.loads(Path(program).read_bytes())), np.load(inputs)
    np.save(outputs, np.array(logic.predict(x, n_threads=1), dtype=np.float64).reshape(len(x), -1))


if __name__ == "__main__":
    main(*sys.argv[1:])
