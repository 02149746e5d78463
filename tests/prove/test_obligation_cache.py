"""Obligations proved in earlier runs are found again, rejected if damaged, and keyed by what they state alone."""

from __future__ import annotations

import itertools
import json
import sqlite3
from pathlib import Path

import pytest
from prove.door import Run, mutant, run_prove
from support.programs import every_opcode

from dais_verif.doors.cli import main
from dais_verif.prover.solve.obligation_cache import ObligationCache, key_of
from dais_verif.prover.terms import add, const, sext, var
from dais_verif.record.proof import Method

EVERY = every_opcode()
#: RTL that the normal form alone does not prove.
REWRITTEN = mutant(EVERY, "op_23 =", "op_0 ^ (op_1 <<< 3)", "(op_0 | (op_1 <<< 3)) & ~(op_0 & (op_1 <<< 3))")

_SEEDS = itertools.count()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "proofs" / "proofs.sqlite"


def proved(folder: Path, rtl: str | None = REWRITTEN) -> Run:
    """Prove with the cache of obligations; a new seed each time keeps the cache of whole proofs from answering."""
    return run_prove(EVERY, folder, "--seed", next(_SEEDS), rtl=rtl, cache=True)


def test_what_was_proved_is_found_again(tmp_path: Path) -> None:
    first, second = proved(tmp_path), proved(tmp_path)
    assert first.ending == second.ending == ("PASS", 0)
    assert first.tree["cached_claims"] == 0 < second.tree["cached_claims"]
    assert first.tree["methods"] == second.tree["methods"]


def test_no_cache_keeps_and_finds_nothing(tmp_path: Path, home: Path) -> None:
    run_prove(EVERY, tmp_path, rtl=REWRITTEN)
    assert not home.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database"),
        lambda path: path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2]),
        lambda path: change(path, "UPDATE proofs SET method = 'identical'"),
        lambda path: change(path, "UPDATE proofs SET seal = ''"),
        lambda path: change(path, "UPDATE proofs SET seal = NULL, method = NULL"),
        lambda path: change(path, "DROP TABLE proofs"),
        lambda path: change(path, "UPDATE proofs SET key = key || 'x'"),
    ],
)
def test_a_damaged_store_is_not_believed(damage: object, tmp_path: Path, home: Path) -> None:
    proved(tmp_path)
    damage(home)  # type: ignore[operator]
    again = proved(tmp_path)
    assert again.ending == ("PASS", 0)
    assert again.tree["cached_claims"] == 0


def change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_a_proof_of_one_thing_is_none_of_another(tmp_path: Path) -> None:
    proved(tmp_path)
    bad = proved(tmp_path, mutant(EVERY, "op_23 =", "op_0 ^ (op_1 <<< 3)", "(op_0 | (op_1 <<< 3)) & ~op_0"))
    assert bad.ending == ("RTL_MISMATCH", 1)


def test_an_entry_moved_to_another_key_is_not_believed(tmp_path: Path) -> None:
    store = ObligationCache(tmp_path / "proofs.sqlite")
    store.keep({"a" * 64: Method.SMT})
    change(tmp_path / "proofs.sqlite", f"UPDATE proofs SET key = '{'b' * 64}'")
    assert store.find(["a" * 64, "b" * 64]) == {}


def test_keys_are_of_all_that_an_obligation_says() -> None:
    x, y = var(4, "v0"), var(4, "v1")
    one, other = add(x, y), add(sext(x, 5), sext(y, 5))
    true = const(1, 1)
    keys = [
        key_of(one, x, ()),
        key_of(x, one, ()),
        key_of(one, y, ()),
        key_of(one, x, (true,)),
        key_of(other, sext(x, 5), ()),
        key_of(add(x, const(4, 1)), x, ()),
        key_of(add(x, const(4, 2)), x, ()),
    ]
    assert len(set(keys)) == len(keys)


def test_a_store_that_cannot_be_written_does_no_harm(tmp_path: Path, home: Path) -> None:
    home.parent.mkdir(parents=True)
    home.mkdir()
    assert proved(tmp_path).ending == ("PASS", 0)


def test_cache_shows_and_removes_proofs(tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proved(tmp_path)
    assert main._run(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["proofs_bytes"] == home.stat().st_size > 0
    assert main._run(["cache", "clear"]) == 0
    assert "of proofs" in capsys.readouterr().out
    assert not home.exists()
