"""A run that was interrupted while Python executed text ends with our exit code, not by the signal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.door import environment

#: Python remembers an interrupt that leaves ``exec``, as for each named tuple that is imported, and ends by the signal.
#: So it does where a module is run, as ``python -m``, and nothing ends the process before.
MODULE = """\
import sys
from dais_verif.cli import main
class Interrupted:
    def main(self, *arguments, **options):
        exec("raise KeyboardInterrupt")
main.cli = Interrupted()
sys.argv = ["dais-verif", "check"]
main.main()
"""


def test_the_exit_code_is_ours(tmp_path: Path) -> None:
    assert _run(tmp_path, MODULE).returncode == 130


def test_python_would_end_by_the_signal(tmp_path: Path) -> None:
    assert _run(tmp_path, MODULE.replace("main.main()", "main._leave = lambda: None; main.main()")).returncode < 0


def _run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "interrupted.py").write_text(text)
    command = [sys.executable, "-m", "interrupted"]
    done = subprocess.run(command, env=environment(), cwd=folder, capture_output=True, text=True)
    assert done.stderr.startswith("dais-verif: INTERRUPTED: interrupted")
    return done
