"""The loop that never returns to Python: ``native/design.cpp``, which every Verilator simulation holds.

For use inside the simulator's process only. Calls run without Python's lock, so threads run at once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from dais_verif.sim.packing import Words, row_words

__all__ = ["evaluator"]


@contextmanager
def evaluator(output_bits: int) -> Iterator[Callable[[Words], Words]]:
    """An instance of the design, as a function from packed inputs to packed outputs. For one thread at a time."""
    library = ctypes.CDLL(None)
    library.dais_verif_open.restype = ctypes.c_void_p
    library.dais_verif_close.argtypes = [ctypes.c_void_p]
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    library.dais_verif_evaluate.argtypes = [pointer, pointer, size, pointer, size, size]
    library.dais_verif_evaluate.restype = None
    instance = library.dais_verif_open()

    def evaluate(inputs: Words) -> Words:
        inputs = np.ascontiguousarray(inputs)
        found = np.zeros((len(inputs), row_words(output_bits)), dtype="<u8")
        library.dais_verif_evaluate(
            instance, inputs.ctypes.data, inputs.shape[1], found.ctypes.data, found.shape[1], len(inputs)
        )
        return found

    try:
        yield evaluate
    finally:
        library.dais_verif_close(instance)
