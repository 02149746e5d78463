"""Run pytest with the plugin, in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["run_pytest"]


ROOT = Path(__file__).parents[2]


def run_pytest(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run pytest in ``folder``, with our plugin and xdist only."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "dais_verif.pytest_plugin",
        "-p",
        "xdist",
        "-p",
        "no:cacheprovider",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    return subprocess.run(
        [*command, *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True, timeout=200
    )
