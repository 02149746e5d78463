"""``dais-verif prove`` through the public door, in process: arguments in, exit code and tree out."""

from __future__ import annotations

import io
import json
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from support.door import mutant, save

from dais_verif.cli import main
from dais_verif.program import Program
from dais_verif.simulation import verify

__all__ = ["Run", "mutant", "run_prove"]


@dataclass(frozen=True)
class Run:
    """How a run ended. ``tree`` is what ``--json`` printed."""

    exit_code: int
    tree: dict[str, Any]
    stderr: str

    @property
    def ending(self) -> tuple[str, int]:
        """Verdict and exit code."""
        return self.tree["verdict"], self.exit_code

    def statuses(self, kind: str) -> dict[int, str]:
        """What became of each op or output."""
        return {claim[kind]: claim["status"] for claim in self.tree[f"{kind}s"]}

    @property
    def refuted(self) -> list[int]:
        """The ops that are refuted."""
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
    """Prove the Verilog text ``rtl``, or our own; ``folder`` receives everything.

    ``confirm``: also simulate what is proved; what is tested is mostly the prover alone. ``diagnose``: simulate a
    counterexample, which a simulator has confirmed, once more, to name the op and leave waves.
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
    """Stand for ``replay_in_simulators``: the mismatch as it is."""
    return given[4], {}
