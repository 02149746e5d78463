"""What works without any extra, and what each verb says that needs one; in a process that sees no package of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dais_verif.packages import BASE, EXTRAS, missing_packages

ROOT = Path(__file__).parents[2]
PROGRAM = str(ROOT / "examples" / "quantised_mac.bin")
MACHINE = str(ROOT / "examples" / "serial_dot.mach")

SIGN_OFF = "needs the extra [signoff]: pip install 'dais-verif[signoff]'"
#: What each verb says without any extra; empty if it needs none. The first ones are tried always.
SAID: dict[str, tuple[list[str], str]] = {
    "check": (["check", PROGRAM], ""),
    "run": (["run", PROGRAM, "--inputs", "x.csv"], ""),
    "emit": (["emit", PROGRAM, "-o", "model.v"], ""),
    "sim": (["sim", PROGRAM], "sim needs the extra [sim]: pip install 'dais-verif[sim]' (no package "),
    "prove": (["prove", PROGRAM], "prove needs the extra [prove]: pip install 'dais-verif[prove]' (no package "),
    "check-machine": (["check", MACHINE], ""),
    "show": (["show", PROGRAM], ""),
    "emit-stages": (["emit", PROGRAM, "--stages", "2", "-o", "stages.v"], ""),
    "emit-wrap": (["emit", PROGRAM, "--wrap", "axis", "-o", "axis"], ""),
    "diff": (["diff", PROGRAM, PROGRAM], ""),
    "convert": (["convert", PROGRAM, "model.json"], ""),
    "cache": (["cache"], ""),
    "diff-prove": (["diff", PROGRAM, PROGRAM, "--prove"], "diff, as it was called, needs the extra [prove]: pip "),
    "hil": (["hil", PROGRAM, "--target", "sim://uart"], "hil needs the extra [hil]: pip install 'dais-verif[hil]'"),
    "report": (["report", "out"], "report needs the extra [report]: pip install 'dais-verif[report]'"),
    "signoff": (["signoff", PROGRAM, "-o", "so"], f"signoff {SIGN_OFF}"),
    "verify-cert": (["verify-cert", "so"], f"verify-cert {SIGN_OFF}"),
    "regress": (
        ["regress", PROGRAM],
        "regress, as it was called, needs the extra [sim]: pip install 'dais-verif[sim]'",
    ),
    "network": (["check", str(ROOT / "examples" / "digits" / "digits.onnx")], "pip install 'dais-verif[network]'"),
}
FEW = 5

#: Runs verbs where nothing of the extras can be imported; prints their exit codes and what they say.
SCRIPT = """
import contextlib, io, json, sys
blocked = set(json.loads(sys.argv[1]))
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
for name in [name for name in sys.modules if name.partition('.')[0] in blocked]:
    del sys.modules[name]
from dais_verif.cli import main
answers = []
for words in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main._run(words)
    answers.append([code, err.getvalue()])
print(json.dumps(answers))
"""


def said_by(cases: list[tuple[list[str], str]], folder: Path) -> list[tuple[int, str]]:
    """The exit code and the errors of each command, all in one process."""
    (folder / "x.csv").write_text("1,2,3\n")
    blocked = sorted({module for packages in EXTRAS.values() for modules in packages.values() for module in modules})
    command = [sys.executable, "-c", SCRIPT, json.dumps(blocked), json.dumps([words for words, _ in cases])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return [(code, err) for code, err in json.loads(done.stdout)]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(list(SAID)[:FEW], id="few"),
        pytest.param(list(SAID)[FEW:], id="all-others", marks=pytest.mark.slow),
    ],
)
def test_without_any_extra(names: list[str], tmp_path: Path) -> None:
    """Verbs that need none work; of each other one line says which it needs."""
    cases = [SAID[name] for name in names]
    for name, (_, wanted), (code, err) in zip(names, cases, said_by(cases, tmp_path), strict=True):
        if not wanted:
            assert code == 0, (name, err)
        else:
            assert code == 3 and err.count("\n") == 1 and wanted in err, (name, code, err)
            assert err.startswith("dais-verif: TOOL_FAILURE: ")


def test_what_is_there_but_broken_is_not_called_missing() -> None:
    line = missing_packages(ImportError("libz.so: cannot open", name="msgspec"))
    assert line is not None and "cannot be imported" in line and "extra" not in line
    assert BASE.keys().isdisjoint({name for packages in EXTRAS.values() for name in packages})
