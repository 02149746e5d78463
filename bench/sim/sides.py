"""Both sides of the benchmark: each is a whole process, from a program in a file to a verdict.

A run is a dictionary: ``wall``, ``cpu`` (seconds), ``peak`` (bytes), ``ending`` (``DONE``, ``LATE``, or the error),
``stages`` (seconds), and further facts of the side.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench.sim import peer
from bench.sim.subjects import ROOT, Subject
from bench.sim.timing import Timed, timed

__all__ = ["DONE", "LATE", "Ours", "Peer", "Run"]

Run = dict[str, Any]

DONE, LATE = "done", "not finished"

#: Keys of a run that describe a simulator, and their names in the record; for two simulators, each key is followed by
#: the name of the simulator.
_KEPT = {"version": "version", "build": "build_seconds", "run": "run_seconds"}


@dataclass(frozen=True)
class Ours:
    """``dais-verif sim``. ``cache``: the folder of its runtime library and its builds."""

    cache: Path
    limit: float

    def prepare(self) -> None:
        """Build the runtime library, which is built once per machine."""
        command = self._command(ROOT / "examples" / "quantised_mac.bin", "verilator", 10)
        done = self._timed(command)
        if done.code != 0:
            raise click.ClickException(f"dais-verif sim does not pass its own example: {done.last_words}")

    def forget(self) -> None:
        """Delete all builds, so that every design is new."""
        shutil.rmtree(self.cache / "builds", ignore_errors=True)

    def run(self, subject: Subject, simulator: str, vectors: int) -> Run:
        """Return a run, done only if it passed and compared every vector; ``simulator`` may be ``both``."""
        done = self._timed(self._command(subject.binary, simulator, vectors))
        run = _run(done)
        if run["ending"] == LATE:
            return run
        try:
            record = json.loads(done.stdout)
        except json.JSONDecodeError:
            return {**run, "ending": done.last_words}
        compared = [found["vectors_compared"] for found in record["simulators"]]
        if record["verdict"] != "PASS":
            run["ending"] = f"{record['verdict']}: {record['message']}"
        elif compared != [vectors] * (2 if simulator == "both" else 1):
            run["ending"] = f"compared {compared} of {vectors} vectors"
        else:
            run["ending"] = DONE
            for found in record["simulators"]:
                suffix = f" {found['name']}" if simulator == "both" else ""
                run |= {f"{key}{suffix}": found[value] for key, value in _KEPT.items()}
        return {**run, "stages": _stages(record.get("profile") or [])}

    def _command(self, program: Path, simulator: str, vectors: int) -> list[str]:
        # Neither side has an exhaustive pass: only the requested vectors are run.
        options = [
            "--sim",
            simulator,
            "--vectors",
            str(vectors),
            "--exhaustive-bits",
            "0",
            "--json",
            *_profile_option(),
        ]
        return [sys.executable, "-m", "dais_verif", "sim", str(program), *options]

    def _timed(self, command: list[str]) -> Timed:
        environment = {**os.environ, "DAIS_VERIF_CACHE": str(self.cache)}
        return timed(command, env=environment, cwd=ROOT, limit=self.limit)


@functools.cache
def _profile_option() -> tuple[str, ...]:
    """Return the option ``--profile``, if ``sim`` has it."""
    command = [sys.executable, "-m", "dais_verif", "sim", "--help"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return ("--profile",) if "--profile" in text else ()


@dataclass(frozen=True)
class Peer:
    """da4ml's ``VerilogModel``, and its interpreter as the reference."""

    limit: float

    def run(self, subject: Subject, vectors: int) -> Run:
        """Return a run, which has no cache. ``different``: the rows in which da4ml's two models disagree."""
        with tempfile.TemporaryDirectory(prefix="bench-sim-") as folder:
            rows = Path(folder) / "inputs.npy"
            np.save(rows, subject.vectors(vectors))
            command = [sys.executable, "-m", "bench.sim.peer", str(subject.json), str(rows), f"{folder}/model"]
            environment: Mapping[str, str] = peer.environment()
            done = timed(command, env=environment, cwd=ROOT, limit=self.limit)
        run = _run(done)
        if run["ending"] == LATE:
            return run
        if done.code != 0:
            return {**run, "ending": done.last_words}
        return {**run, "ending": DONE, **json.loads(done.stdout)}


def _stages(profile: list[dict[str, Any]]) -> dict[str, float]:
    """Return the seconds in which each stage was at work; stages overlap, and a stage may have several parts."""
    seconds: dict[str, float] = {}
    for stage in profile:
        seconds[stage["name"]] = seconds.get(stage["name"], 0.0) + stage["busy"]
    return seconds


def _run(done: Timed) -> Run:
    ending = LATE if done.code is None else DONE
    return {"wall": done.wall, "cpu": done.cpu, "peak": done.peak, "ending": ending, "stages": {}}
