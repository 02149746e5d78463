"""Verbs start without slow modules that they do not use; CONTRIBUTING.md says what each module costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "quantised_mac.bin")
#: Modules that none of the verbs below needs.
SLOW = ["pyslang", "bitwuzla", "pysat", "jinja2", "filelock", "cocotb", "pytest", "onnx", "psutil", "serial"]
SLOW += [
    f"dais_verif.{name}" for name in ("prover", "coverage", "compile.networks", "report.html", "spec.program.assembler")
]
#: Modules that verbs on a program alone do not need.
OF_DESIGNS = (
    "hardware.emitter",
    "compile.kernels",
    "simulation.simulators",
    "hardware.bitstream.unpack",
    "hardware.synthesis.netlist",
    "golden.vm",
)
OF_DESIGNS += (
    "subject.run_inputs",
    "base.toolchain.tools",
    "verbs.design_rtl",
    "verbs.machines.evaluate",
    "verbs.machines.check",
)
SLOW += [f"dais_verif.{name}" for name in OF_DESIGNS]
CODE = """
import sys
from contextlib import redirect_stdout
from io import StringIO
from dais_verif.doors.cli import main
words, slow = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
with redirect_stdout(StringIO()):
    code = main._run(words)
print(code, *(name for name in slow if name in sys.modules))
"""


def loaded(*words: str) -> str:
    """Return the exit code of ``dais-verif`` with ``words``, and the slow modules that it loaded."""
    command = [sys.executable, "-c", CODE, *words, "--", *SLOW]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("verb", ["check", "show", "run"])
def test_a_verb_on_a_program_alone_loads_nothing_slow(verb: str, tmp_path: Path) -> None:
    inputs = tmp_path / "x.csv"
    inputs.write_text("0,0,0\n")
    assert loaded(verb, EXAMPLE, *(["--inputs", str(inputs)] if verb == "run" else [])) == "0"


@pytest.mark.parametrize("verb", ["emit", "explain"])
def test_a_verb_loads_nothing_slow_except_what_it_uses(verb: str) -> None:
    code, *found = loaded(verb, EXAMPLE).split()
    assert code == "0" and not {name.removeprefix("dais_verif.") for name in found} - set(OF_DESIGNS)


def test_a_recalled_proof_loads_no_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path))
    first, again = loaded("prove", EXAMPLE), loaded("prove", EXAMPLE)
    assert {"bitwuzla", "dais_verif.prover"} <= set(first.split()), "a module that is loaded is seen"
    assert again.split()[0] == "0" and not {"pyslang", "bitwuzla", "pysat", "jinja2"} & set(again.split())
