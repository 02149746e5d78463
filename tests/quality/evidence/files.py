"""Read corrupted program files: each is refused with one line, or is a program on which all our tools agree.

PYTHONPATH=tests python -m quality.evidence.files --count 1000000
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from functools import cache

from quality.evidence.rows import Row, parser_of, worked
from support.damage import (
    alir_seeds,
    corpus_seeds,
    generated_seeds,
    limits,
    text_seeds,
    try_alir,
    try_mutants,
    try_texts,
)
from support.places import ALIR, CORPUS

#: Files per row, and their kinds, which take turns.
CHUNK = 1000
KINDS = ("generated", "generated", "generated", "alir", "text", "corpus")


def main(arguments: list[str] | None = None) -> int:
    """Run from a command line."""
    asked = parser_of(__doc__, "files", "files", 1_000_000).parse_args(arguments)
    keys = [f"{KINDS[n % len(KINDS)]} {n}" for n in range(-(-asked.count // CHUNK))]
    tally: Counter[str] = Counter()
    wrong = []
    for row in worked(asked.output, keys, judge, asked.jobs):
        tally += Counter(row["tally"])
        if row["wrong"]:
            wrong.append(row)
            print(f"{row['key']}: {row['wrong']}", flush=True)
    print(f"{sum(tally[k] for k in ('refused', 'valid'))} files: {dict(tally)}; {len(wrong)} parts with a wrong one")
    return 1 if wrong or not tally else 0


def judge(key: str) -> Row:
    """Return how many files of one part were refused, valid and used, or what is wrong."""
    kind, number = key.split()
    try:
        with limits():
            tally = _part(kind, 10_000 + int(number))
    except AssertionError as error:
        return {"tally": {}, "wrong": f"{error} ({error.__cause__!r})"}
    return {"tally": dict(tally), "wrong": None}


def _part(kind: str, number: int) -> Counter[str]:
    if kind == "alir":
        return try_alir(_alir(), CHUNK, number)
    if kind == "text":
        return try_texts(text_seeds(random.Random(number)), CHUNK, number)
    return try_mutants(_corpus() if kind == "corpus" else generated_seeds(random.Random(number)), CHUNK, number)


@cache
def _corpus() -> list[bytes]:
    return corpus_seeds(CORPUS)


@cache
def _alir() -> list[bytes]:
    return alir_seeds(ALIR)


if __name__ == "__main__":
    sys.exit(main())
