"""``mypy --strict`` knows the types of the package in a user's script, also in an editable installation."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

_SCRIPT = """\
import dais_verif

result = dais_verif.simulate("prog.bin", rtl=["model.v"], simulators=["icarus"], vectors=10, seed=1)
if result.first_mismatch is not None:
    print(result.first_mismatch.op, result.simulators["icarus"].vectors)
reveal_type(result.passed)
reveal_type(dais_verif.emit(b"").verilog)
"""


def mypy(folder: Path, text: str) -> tuple[int, str]:
    (folder / "script.py").write_text(text)
    ours = {"MYPYPATH", "PYTHONPATH"}
    surroundings = {name: value for name, value in os.environ.items() if name not in ours}
    command = [sys.executable, "-m", "mypy", "--strict", "script.py"]
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout


def test_checkers_are_told_of_the_types() -> None:
    assert (resources.files("dais_verif") / "py.typed").is_file()


@pytest.mark.slow
def test_a_users_script_is_checked(tmp_path: Path) -> None:
    code, told = mypy(tmp_path, _SCRIPT)
    assert code == 0, f"{told}if mypy cannot find the package, install it anew: make setup-test"
    plain = told.replace("builtins.", "")  # older versions of mypy name the module
    assert 'Revealed type is "bool"' in plain and 'Revealed type is "str"' in plain
    code, told = mypy(tmp_path, _SCRIPT.replace("vectors=10,", 'vectors="10",'))
    assert code == 1 and 'incompatible type "str"; expected "int"' in told
