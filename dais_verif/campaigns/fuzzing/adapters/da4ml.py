"""da4ml's C++ interpreter on a v1 binary.

``python -m dais_verif.campaigns.fuzzing.adapters.da4ml PROGRAM INPUTS OUTPUTS``
"""

from __future__ import annotations

import sys

import numpy as np


def main(program: str, inputs: str, outputs: str) -> None:
    """Write the outputs (vectors, outputs) of ``inputs``, both .npy."""
    from da4ml._binary import dais_interp_run

    words = np.fromfile(program, dtype=np.int32)
    np.save(outputs, np.array(dais_interp_run(words, np.load(inputs), 1)))


if __name__ == "__main__":
    main(*sys.argv[1:])
