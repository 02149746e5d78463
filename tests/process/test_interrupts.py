"""Ctrl-C and SIGTERM end the work of the main thread, but never in the middle of an import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.door import environment

#: A module that interrupts its own process while it is imported.
MODULE = """\
import os, signal, time
os.kill(os.getpid(), signal.{name})
for _ in range(1000):
    time.sleep(0.0001)
DONE = True
"""

MAIN = """\
import signal, sys, threading, time
from dais_verif.base.streams import take_interrupts
{before}
take_interrupts(signal.SIGINT, signal.SIGTERM)
try:
    import interrupted
    assert interrupted.DONE
    time.sleep({rest})
    print("nothing came")
except KeyboardInterrupt:
    module = sys.modules.get("interrupted")
    print("interrupted", getattr(module, "DONE", False))
thread = threading.Thread(target=__import__, args=("colorsys",), daemon=True)
thread.start()
thread.join(20)
print("stuck" if thread.is_alive() else "others can import")
"""


def run(folder: Path, name: str, before: str = "", rest: float = 20) -> list[str]:
    (folder / "interrupted.py").write_text(MODULE.format(name=name))
    done = subprocess.run(
        [sys.executable, "-c", MAIN.format(before=before, rest=rest)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_import_is_finished_first(name: str, tmp_path: Path) -> None:
    assert run(tmp_path, name) == ["interrupted True", "others can import"]


def test_pythons_own_handler_breaks_it(tmp_path: Path) -> None:
    """The test above can fail: with Python's own handler, the import is interrupted."""
    before = "signal.signal(signal.SIGTERM, signal.default_int_handler); take_interrupts = lambda *numbers: None"
    assert run(tmp_path, "SIGTERM", before)[0] == "interrupted False"


def test_what_is_ignored_stays_so(tmp_path: Path) -> None:
    before = "signal.signal(signal.SIGINT, signal.SIG_IGN)"
    assert run(tmp_path, "SIGINT", before, rest=0.2)[0] == "nothing came"


def test_a_command_that_ends_at_once_has_said_everything(tmp_path: Path) -> None:
    """All output arrives, although it exceeds a pipe's buffer and the reader is slow.

    The exit code is that of the verdict.
    """
    (tmp_path / "long.dais").write_text(
        "input 0\n%0 = s8.0 input 0\n" + "".join(f"%{n} = s8.0 quant(%0)\n" for n in range(1, 4000)) + "output 0 = %0\n"
    )
    command = f"{sys.executable} -m dais_verif show long.dais | (sleep 1; cat) > out; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.stdout == "0\n"
    text = (tmp_path / "out").read_text()
    assert len(text) > 1 << 16 and "%3999" in text and text.rstrip().endswith("; s8.0")
    done = subprocess.run([sys.executable, "-m", "dais_verif", "show", "no.dais"], cwd=tmp_path, env=environment())
    assert done.returncode == 2
