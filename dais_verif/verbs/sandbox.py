"""Confine all tools that this process starts."""

from __future__ import annotations

import os
from pathlib import Path

from dais_verif.base.toolchain.sandbox import SANDBOX, confined

__all__ = ["confine_tools"]


def confine_tools() -> None:
    """Start every tool in bubblewrap from now on. Raises ``ToolError`` at once if bubblewrap is missing."""
    os.environ[SANDBOX] = "1"
    confined([], Path())
