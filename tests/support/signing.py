"""Run ``signoff`` and ``verify-cert`` by their command line, with a small design, policies and forged certificates."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.signoff.certificate import CERTIFICATE, _canonical, _hash_of
from dais_verif.spec.machine import parse_machine
from dais_verif.spec.program import Program, write_binary

__all__ = ["DESIGN", "MACHINE", "Ending", "forge", "machine_project", "project", "sign", "verify"]

#: A small program with two outputs of three inputs and no constants.
DESIGN = Program.build(
    [
        (-1, 0, -1, 0, (1, 3, 0)),
        (-1, 1, -1, 0, (1, 3, 0)),
        (-1, 2, -1, 0, (0, 3, 1)),
        (0, 0, 1, 0, (1, 4, 0)),
        (7, 0, 2, 0, (1, 6, 1)),
        (1, 3, 4, 0, (1, 7, 1)),
    ],
    [(3, 0, 0), (5, 0, 1)],
    inp_shift=[0, 0, 0],
)

#: A counter that can be held and reset, and a register whose value is unknown until it is loaded.
MACHINE = """machine
input rst, en, load: u1.0
input x: s4.1
output y: u3.0
output z: s4.1
output sum: s6.1
register n: u3.0 = 2 reset rst
register held: s4.1
block step {
    input n, x
    a = u3.0 input n
    b = s4.1 input x
    c = u4.0 a + 1
    d = u3.0 quant(c)
    e = s6.1 a + b
    output next = d
    output sum = e
}
step.n <- n
step.x <- x
n <- step.next when en
held <- x when load
y <- n
z <- held
sum <- step.sum
"""

#: A policy for quick runs: one simulator, no proof, a few vectors.
QUICK = 'simulators = ["icarus"]\nvectors = 300\ndistinct = 100\nexhaustive_bits = 0\nproof = "off"\n'
GIVEN = '[rtl]\nfiles = ["design.v"]\n'


@dataclass(frozen=True)
class Ending:
    """The result of a command: its exit code, the record that ``--json`` printed, and stderr."""

    exit_code: int
    tree: dict[str, Any]
    stderr: str

    @property
    def verdict(self) -> str:
        """Return the verdict, as text."""
        return str(self.tree["verdict"])

    def stage(self, name: str) -> dict[str, Any]:
        """Return one stage of a sign-off."""
        found: dict[str, Any] = next(stage for stage in self.tree["stages"] if stage["name"] == name)
        return found

    @property
    def findings(self) -> list[str]:
        """Return the findings against a certificate, one line each."""
        return [" ".join(finding.values()) for finding in self.tree["findings"]]


def project(folder: Path, policy: str, rtl: str | None = None, program: Program = DESIGN) -> Path:
    """Write a program, its RTL and a policy into ``folder``, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prog.bin").write_bytes(write_binary(program, "v1"))
    (folder / "design.v").write_text(emit_verilog(program) if rtl is None else rtl)
    (folder / "policy.toml").write_text(policy)
    return folder


def machine_project(folder: Path, policy: str, text: str, rtl: str | None = None) -> Path:
    """Write the machine ``text``, its RTL and a policy into ``folder``, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prog.mach").write_text(text)
    (folder / "design.v").write_text(emit_machine(parse_machine(text.encode()), "model") if rtl is None else rtl)
    (folder / "policy.toml").write_text(policy)
    return folder


def sign(folder: Path, *options: object, program: Path | None = None) -> Ending:
    """Sign off the project in ``folder``, or ``program``, into ``folder / "out"``."""
    policy = [] if "--policy" in options else ["--policy", folder / "policy.toml"]
    if program is None:
        program = next(folder / name for name in ("prog.mach", "prog.bin") if (folder / name).exists())
    return _end("signoff", program, *policy, "-o", folder / "out", "--jobs", 2, *options)


def verify(folder: Path, *options: object) -> Ending:
    """Check the certificate of the project in ``folder``."""
    return _end("signoff", "--verify", folder / "out", *options)


def _end(*arguments: object) -> Ending:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = main._run([*map(str, arguments), "--json"])
    return Ending(code, json.loads(stdout.getvalue()), stderr.getvalue())


def forge(folder: Path, edit: Callable[[dict[str, Any]], object] | None = None) -> None:
    """Change the certificate of ``folder`` by ``edit``, and update all its hashes to the files that are there now."""
    out = folder / "out"
    tree = json.loads((out / CERTIFICATE).read_bytes())
    names = [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()]
    hashes = {
        name: hashlib.sha256((out / name).read_bytes()).hexdigest()
        for name in names
        if not name.startswith((CERTIFICATE, ".lock"))
    }
    tree["evidence"] = {name: sha256 for name, sha256 in hashes.items() if name.startswith("evidence/")}
    tree["logs"] = {name: sha256 for name, sha256 in hashes.items() if not name.startswith("evidence/")}
    if edit is not None:
        edit(tree)
    tree["self"] = _hash_of(tree)
    (out / CERTIFICATE).write_bytes(_canonical(tree))
