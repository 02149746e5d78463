"""Prove third-party RTL modules: ``make others-rtl``, or ``python -m others.campaign --help``.

No third-party file is kept in this project: the repositories are fetched into ``build/others``, or found in a folder
that ``--from`` names. Each module is proved against a specification of ours, then with faults seeded in copies, each
of which must be refuted. The modules are read as text: nothing is compiled or run. Exit codes: 0 if nothing is wrong;
1 if a module is wrong or refused, or a fault passed; 3 if a repository is not available.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from others.cases import Case, cases, projects
from others.checkouts import NotThere, checkout, lay_out

__all__ = ["Finding", "examine", "main"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Finding:
    """The result of a case: the ``verdict`` of the proof with its ``message``, and the number of ``refuted`` faults.

    ``seeded``: the number of faults; ``missed``: those that passed; ``open``: those without a decision.
    """

    case: Case
    verdict: str
    message: str
    seeded: int
    refuted: int
    missed: list[str]
    open: list[str]
    seconds: float

    @property
    def wrong(self) -> bool:
        """Return whether the proof failed or a fault passed."""
        return self.verdict not in ("PASS", "UNKNOWN") or bool(self.missed)

    @property
    def row(self) -> str:
        """Return the case's line of the table."""
        proved = {"PASS": "proved", "UNKNOWN": "unknown"}.get(self.verdict, f"**{self.verdict}**: {self.message}")
        seeded = f"{self.refuted} of {self.seeded}" + (f", open: {len(self.open)}" if self.open else "")
        seeded += f", **missed: {'; '.join(self.missed)}**" if self.missed else ""
        given = " ".join(self.case.parameters)
        cells = (self.case.module, given, self.case.specification, proved, seeded, f"{self.seconds:.0f}")
        return f"| {' | '.join(cells)} |"


def examine(case: Case, sources: Sequence[Path], folder: Path, faults: int | None = None) -> Finding:
    """Prove ``case`` with ``sources``, and copies with at most ``faults`` of its faults, in ``folder``."""
    begun = time.monotonic()
    (folder / "ports.toml").write_text(case.ports)
    tree = _prove(case, sources, folder)
    refuted, missed, undecided = 0, [], []
    seeded = case.faults[:faults]
    for number, (old, new) in enumerate(seeded):
        verdict = _prove(case, _seeded(sources, old, new, folder / f"fault_{number}"), folder)["verdict"]
        if verdict == "RTL_MISMATCH":
            refuted += 1
        else:
            (missed if verdict == "PASS" else undecided).append(f"`{old}` → `{new}`: {verdict}")
    seconds = time.monotonic() - begun
    return Finding(case, tree["verdict"], tree["message"], len(seeded), refuted, missed, undecided, seconds)


def _prove(case: Case, sources: Sequence[Path], folder: Path) -> dict[str, Any]:
    """Return the record of the command ``dais-verif prove``, which confirms nothing in a simulator."""
    given = [word for text in case.parameters for word in ("--param", text)]
    command = [
        sys.executable,
        "-m",
        "dais_verif",
        "prove",
        str(case.program),
        "--json",
        "--no-confirm",
        "--top",
        case.module,
        *given,
    ]
    command += ["--ports", str(folder / "ports.toml")]
    command += [word for source in sources for word in ("--rtl", str(source))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"verdict": "NO_RECORD", "message": f"exit code {done.returncode}: {done.stderr.strip()[-500:]}"}


def _seeded(sources: Sequence[Path], old: str, new: str, folder: Path) -> list[Path]:
    """Copy the folder of ``sources`` with the first ``old`` replaced by ``new``, in the last source that has it."""
    parent = sources[0].parent
    copies = {}
    for path in parent.rglob("*"):
        if path.is_file() and not any(part.startswith("fault_") for part in path.relative_to(parent).parts):
            copies[path] = folder / path.relative_to(parent)
            copies[path].parent.mkdir(parents=True, exist_ok=True)
            copies[path].write_bytes(path.read_bytes())
    for source in reversed(sources):
        text = source.read_bytes()
        if old.encode() in text:
            copies[source].write_bytes(text.replace(old.encode(), new.encode(), 1))
            return [copies[source] for source in sources]
    raise ValueError(f"{old!r} is in none of {', '.join(path.name for path in sources)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Examine all cases or the named ones, write the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m others.campaign", description=__doc__)
    parser.add_argument("--from", dest="found", type=Path, help="folder with the repositories; else they are fetched")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "others-rtl.md", help="file of the table")
    parser.add_argument("--faults", type=int, help="seed at most so many in each module")
    parser.add_argument("modules", nargs="*", help="modules; all if none is named")
    options = parser.parse_args(arguments)
    work = ROOT / "build" / "others"
    chosen = [case for case in cases() if not options.modules or case.module in options.modules]
    findings = []
    try:
        for case in chosen:
            project = projects()[case.project]
            repository = checkout(project, case.project, options.found, work / "repositories")
            folder = work / "modules" / case.project / case.module
            finding = examine(case, lay_out(case, project, repository, folder), folder, options.faults)
            print(finding.row, flush=True)
            findings.append(finding)
    except NotThere as error:
        print(f"others-rtl: {error}", file=sys.stderr)
        return 3
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(table(findings))
    wrong = [finding.case.module for finding in findings if finding.wrong]
    print(summary(findings))
    return 1 if wrong else 0


def summary(findings: Sequence[Finding]) -> str:
    """Return the last line of the table."""
    proved = sum(finding.verdict == "PASS" for finding in findings)
    unknown = sum(finding.verdict == "UNKNOWN" for finding in findings)
    seeded = sum(finding.seeded for finding in findings)
    refuted = sum(finding.refuted for finding in findings)
    wrong = sum(finding.wrong for finding in findings)
    return (
        f"{len(findings)} modules: {proved} proved, {unknown} unknown, {wrong} wrong or refused;"
        f" {refuted} of {seeded} seeded faults refuted"
    )


def table(findings: Sequence[Finding]) -> str:
    """Return the table, with one part for each project."""
    lines = []
    for name, project in projects().items():
        mine = [finding for finding in findings if finding.case.project == name]
        if mine:
            lines += [f"### {project.repository} ({project.licence}), commit {project.commit[:12]}", ""]
            lines += ["| module | parameters | specification | proof | faults refuted | s |"]
            lines += ["|---|---|---|---|---|---:|", *(finding.row for finding in mine), ""]
    return "\n".join([*lines, summary(findings), ""])


if __name__ == "__main__":
    sys.exit(main())
