"""Support for users' cocotb benches: a reference model, a scoreboard, and vectors.

``DaisModel`` computes the expected outputs; ``Scoreboard`` watches a design and compares every output bit;
``generate_vectors``, ``exhaustive_vectors`` and ``read_vectors`` return vectors to drive, as async iterables. See
docs/python.md. No other part of dais_verif needs this package.
"""

from __future__ import annotations

try:
    import cocotb  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("dais_verif.cocotb needs cocotb: pip install 'dais-verif[sim]'", name=error.name) from None

from dais_verif.cocotb.model import DaisModel
from dais_verif.cocotb.port_rows import FixedPointVector
from dais_verif.cocotb.scoreboard import Scoreboard, ScoreboardError
from dais_verif.cocotb.vectors import VectorStream, exhaustive_vectors, generate_vectors, read_vectors

__all__ = [
    # expected outputs
    "DaisModel",
    "FixedPointVector",
    # observed outputs
    "Scoreboard",
    "ScoreboardError",
    # inputs
    "VectorStream",
    "exhaustive_vectors",
    "generate_vectors",
    "read_vectors",
]
