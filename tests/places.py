"""Where tests find what is no part of the project."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["CORPUS"]

#: Real programs with known outputs; may be absent.
CORPUS = Path(os.environ.get("DAIS_CORPUS") or Path(__file__).parents[2] / "shared" / "corpus")
