"""Fake jobs that do what the text of their program says, and ``dais-verif`` with such jobs in place of ``sim``.

``python -m support.fake_jobs regress ...`` runs the real command with all its processes; only the work of a job is
faked, so it needs no simulator and takes less than a second.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import psutil

from dais_verif.base.verdict import Verdict
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.simulation import Failed, SimulationRecord, SimulatorResult

__all__ = ["ENTRY", "MARK", "marked", "run"]

ENTRY = "support.fake_jobs:run"

#: An environment variable by which all processes of a test are found, whatever their session or process group.
MARK = "DAIS_VERIF_TEST_MARK"


def run(arguments: list[str]) -> None:
    """Run the fake job that ``regress`` asks for."""
    (asked,) = json.loads(arguments[1])
    program, folder, seed = Path(asked["program"]), Path(asked["output"]), asked["seed"]
    try:
        words = program.read_text().split()
    except OSError as error:
        end(folder, Failed(Verdict.INVALID_INPUT, f"cannot read {str(program)!r}: {error.strerror}"))
    what, number = words[0], float(words[1]) if len(words) > 1 else 0.0
    if what == "slow":
        time.sleep(number)
    if what == "hang":
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        time.sleep(1000)
    if what == "leave":
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
    if what == "evil":  # parents: reaper, fork server, and above it the cluster worker that this kills
        chain = psutil.Process().parents()
        chain[2].kill()
        time.sleep(1000)
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "raise":
        raise RuntimeError("a bug of ours")
    if what == "lie":
        raise SystemExit(0)
    if what == "broken":
        print(Failed(Verdict.INVALID_INPUT, "no program").to_json())
        raise SystemExit(2)
    verdict = Verdict.PASS
    if what == "fail":
        verdict = Verdict.RTL_MISMATCH
    if what == "flaky":  # fails ``number`` times, then passes
        counter = program.with_suffix(".count")
        before = int(counter.read_text()) if counter.exists() else 0
        counter.write_text(str(before + 1))
        verdict = Verdict.RTL_MISMATCH if before < number else verdict
    info = ProgramInfo(str(program), "00", None, "v1", False, 1, 1, 1)
    bits = 0 if what == "nothing" else 8
    simulators = [SimulatorResult("icarus", "11", 1, bits, int(verdict is not Verdict.PASS))]
    end(
        folder,
        SimulationRecord(
            verdict=verdict,
            message=f"it says {what}",
            program=info,
            seed=seed,
            vectors=1,
            reproduce="dais-verif sim",
            rtl=RtlFacts(),
            tools={},
            simulators=simulators,
        ),
    )


def end(folder: Path, record: SimulationRecord | Failed) -> NoReturn:
    """End the job as ``sim`` ends: write and print its record, then exit."""
    if isinstance(record, SimulationRecord):
        (folder / "result.json").write_text(record.to_json())
    print(record.to_json())
    raise SystemExit(record.verdict.exit_code)


def marked(mark: str) -> list[str]:
    """Return the command lines of the live processes that the test with ``mark`` has started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            if f"{MARK}={mark}".encode() in environment and "\nState:\tZ" not in (process / "status").read_text():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def patch() -> None:
    """Make all executors start fake jobs from now on."""
    from dais_verif.campaigns.regression import cluster, executors

    executors.Local = functools.partial(executors.Local, entry=ENTRY, preload=())  # type: ignore[assignment,misc]
    cluster.Cluster = functools.partial(cluster.Cluster, entry=ENTRY, preload=())  # type: ignore[assignment,misc]


if __name__ == "__main__":
    from dais_verif.doors.cli.main import main

    patch()
    main(sys.argv[1:])
