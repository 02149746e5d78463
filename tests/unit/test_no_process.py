"""The guard of this folder."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def test_a_unit_test_cannot_start_a_process() -> None:
    for start in (lambda: subprocess.run([sys.executable, "-c", ""], check=True), lambda: os.system("true"), os.fork):
        with pytest.raises(RuntimeError, match="tests/process"):
            start()
