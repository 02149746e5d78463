"""Verbs start without slow modules that they do not use; CONTRIBUTING.md says what each module costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "quantised_mac.bin")
#: Modules that none of the verbs below needs.
SLOW = ["pyslang", "bitwuzla", "pysat", "jinja2", "filelock", "cocotb", "pytest", "onnx", "psutil", "serial"]
SLOW += [f"dais_verif.{name}" for name in ("prover", "coverage", "networks", "report.html", "program.assembler")]
CODE = """
import sys
from contextlib import redirect_stdout
from io import StringIO
from dais_verif.cli import main
words, slow = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
with redirect_stdout(StringIO()):
    code = main._run(words)
print(code, *(name for name in slow if name in sys.modules))
"""


def loaded(*words: str) -> str:
    """Return the exit code of ``dais-verif`` with ``words``, and the slow modules that it loaded."""
    command = [sys.executable, "-c", CODE, *words, "--", *SLOW]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@pytest.mark.parametrize("verb", ["check", "emit", "explain"])
def test_a_verb_loads_nothing_slow(verb: str) -> None:
    assert loaded(verb, EXAMPLE) == "0"


def test_a_recalled_proof_loads_no_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path))
    first, again = loaded("prove", EXAMPLE), loaded("prove", EXAMPLE)
    assert {"bitwuzla", "dais_verif.prover"} <= set(first.split()), "a module that is loaded is seen"
    assert again.split()[0] == "0" and not {"pyslang", "bitwuzla", "pysat", "jinja2"} & set(again.split())
