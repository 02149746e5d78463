"""Where tests find programs."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["CORPUS", "LARGE"]

#: Real programs with their exact outputs; ``corpus/README.md`` says what each is.
CORPUS = Path(os.environ.get("DAIS_CORPUS") or Path(__file__).parents[1] / "corpus")
#: Programs of tens of thousands of ops.
LARGE = Path(os.environ.get("DAIS_LARGE") or Path(__file__).parents[1] / "large")
