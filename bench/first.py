"""Compute the first outputs in a new process: ``python -m bench.first ours|peer PROGRAM VECTORS ENGINE``.

It prints the digest of the outputs. Each side imports only what it needs, and reads program and vectors (.npy, doubles)
from files.
"""

import hashlib
import sys


def ours(program: str, vectors: str, engine: str):  # type: ignore[no-untyped-def]  # numpy is not imported yet
    """Load, compile and run a program with our engine."""
    import numpy as np

    from dais_verif.golden import Golden
    from dais_verif.spec.program import load

    return Golden(load(program), engine=engine).run(np.load(vectors), check=False)


def peer(program: str, vectors: str, engine: str):  # type: ignore[no-untyped-def]
    """Read a program and run it in da4ml's interpreter."""
    import numpy as np
    from da4ml._binary import dais_interp_run

    return dais_interp_run(np.fromfile(program, dtype=np.int32), np.load(vectors), 1)


if __name__ == "__main__":
    outputs = {"ours": ours, "peer": peer}[sys.argv[1]](*sys.argv[2:])
    print(hashlib.sha256((outputs + 0.0).tobytes()).hexdigest())  # no -0.0
