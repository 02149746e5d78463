"""Seed thousands of faults in small kernels: which ones simulation finds, and which ones the proof.

The faults are in the mapping, the control and the block of the kernels.

    PYTHONPATH=tests python -m prove.kernel_faults.campaign -o build/kernel-faults.jsonl --faults 2000

This command resumes an earlier campaign from its output file, and writes a table beside it. It fails if a fault
escapes the proof.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np
from prove.kernel_faults.faults import HardwareFault, faults_of
from prove.kernel_faults.instances import instances, targets
from prove.kernel_faults.judge import Found, Judge

__all__ = ["chosen"]

_WHERE = ("mapping", "control", "block")


def chosen(name: str, form: str) -> Iterator[HardwareFault]:
    """Yield the faults of an instance: one of each kind in turn, in random order within a kind."""
    kinds = defaultdict(list)
    for fault in faults_of(instances(form)[name], form):
        kinds[fault.where, fault.kind].append(fault)
    rng = np.random.default_rng(1)
    mixed = [[of[n] for n in rng.permutation(len(of))] for of in kinds.values()]
    for row in zip_longest(*mixed):
        yield from (fault for fault in row if fault is not None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--faults", type=int, default=2000)
    asked = parser.parse_args()
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in asked.output.read_text().splitlines()] if asked.output.exists() else []
    known = {(row["kernel"], row["form"], row["where"], row["kind"], row["text"]) for row in done}
    every = {target: list(chosen(*target)) for target in targets()}
    # Take faults from all targets in turn, so that each target has its share; once a target has no faults left, the
    # others supply the rest.
    turns = [
        (target, fault)
        for row in zip_longest(*([(t, f) for f in of] for t, of in every.items()))
        for target, fault in filter(None, row)
    ]
    judges: dict[tuple[str, str], Judge] = {}
    with asked.output.open("a") as file:
        for (name, form), fault in turns[: asked.faults]:
            if (name, form, fault.where, fault.kind, fault.text) in known:
                continue
            if (name, form) not in judges:
                judges[name, form] = Judge(name, form)
            found, part = judges[name, form](fault.machine)
            row = {"kernel": name, "form": form, "where": fault.where, "kind": fault.kind, "text": fault.text}
            done.append({**row, "found": found.value, "part": part})
            file.write(json.dumps(done[-1]) + "\n")
            file.flush()
    table = _table(done)
    asked.output.with_suffix(".md").write_text(table)
    print(table)
    return int(any(row["found"] == Found.ESCAPED.value for row in done))


def _table(done: list[dict[str, str]]) -> str:
    lines = [f"| kernel | form | faults | {' | '.join(one.value for one in Found)} |", "|---|---" + "|---:" * 7 + "|"]
    rows = [(row["kernel"], row["form"]) for row in done]
    for name, form in dict.fromkeys(rows):
        mine = Counter(row["found"] for row in done if (row["kernel"], row["form"]) == (name, form))
        lines.append(f"| {name} | {form} | {mine.total()} | {' | '.join(str(mine[one.value]) for one in Found)} |")
    for where in _WHERE:
        mine = Counter(row["found"] for row in done if row["where"] == where)
        lines.append(f"| all | {where} | {mine.total()} | {' | '.join(str(mine[one.value]) for one in Found)} |")
    mine = Counter(row["found"] for row in done)
    lines.append(f"| all | | {mine.total()} | {' | '.join(str(mine[one.value]) for one in Found)} |")
    parts = Counter(row["part"] for row in done if row["found"] in (Found.BOTH.value, Found.PROOF.value))
    lines += ["", "Found by: " + ", ".join(f"{name} {count}" for name, count in parts.most_common())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
