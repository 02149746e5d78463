"""Kill running jobs at random times: no process and no partial file is left, and the next run gives the right answer.

    PYTHONPATH=tests python -m quality.evidence.kills --count 1000

Each row is ten kills (by SIGKILL, so that none of our code can clean up) of one command in one folder, with one cache
that all of them share; an eleventh run must then give the same answer as a run in a clean folder.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from quality.evidence.rows import Row, parser_of, worked
from support.door import mutant
from support.places import CORPUS
from support.programs import every_opcode

from dais_verif.spec.program import write_binary

#: Kills per row.
KILLS = 10
#: Seconds after which a killed job may have no process left; a tool that it started finishes its current file first.
GRACE = 90.0
#: The commands; each writes the file or folder ``out``, which later runs find.
COMMANDS = {
    "sim": "sim prog.bin --vectors 20000 -o out --json",
    "sim of a mutant": "sim prog.bin --rtl bad.v --vectors 2000 -o out --json",
    "prove": "prove prog.bin -o out --json",
    "prove of a mutant": "prove prog.bin --rtl bad.v -o out --json",
    "emit": "emit prog.bin -o out.v",
    "run": "run prog.bin --inputs x.npy -o out.npy",
    "convert": "convert prog.bin out.json",
    "coverage": "coverage prog.bin -o out --json",
    "regress": "regress prog.bin second.bin --sim icarus -o out --json",
    "fuzz": "fuzz --count 30 -o out --json",
    "mutate": "mutate prog.bin --count 8 --vectors 50 --sim icarus -o out --json",
    "hil": "hil prog.bin --target sim://fifo --vectors 20 -o out --json",
}
#: The expected exit codes other than 0.
CODES = {"sim of a mutant": 1, "prove of a mutant": 1}


def main(arguments: list[str] | None = None) -> int:
    """Run from a command line."""
    asked = parser_of(__doc__, "kills", "kills", 1000).parse_args(arguments)
    names = list(COMMANDS)
    keys = [f"{names[n % len(names)]}/{n}" for n in range(-(-asked.count // KILLS))]
    killed = ended = 0
    wrong = []
    for row in worked(asked.output, keys, judge, asked.jobs):
        killed, ended = killed + row["killed"], ended + row["ended"]
        wrong += [f"{row['key']}: {what}" for what in row["wrong"]]
        for what in row["wrong"]:
            print(f"{row['key']}: {what}", flush=True)
    print(f"{killed} jobs killed, {ended} had ended before; {len(wrong)} findings")
    return 1 if wrong or not killed else 0


def judge(key: str) -> Row:
    """Return the findings after ten kills of a command."""
    name = key.partition("/")[0]
    rng = random.Random(key)
    words = COMMANDS[name].split()
    wrong: list[str] = []
    killed = ended = 0
    with tempfile.TemporaryDirectory(prefix="dais-kills-") as text:
        folder = Path(text)
        for place in ("clean", "here"):
            _prepare(folder / place)
        began = time.monotonic()
        right = _run(words, folder / "clean")
        code, seconds = right.wait(), time.monotonic() - began
        if code != CODES.get(name, 0):
            wrong.append(f"exit code {code} where nothing was killed")
        for _ in range(KILLS):
            job = _run(words, folder / "here")
            try:
                job.wait(timeout=rng.uniform(0, seconds))
                ended += 1
            except subprocess.TimeoutExpired:
                os.kill(job.pid, signal.SIGKILL)
                job.wait()
                killed += 1
                wrong += _left(folder / "here")
                wrong += _half(folder / "here", folder / "clean")
        again = _run(words, folder / "here")
        if again.wait() != CODES.get(name, 0):
            wrong.append(f"exit code {again.returncode} behind the kills")
        wrong += _differs(folder / "here", folder / "clean")
        litter = [str(p.relative_to(folder / "here")) for p in _new(folder / "here", folder / "clean")]
        shutil.rmtree(folder / "here")
    return {"killed": killed, "ended": ended, "wrong": wrong, "litter": litter, "seconds": round(seconds, 3)}


def _prepare(folder: Path) -> None:
    program = every_opcode()
    folder.mkdir()
    for name in ("tmp", "cache"):
        (folder / name).mkdir()
    (folder / "prog.bin").write_bytes(write_binary(program, "v1"))
    (folder / "second.bin").write_bytes((CORPUS / "p01_addsub_tiny" / "prog.v1.bin").read_bytes())
    (folder / "bad.v").write_text(mutant(program, "op_4 =", "+", "-"))
    np.save(folder / "x.npy", np.zeros((1000, program.n_in)))


def _run(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "DAIS_VERIF_CACHE": str(folder / "cache")}
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        command = [sys.executable, "-m", "dais_verif", *words]
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=err)


def _left(folder: Path) -> list[str]:
    """Return a finding if processes still run in ``folder`` after ``GRACE`` seconds, and kill them."""
    deadline = time.monotonic() + GRACE
    while found := _processes(folder):
        if time.monotonic() > deadline:
            for pid in found:
                os.kill(pid, signal.SIGKILL)
            return [f"still running after {GRACE:g} s: {sorted(found.values())}"]
        time.sleep(0.02)
    return []


def _processes(folder: Path) -> dict[int, str]:
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(os.readlink(process / "cwd")).startswith(str(folder)):
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(process.name)] = line.decode("latin-1")[:80]
        except OSError:
            continue
    return found


#: Output files that are equal in every run.
_EXACT = ("out.v", "out.npy", "out.json")


def _half(folder: Path, clean: Path) -> list[str]:
    """Return a finding for each output file and record that is neither complete nor missing."""
    wrong = [
        f"{name} is half written"
        for name in _EXACT
        if (folder / name).exists() and (folder / name).read_bytes() != (clean / name).read_bytes()
    ]
    for path in (folder / "out").glob("*.json") if (folder / "out").is_dir() else ():
        try:
            record = json.loads(path.read_text())
        except ValueError:
            wrong.append(f"{path.name} is not valid JSON")
            continue
        right = clean / "out" / path.name
        if "verdict" in record and record["verdict"] == "PASS" and json.loads(right.read_text())["verdict"] != "PASS":
            wrong.append(f"{path.name} says PASS")
    return wrong


def _differs(folder: Path, clean: Path) -> list[str]:
    wrong = [
        f"{name} differs behind the kills"
        for name in _EXACT
        if (clean / name).exists() and (folder / name).read_bytes() != (clean / name).read_bytes()
    ]
    try:
        said, right = (json.loads((place / "stdout").read_text() or "null") for place in (folder, clean))
    except ValueError as error:
        return [*wrong, f"the answer is not valid JSON: {error}"]
    if said is not None and said["verdict"] != right["verdict"]:
        wrong.append(f"the answer differs: {said['verdict']}: {said['message']}")
    return wrong


def _new(folder: Path, clean: Path) -> list[Path]:
    """Return the files that the clean run does not have, except for temporary files and the cache."""
    there = {path.relative_to(clean) for path in clean.rglob("*")}
    found = (path for path in folder.rglob("*") if path.relative_to(folder) not in there)
    return [path for path in found if path.relative_to(folder).parts[0] not in ("tmp", "cache")]


if __name__ == "__main__":
    sys.exit(main())
