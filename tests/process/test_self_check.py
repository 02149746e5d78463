"""The check at the end of ``make setup``: it passes here, and fails where a fault is not found or right RTL fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

REAL = f'exec {sys.executable} -m dais_verif "$@"'
COMMANDS = {
    "the real one": (REAL, 0, "a seeded fault is found"),
    "finds no fault": (f'[ "$1" = sim ] && exit 0; {REAL}', 3, "with a seeded fault must be"),
    "finds a fault everywhere": (f'[ "$1" = sim ] && exit 1; {REAL}', 3, "must pass, but"),
    "crashes": ("exit 70", 3, "emit fails"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_installation_is_checked(name: str, tmp_path: Path) -> None:
    text, code, said = COMMANDS[name]
    command = tmp_path / "dais-verif"
    command.write_text(f"#!/bin/sh\n{text}\n")
    command.chmod(0o755)
    environment = {**os.environ, "DAIS_VERIF": str(command), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "tools/self_check.sh"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code and said in done.stdout + done.stderr
