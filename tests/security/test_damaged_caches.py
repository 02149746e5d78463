"""Caches damaged in any way are made again by the next run, without a message."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from dais_verif.base import database
from dais_verif.base.toolchain import build_cache
from dais_verif.campaigns.regression.journal import History, Past
from dais_verif.doors.cli.main import _run
from dais_verif.prover import proof_cache
from dais_verif.prover.solve.obligation_cache import ObligationCache
from dais_verif.record.proof import Method

EXAMPLE = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


def bytes_of(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(change(path.read_bytes())) and None


def sql(*lines: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            for line in lines:
                for table in ("proofs", "runs", "past"):
                    with contextlib.suppress(sqlite3.Error):
                        connection.execute(line.replace("TABLE_", table))

    return change


def scattered(data: bytes) -> bytes:
    rng, changed = random.Random(3), bytearray(data)
    for _ in range(200):
        changed[rng.randrange(100, len(data))] = rng.randrange(256)
    return bytes(changed)


DAMAGES = {
    "no database": bytes_of(lambda data: b"no database" * 1000),
    "empty": bytes_of(lambda data: b""),
    "header only": bytes_of(lambda data: data[:100]),
    "truncated": bytes_of(lambda data: data[: len(data) // 2]),
    "bytes changed": bytes_of(scattered),
    "another page": bytes_of(lambda data: data[:4096] + b"\xff" * 4096 + data[8192:]),
    "no table": sql("DROP TABLE TABLE_"),
    "other columns": sql("DROP TABLE TABLE_", "CREATE TABLE TABLE_ (a, b)"),
    "a view": sql("DROP TABLE TABLE_", "CREATE VIEW TABLE_ AS SELECT 1 AS a"),
    "largest number": sql("UPDATE runs SET found = 9223372036854775807, key = 'a'"),
    "text for numbers": sql("UPDATE runs SET found = x'00', key = 'a'", "UPDATE past SET seconds = 'long'"),
    "no text": sql("UPDATE TABLE_ SET seal = CAST(x'ff' AS TEXT)", "UPDATE past SET seconds = CAST(x'ff' AS TEXT)"),
}


@pytest.fixture(params=DAMAGES)
def damage(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    return DAMAGES[request.param]


def test_the_store_of_obligations(damage: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "proofs.sqlite"
    ObligationCache(path).keep({"k": Method.SMT})
    damage(path)
    ObligationCache(path).find(["k"])
    ObligationCache(path).keep({"k": Method.SMT})
    assert ObligationCache(path).find(["k"]) == {"k": Method.SMT}


def test_the_history_of_jobs(damage: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    History(path).note("a", Past(True, 1.0))
    damage(path)
    History(path).of(["a"])
    History(path).note("a", Past(False, 2.0))
    assert History(path).of(["a"]) == {"a": Past(False, 2.0)}


def test_whole_proofs(
    damage: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path))
    recalled: list[bool] = []
    recall = proof_cache.recall

    def watched(store: Path, key: str) -> proof_cache.CachedProof | None:
        found = recall(store, key)
        recalled.append(found is not None)
        return found

    monkeypatch.setattr(proof_cache, "recall", watched)
    for step in range(3):
        assert _run(["prove", str(EXAMPLE), "--jobs", "1", "--json"]) == 0
        if step == 0:
            damage(tmp_path / "proofs" / "proofs.sqlite")
    assert recalled == [False, False, True] or recalled == [False, True, True]
    assert "INTERNAL" not in capfd.readouterr().err


def test_one_that_is_in_use_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_SECONDS", 0.1)
    path = tmp_path / "proofs.sqlite"
    ObligationCache(path).keep({"k": Method.SMT})
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert ObligationCache(path).find(["k"]) == {}
        ObligationCache(path).keep({"l": Method.SMT})
    assert ObligationCache(path).find(["k", "l"]) == {"k": Method.SMT}


def test_a_folder_in_its_place_is_left(tmp_path: Path) -> None:
    ObligationCache(tmp_path).keep({"k": Method.SMT})
    assert ObligationCache(tmp_path).find(["k"]) == {} and tmp_path.is_dir()


def test_odd_facts_of_builds_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path))
    odd = [{"simulator": 5, "top": []}, {"simulator": "a\x1b[2J", "top": "\n::error::x"}, [], 5, "x", None]
    for number, facts in enumerate(odd):
        entry = build_cache.home() / f"{number:032x}"
        entry.mkdir(parents=True)
        (entry / build_cache._FACTS).write_text(json.dumps(facts))
    assert _run(["cache"]) == 0
    out = capfd.readouterr().out
    assert "\x1b" not in out and not [line for line in out.splitlines() if line.lstrip().startswith("::")]
    assert "builds     3, " in out
