"""Paths of the programs that tests read."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["ALIR", "CORPUS", "FSM", "HPVM", "LARGE"]

#: Real programs with their exact outputs; ``corpus/README.md`` says what each is.
CORPUS = Path(os.environ.get("DAIS_CORPUS") or Path(__file__).parents[1] / "corpus")
#: Real ALIR models with their exact outputs, older versions in ``legacy``; ``alir/README.md`` says what each is.
ALIR = Path(__file__).parents[1] / "alir"
#: Real machines with their exact traces; ``fsm/README.md`` says what each is.
FSM = Path(__file__).parents[1] / "fsm"
#: Real approximation configurations and exact convolutions; ``hpvm/README.md`` says what each is.
HPVM = Path(__file__).parents[1] / "hpvm"
#: Programs of tens of thousands of ops.
LARGE = Path(os.environ.get("DAIS_LARGE") or Path(__file__).parents[1] / "large")
