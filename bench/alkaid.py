"""Run programs in alkaid's interpreter; it takes ALIR, to which DAIS programs are converted."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dais_verif.spec.program import Program
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.json_writers import alir_json

__all__ = ["interpreter"]


def interpreter(program: Program) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return a function that runs ``program`` in alkaid's C++ interpreter on one thread.

    It takes inputs (rows, n_in) and returns outputs (rows, n_out). The bytecode is made only once, here. Raises
    alkaid's exception if alkaid cannot run the program.
    """
    from alkaid._binary import alir_interp_run
    from alkaid.types import CombLogic

    code = CombLogic.from_dict(json.loads(alir_json(to_alir(program)))).to_bytecode()
    return lambda x: np.asarray(alir_interp_run(code, x, 1))
