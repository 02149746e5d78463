"""Prove the hand-written RTL: ``make prove-rtl``, or ``python tools/prove_rtl.py --help``.

Every proof holds for an unbounded number of clock cycles. It has a base case (no assertion fails in the first cycles
after power-up, from any state of the registers), induction (if no assertion failed for some cycles, none fails in the
next), and covers (situations that must be reachable, so that no proof is vacuous).

Yosys makes the formula, its yosys-smtbmc unrolls it, and z3 solves it. Exit codes: 0 all is proved, 1 something is not,
2 no proof has the given name, 3 a tool is missing or failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

BASE_CLOCKS, INDUCTION_CLOCKS, COVER_CLOCKS = 10, 6, 24
TIMEOUT = 300

#: What yosys-smtbmc says of a cover property, whose name may follow that of its module.
COVER = r"\b{} cover statement (?:in step \d+ )?at (?:\S+: )?(\S+?)(?: in step \d+)?\.?$"


class Proof(NamedTuple):
    """A proof: a module of ``rtl/formal`` with the properties, its parameters, sources and macros."""

    module: str
    parameters: dict[str, int]
    sources: tuple[str, ...]
    defines: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name that is printed and used for files."""
        return "_".join([self.module, *(f"{key}{value}" for key, value in self.parameters.items()), *self.defines])


PROOFS = (
    Proof("skid_proof", {"WIDTH": 4}, ("dais_skid.v",)),
    *(Proof("axis_proof", {"LATENCY": latency}, ("dais_skid.v", "dais_axis.v")) for latency in range(5)),
    *(
        Proof("axis_proof", {"LATENCY": latency}, ("dais_skid.v", "dais_axis.v", "dais_selfcheck.v"), ("SWITCH",))
        for latency in range(2)
    ),
    Proof("deframer_proof", {"BUFFER_BITS": 2}, ("dais_crc32.v", "dais_deframer.v")),
    Proof("bridge_proof", {"OUT_BITS": 9}, ("dais_crc32.v", "dais_deframer.v", "dais_framer.v", "dais_bridge.v")),
)


class Result(NamedTuple):
    """The result of a proof. ``failed``: each step that failed, with its properties; empty if all is proved."""

    proof: Proof
    failed: list[str]
    covers: int
    seconds: float


class ToolFailure(Exception):
    """A tool is missing or failed; the message says which, and what to do."""


def tool(name: str) -> str:
    """Return the path of a tool: next to Python, where wheels are installed, or on PATH."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        raise ToolFailure(f"{name} was not found on PATH; run `make setup-test`")
    return found


def prove(proof: Proof, rtl: Path, folder: Path) -> Result:
    """Do base case, induction and covers of a proof; logs and traces of failures are left in ``folder``."""
    started = time.monotonic()
    formula = translated(proof, rtl, folder)
    failed: list[str] = []
    for step, options in {
        "base": ["-t", str(BASE_CLOCKS)],
        "induction": ["-i", "-t", str(INDUCTION_CLOCKS)],
    }.items():
        found, text = solved(proof, formula, step, options, folder)
        if not found:
            failed.append(f"{step}: {', '.join(named(text))}")
    covers = 0
    if not failed:
        found, text = solved(proof, formula, "cover", ["-c", "-t", str(COVER_CLOCKS)], folder)
        covers = len(set(re.findall(COVER.format("Reached"), text, re.MULTILINE)))
        if found and not covers:
            raise ToolFailure(f"yosys-smtbmc reached no cover property of {proof.name}: its proof may be empty")
        if not found:
            failed.append(f"cover: {', '.join(named(text))}")
    elif failed[0].startswith("base"):
        # Properties of the contract fail some cycles later than those that only make the proof inductive.
        contract = translated(proof, rtl, folder, "CONTRACT_ONLY")
        found, text = solved(proof, contract, "contract", ["-t", str(BASE_CLOCKS + 6)], folder)
        if not found:
            failed.insert(0, f"contract: {', '.join(named(text))}")
    return Result(proof, failed, covers, time.monotonic() - started)


def translated(proof: Proof, rtl: Path, folder: Path, *defines: str) -> str:
    """Let Yosys make the formula, and return the name of its file."""
    name = "_".join([proof.name, *defines])
    # Yosys does not accept quoted file names everywhere: it works on copies next to the formula.
    sources = [*(rtl / source for source in proof.sources), rtl / "formal" / f"{proof.module}.v"]
    for source in sources:
        shutil.copy(source, folder / f"{name}_{source.name}")
    files = " ".join(f"{name}_{source.name}" for source in sources)
    macros = " ".join(f"-D{macro}" for macro in (*proof.defines, *defines))
    values = " ".join(f"-set {key} {value}" for key, value in proof.parameters.items())
    # async2sync: newer versions of Yosys keep checks as $check cells, which write_smt2 would leave out.
    script = (
        f"read_verilog -formal {macros} {files}; chparam {values} {proof.module};"
        f" prep -flatten -top {proof.module}; async2sync; check -assert; write_smt2 -wires {name}.smt2"
    )
    code, text = run([tool("yosys"), "-q", "-p", script], folder)
    if code:
        raise ToolFailure(f"yosys failed on {proof.name}: {' '.join(text.split())[-300:]}")
    if "yosys-smt2-assert" not in (folder / f"{name}.smt2").read_text():
        raise ToolFailure(f"yosys left all assertions out of {name}.smt2: a proof would be empty")
    return f"{name}.smt2"


def solved(proof: Proof, formula: str, step: str, options: Sequence[str], folder: Path) -> tuple[bool, str]:
    """Return whether a step succeeds, and the output of yosys-smtbmc."""
    name = f"{proof.name}_{step}"
    command = [tool("yosys-smtbmc"), "-s", "z3", "--noprogress", *options, "--dump-vcd", f"{name}.vcd", formula]
    code, text = run(command, folder)
    (folder / f"{name}.log").write_text(text)
    status = re.findall(r"Status: (PASSED|FAILED)", text)
    if status != ["FAILED" if code else "PASSED"]:
        raise ToolFailure(f"yosys-smtbmc ended without an answer on {proof.name} ({step}): {text.strip()[-300:]}")
    return not code, text


def named(text: str) -> list[str]:
    """Return the names of the properties that failed; a property in a loop has no name."""
    names = re.findall(r"Assert failed in \S+: (\S+)", text) or re.findall(
        COVER.format("Unreached"), text, re.MULTILINE
    )
    return list(dict.fromkeys(names)) or ["no property named"]


def run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run ``command`` in ``folder``, and return its exit code and output."""
    path = os.pathsep.join(dict.fromkeys([str(Path(tool("z3")).parent), os.environ.get("PATH", "")]))
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolFailure(f"{Path(command[0]).name} took longer than {TIMEOUT} s") from None
    return done.returncode, done.stdout + done.stderr


def main() -> int:
    """Do all proofs, and print their results as a table."""
    parser = argparse.ArgumentParser(description="Prove the hand-written RTL for all time, with Yosys and z3.")
    parser.add_argument("--rtl", type=Path, default=ROOT / "rtl", help="folder with the RTL; default: the project's")
    parser.add_argument("--only", help="only proofs whose name contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="proofs at once")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "prove-rtl", help="logs and traces")
    options = parser.parse_args()
    chosen = [proof for proof in PROOFS if not options.only or options.only in proof.name]
    if not chosen:
        print(f"no proof is called {options.only!r}; there are {', '.join(p.name for p in PROOFS)}", file=sys.stderr)
        return 2
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        with ThreadPoolExecutor(max(options.jobs, 1)) as pool:
            results = list(pool.map(lambda proof: prove(proof, options.rtl, options.output), chosen))
    except (ToolFailure, OSError) as error:
        print(f"prove-rtl: TOOL_FAILURE: {error}", file=sys.stderr)
        return 3
    print(f"{'proof':<27}{'covers':>6}  {'time':>7}  result")
    for result in results:
        verdict = "proved" if not result.failed else f"FAILED {'; '.join(result.failed)}"
        print(f"{result.proof.name:<27}{result.covers:>6}  {result.seconds:>5.1f} s  {verdict}")
    wrong = sum(bool(result.failed) for result in results)
    print(f"{len(results) - wrong} of {len(results)} proved; logs and traces in {options.output}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
