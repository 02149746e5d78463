"""Run random programs in all engines of the golden model: oracle, numpy, the C kernel in each instruction set, VM.

    PYTHONPATH=tests python -m quality.evidence.programs --count 1000000

Programs on which engines disagree are shrunk and kept in ``crashers`` beside the rows.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path

from quality.evidence.rows import Row, parser_of, worked

import dais_verif
from dais_verif.base.verdict import Verdict

#: Programs per row; each row has its own seed.
CHUNK = 5000
#: The engines to compare with the oracle.
ENGINES = ("numpy", "fast", "vm")


def main(arguments: list[str] | None = None) -> int:
    """Run from a command line."""
    asked = parser_of(__doc__, "programs", "programs", 1_000_000).parse_args(arguments)
    keys = [f"seed {n}" for n in range(-(-asked.count // CHUNK))]
    cases, pairs, wrong = 0, Counter[str](), []
    for row in worked(asked.output, keys, partial(judge, asked.output.parent / "crashers"), asked.jobs):
        cases, pairs = cases + row["cases"], pairs + Counter(row["pairs"])
        if row["wrong"]:
            wrong.append(row)
            print(f"{row['key']}: {row['wrong']}", flush=True)
    print(f"{cases} programs, compared {dict(pairs)}; {len(wrong)} parts in which something disagrees")
    return 1 if wrong or not cases else 0


def judge(crashers: Path, key: str) -> Row:
    """Return how the engines agree on the programs of one seed."""
    folder = crashers / key.replace(" ", "-")
    record = dais_verif.fuzz(count=CHUNK, seed=int(key.split()[1]), pairs=ENGINES, jobs=1, output=folder)
    wrong = None if record.verdict is Verdict.PASS else f"{record.verdict.name}: {record.message}"
    return {"cases": record.cases, "pairs": dict(record.pairs), "wrong": wrong, "seconds": record.seconds}


if __name__ == "__main__":
    sys.exit(main())
