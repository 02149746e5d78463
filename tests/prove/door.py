"""Run ``dais-verif prove`` in process, through the command line: arguments in, exit code and JSON record out."""

from __future__ import annotations

import io
import json
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from support.door import mutant, save

from dais_verif.doors.cli import main
from dais_verif.simulation import verify
from dais_verif.spec.program import Program

__all__ = ["Run", "mutant", "run_prove"]


@dataclass(frozen=True)
class Run:
    """The result of a run; ``tree`` is the parsed output of ``--json``."""

    exit_code: int
    tree: dict[str, Any]
    stderr: str

    @property
    def ending(self) -> tuple[str, int]:
        """Return the verdict and the exit code."""
        return self.tree["verdict"], self.exit_code

    def statuses(self, kind: str) -> dict[int, str]:
        """Return the status of each op or output, by its number; ``kind`` is ``op`` or ``output``."""
        return {claim[kind]: claim["status"] for claim in self.tree[f"{kind}s"]}

    @property
    def refuted(self) -> list[int]:
        """Return the ops that are refuted."""
        return [op for op, status in self.statuses("op").items() if status == "REFUTED"]


def run_prove(
    program: Program | Path,
    folder: Path,
    *options: object,
    rtl: str | None = None,
    cache: bool = False,
    confirm: bool = False,
    diagnose: bool = False,
) -> Run:
    """Prove the Verilog text ``rtl``, or else our own RTL of ``program``; all files go into ``folder``.

    ``confirm``: also simulate what is proved; off by default, since most tests are about the prover alone.
    ``diagnose``: after a simulator has confirmed a counterexample, simulate it again, to name the wrong op and record
    waves.
    """
    path = program if isinstance(program, Path) else save(program, folder)
    folder.mkdir(parents=True, exist_ok=True)
    arguments = ["prove", str(path), "--json", "--jobs", "1", *map(str, options)]
    if not cache:
        arguments.append("--no-cache")
    if not confirm:
        arguments.append("--no-confirm")
    if rtl is not None:
        (folder / "design.v").write_text(rtl)
        arguments += ["--rtl", str(folder / "design.v"), "-o", str(folder / "out")]
    stdout, stderr = io.StringIO(), io.StringIO()
    with ExitStack() as opened:
        opened.enter_context(redirect_stdout(stdout))
        opened.enter_context(redirect_stderr(stderr))
        if not diagnose:
            opened.enter_context(patch.object(verify, "replay_in_simulators", _undiagnosed))
        code = main._run(arguments)
    return Run(code, json.loads(stdout.getvalue()), stderr.getvalue())


def _undiagnosed(*given: Any) -> tuple[Any, dict[str, str]]:
    """Replace ``replay_in_simulators``: return the mismatch unchanged, without a replay."""
    return given[4], {}
