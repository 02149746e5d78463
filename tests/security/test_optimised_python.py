"""No verdict depends on PYTHONOPTIMIZE in the environment, which removes every ``assert``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


def dais(*words: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONOPTIMIZE": "2"}
    command = [sys.executable, "-m", "dais_verif", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_wrong_rtl_is_a_mismatch_without_asserts_too(tmp_path: Path) -> None:
    made = dais("emit", EXAMPLE)
    assert made.stdout.count("5'sd10") == 1
    wrong = tmp_path / "wrong.v"
    wrong.write_text(made.stdout.replace("5'sd10", "5'sd9"), encoding="utf-8")
    done = dais("sim", EXAMPLE, "--rtl", wrong, "--sim", "icarus", "--vectors", "20", "-o", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    assert "RTL_MISMATCH" in done.stdout
