"""Run ``dais-verif sim`` by its command line, in this process or in another: arguments in, exit code and record out."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program, write_binary
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.json_writers import alir_json

__all__ = ["Run", "command", "environment", "mutant", "run_sim", "save"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    """The result of a run. ``record`` is the record that ``--json`` printed, ``folder`` the folder given to ``-o``."""

    exit_code: int
    record: dict[str, Any]
    stderr: str
    folder: Path

    @property
    def ending(self) -> tuple[str, int]:
        """Return the verdict and the exit code."""
        return self.record["verdict"], self.exit_code

    @property
    def blame(self) -> dict[str, Any]:
        """Return the blame of the first mismatch."""
        blame: dict[str, Any] = self.record["first_mismatch"]["blame"]
        return blame


def save(program: Program, folder: Path, layout: str = "v1") -> Path:
    """Write ``program`` into ``folder``, as ALIR if it has ALIR ops; return the path of the file."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(op.spec.alir for op in program.ops):  # no binary layout holds these
        path = folder / "prog.json"
        path.write_bytes(alir_json(to_alir(program)))
        return path
    path = folder / "prog.bin"
    path.write_bytes(write_binary(program, layout))
    return path


def run_sim(program: Program, folder: Path, *options: object, rtl: str | None = None, simulator: str = "icarus") -> Run:
    """Run ``sim`` on ``program`` in ``folder``, with the Verilog text ``rtl`` if it is given.

    Only the vectors that ``options`` request are run: there is no exhaustive pass unless they have ``--exhaustive...``,
    and there are no vectors for conditions unless they have ``--conditions``.
    """
    path, out = save(program, folder), folder / "out"
    arguments = ["sim", str(path), "--sim", simulator, "-o", str(out), "--json", *map(str, options)]
    if not any(str(option).startswith("--exhaustive") for option in options):
        arguments += ["--exhaustive-bits", "0"]
    if "--conditions" not in options:
        arguments += ["--no-conditions"]
    if rtl is not None:
        (folder / "design.v").write_text(rtl)
        arguments += ["--rtl", str(folder / "design.v")]
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = main._run(arguments)
    return Run(code, json.loads(stdout.getvalue()), stderr.getvalue(), out)


def mutant(program: Program, line: str, old: str, new: str) -> str:
    """Return our Verilog of ``program`` with ``old`` replaced by ``new`` in the one line that begins with ``line``."""
    lines = emit_verilog(program).split("\n")
    found = [number for number, text in enumerate(lines) if text.strip().startswith(line)]
    assert len(found) == 1, f"{len(found)} lines begin with {line!r}: choose another bug, the emitter has changed"
    code, slashes, comment = lines[found[0]].partition("  //")
    assert code.count(old) == 1, f"{old!r} is not once in {code!r}: choose another bug, the emitter has changed"
    lines[found[0]] = code.replace(old, new) + slashes + comment
    return "\n".join(lines)


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    # The ``python`` of a reproduce line is found on PATH, as in a user's shell.
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PYTHONPATH": path, "PATH": programs, **more}


def command(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``dais-verif`` in a separate process; ``more`` are environment variables."""
    return subprocess.run(
        [sys.executable, "-m", "dais_verif", *map(str, arguments)],
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
