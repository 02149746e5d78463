"""What works without any extra, and what each verb says that needs one; in a process that sees no package of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dais_verif.packages import BASE, EXTRAS, missing_packages

ROOT = Path(__file__).parents[2]
PROGRAM = str(ROOT / "examples" / "quantised_mac.bin")
MACHINE = str(ROOT / "examples" / "serial_dot.mach")

#: Verbs without any extra.
BARE = [
    ["check", PROGRAM],
    ["check", MACHINE],
    ["show", PROGRAM],
    ["run", PROGRAM, "--inputs", "x.csv"],
    ["emit", PROGRAM, "-o", "model.v"],
    ["emit", PROGRAM, "--stages", "2", "-o", "stages.v"],
    ["emit", PROGRAM, "--wrap", "axis", "-o", "axis"],
    ["diff", PROGRAM, PROGRAM],
    ["convert", PROGRAM, "model.json"],
    ["cache"],
]
#: What needs one, and which.
NEEDS = [
    (["sim", PROGRAM], "sim needs the extra [sim]: pip install 'dais-verif[sim]' (no package "),
    (["prove", PROGRAM], "prove needs the extra [prove]: pip install 'dais-verif[prove]' (no package "),
    (["diff", PROGRAM, PROGRAM, "--prove"], "diff, as it was called, needs the extra [prove]: pip install "),
    (["hil", PROGRAM, "--target", "sim://uart"], "hil needs the extra [hil]: pip install 'dais-verif[hil]'"),
    (["report", "out"], "report needs the extra [report]: pip install 'dais-verif[report]'"),
    (["signoff", PROGRAM, "-o", "so"], "signoff needs the extra [signoff]: pip install 'dais-verif[signoff]'"),
    (["verify-cert", "so"], "verify-cert needs the extra [signoff]: pip install 'dais-verif[signoff]'"),
    (["regress", PROGRAM], "regress, as it was called, needs the extra [sim]: pip install 'dais-verif[sim]'"),
    (["check", str(ROOT / "examples" / "digits" / "digits.onnx")], "pip install 'dais-verif[network]'"),
]

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


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    folder = tmp_path_factory.mktemp("bare")
    (folder / "x.csv").write_text("1,2,3\n")
    blocked = sorted({module for packages in EXTRAS.values() for modules in packages.values() for module in modules})
    words = [*BARE, *(words for words, _ in NEEDS)]
    command = [sys.executable, "-c", SCRIPT, json.dumps(blocked), json.dumps(words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    found: list[list[Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("number", range(len(BARE)), ids=[" ".join(words[:1] + words[2:3]) for words in BARE])
def test_without_any_extra(answers: list[list[Any]], number: int) -> None:
    code, err = answers[number]
    assert code == 0, err


@pytest.mark.parametrize("number", range(len(NEEDS)), ids=[words[0] for words, _ in NEEDS])
def test_the_extra_is_named_in_one_line(answers: list[list[Any]], number: int) -> None:
    code, err = answers[len(BARE) + number]
    assert code == 3 and err.count("\n") == 1, err
    assert err.startswith("dais-verif: TOOL_FAILURE: ") and NEEDS[number][1] in err


def test_what_is_there_but_broken_is_not_called_missing() -> None:
    line = missing_packages(ImportError("libz.so: cannot open", name="msgspec"))
    assert line is not None and "cannot be imported" in line and "extra" not in line
    assert BASE.keys().isdisjoint({name for packages in EXTRAS.values() for name in packages})
