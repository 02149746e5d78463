"""``make test-changed`` finds the tests whose imports reach a change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))
from reach import reached

FILES = {
    "dais_verif/__init__.py": "",
    "dais_verif/low.py": "import os\n",
    "dais_verif/high.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dais_verif.doors import api\n"
    "def f():\n    from dais_verif.low import (\n        thing,\n    )\n",
    "dais_verif/doors/api/__init__.py": "",
    "dais_verif/doors/api/functions.py": "from dais_verif.doors.cli import prove\n",
    "dais_verif/doors/cli/__init__.py": "",
    "dais_verif/doors/cli/prove.py": "",
    "tests/support/__init__.py": "",
    "tests/support/door.py": "WORDS = ['prove', 'x']\n",
    "tests/unit/test_low.py": "from dais_verif.high import f\n",
    "tests/unit/test_verb.py": "from support.door import WORDS\n",
    "tests/unit/test_lazy.py": "import dais_verif\ndais_verif.simulate(1)\n",
    "tests/unit/test_data.py": "FILE = 'examples/sum.bin'\n",
    "tests/unit/test_none.py": "import re\n",
    "examples/sum.bin": "0",
    "pyproject.toml": "",
}


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ("dais_verif/low.py", {"low"}),
        ("dais_verif/doors/cli/prove.py", {"verb", "lazy"}),
        ("dais_verif/doors/api/functions.py", {"lazy"}),
        ("tests/support/door.py", {"verb"}),
        ("examples/sum.bin", {"data"}),
        ("pyproject.toml", {"low", "verb", "lazy", "data", "none"}),
    ],
)
def test_what_a_change_reaches(changed: str, found: set[str], tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / changed).write_text(FILES[changed] + "# changed\n")
    tests = sorted(tmp_path.rglob("test_*.py"))
    assert {path.stem.removeprefix("test_") for path in reached(tmp_path, tests, "HEAD")} == found
