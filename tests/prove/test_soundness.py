"""Mutants of RTL are refuted with a confirmed witness, or proved equal and never distinguished by simulation.

Icarus confirms witnesses; Verilator simulates what was proved. A few mutants are tested here, some more in the slow
test; ``make soundness`` runs thousands.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from prove.soundness.campaign import exceptions, table
from prove.soundness.equivalents import told_apart
from prove.soundness.judge import EQUIVALENT, REFUSED, REFUTED, judged
from prove.soundness.mutants import KINDS, Mutant, all_mutants, sample
from prove.soundness.subjects import SUBJECTS, Subject, subject
from prove.soundness.witnesses import Witness, confirmed

from dais_verif.prover.solve import pool
from dais_verif.prover.solve.discharge import Discharge
from dais_verif.record.proof import Method

EVERY = subject("every opcode")


def settled(one: Subject, mutants: Sequence[Mutant], vectors: int, folder: Path) -> list[dict[str, Any]]:
    """Return the records of ``mutants``; those that are proved equal are simulated, too."""
    records = judged(one, mutants)
    equal = [n for n, record in enumerate(records) if record["status"] == EQUIVALENT]
    apart = told_apart(one, [mutants[n].applied(one.files) for n in equal], vectors, 0, folder) if equal else []
    for place, n in enumerate(equal):
        records[n] |= {"vectors": vectors, "told_apart": place in apart}
    return records


def by_number(records: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {str(n): record for n, record in enumerate(records)}


def test_a_few_mutants(tmp_path: Path) -> None:
    records = by_number(settled(EVERY, sample(EVERY.files, 24, random.Random(5)), 2_000, tmp_path))
    found = Counter(record["status"] for record in records.values())
    assert not exceptions(records)
    assert found[REFUTED] >= 12 and found[EQUIVALENT] >= 2, found
    assert {record["kind"] for record in records.values()} == set(KINDS)
    assert any(line.startswith("| all | ") for line in table(records))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SUBJECTS)[1:])
def test_more_mutants(name: str, corpus: Path, tmp_path: Path) -> None:
    one = subject(name)
    records = by_number(settled(one, sample(one.files, 60, random.Random(6)), 20_000, tmp_path))
    assert not exceptions(records)
    found = Counter(record["status"] for record in records.values())
    assert found[REFUTED] >= 20 and found[EQUIVALENT] >= 3, found


def test_mutants_are_the_same_for_the_same_seed() -> None:
    first, second = (sample(EVERY.files, 100, random.Random(1)) for _ in range(2))
    assert first == second and len(set(first)) == 100
    every = [mutant for mutants in all_mutants(EVERY.files).values() for mutant in mutants]
    assert len({tuple(mutant.applied(EVERY.files).items()) for mutant in every}) == len(every) > 500


def fitting(kind: str, old: str, new: str) -> Mutant:
    (found,) = (m for m in all_mutants(EVERY.files)[kind] if (m.old, m.new) == (old, new))
    return found


def test_a_witness_of_nothing_is_not_confirmed(tmp_path: Path) -> None:
    wrong = fitting("operator", "*", "+").applied(EVERY.files)
    right: Mapping[str, str] = EVERY.files
    witnesses = [Witness(right, (3, 5, 7)), Witness(wrong, (5, 0, 7)), Witness(wrong, (0, 0, 0))]
    assert confirmed(EVERY, witnesses, tmp_path) == [False, True, False]


@pytest.mark.slow
def test_a_mutant_that_is_no_equal_is_told_apart(tmp_path: Path) -> None:
    wrong = fitting("operator", "*", "+").applied(EVERY.files)
    assert told_apart(EVERY, [EVERY.files, wrong], 500, 0, tmp_path) == [1]


def test_a_prover_that_believes_everything_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "decide", lambda *args, **more: Discharge(True, Method.SMT, 0.0))
    records = by_number(settled(EVERY, [fitting("operator", "*", "+")], 500, tmp_path))
    assert [record["status"] for record in records.values()] == [EQUIVALENT]
    assert exceptions(records) == ["0"]


@pytest.mark.parametrize(
    ("record", "is_one"),
    [
        ({"status": REFUTED, "confirmed": True}, False),
        ({"status": REFUTED, "confirmed": False}, True),
        ({"status": EQUIVALENT, "vectors": 10, "told_apart": False}, False),
        ({"status": EQUIVALENT, "vectors": 10, "told_apart": True}, True),
        ({"status": "unknown"}, True),
        ({"status": REFUSED}, False),
    ],
)
def test_what_is_an_exception(record: dict[str, Any], is_one: bool) -> None:
    assert bool(exceptions({"one": record})) == is_one
