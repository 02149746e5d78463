"""Cache of obligations that earlier runs proved, by the hash of their complete text.

An entry is used only if its seal matches. A damaged file, or a file of another kind, counts as empty. Refutations are
not kept: they are found again, so that they can be shown.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from dais_verif.base import database
from dais_verif.prover import terms
from dais_verif.prover.solve import discharge, smt
from dais_verif.prover.terms import Term, evaluate
from dais_verif.record.proof import Method

__all__ = ["ObligationCache", "key_of"]

#: Modules on which a cached decision depends, besides terms and the solver.
_DECIDERS = (discharge, evaluate, smt)


def key_of(a: Term, b: Term, given: tuple[Term, ...]) -> str:
    """Return the hash of the text of an obligation, in which every node occurs once, after its arguments."""
    places: dict[Term, int] = {}
    lines = []
    waiting = [*given[::-1], b, a]
    while waiting:
        t = waiting[-1]
        missing = [x for x in t.args if x not in places]
        waiting += missing
        if missing:
            continue
        waiting.pop()
        if t in places:
            continue
        places[t] = len(places)
        lines.append(f"{t.op} {t.width} {[places[x] for x in t.args]} {t.data}")
    lines.append(f"{places[a]} = {places[b]} where {[places[t] for t in given]}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _tools() -> str:
    digest = hashlib.sha256(version("bitwuzla").encode())
    files = [Path(str(module.__file__)) for module in _DECIDERS]
    for file in [*files, *sorted(Path(str(terms.__file__)).parent.glob("*.py"))]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


class ObligationCache:
    """The cache in the file ``path``; if that is None, nothing is cached."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._tools = _tools() if path is not None else ""

    def _seal(self, key: str, method: str) -> str:
        return hashlib.sha256(f"{self._tools} {key} {method}".encode()).hexdigest()

    def find(self, keys: Iterable[str]) -> dict[str, Method]:
        """Return those ``keys`` whose obligations were proved before, each with the method of the proof."""
        if self._path is None:
            return {}

        def ask(connection: sqlite3.Connection) -> dict[str, Method]:
            found: dict[str, Method] = {}
            for key in keys:
                row = connection.execute("SELECT method, seal FROM proofs WHERE key = ?", (key,)).fetchone()
                if row is not None and row[1] == self._seal(key, str(row[0])):
                    found[key] = Method(row[0])
            return found

        return database.read(self._path, ask, {})

    def keep(self, proved: dict[str, Method]) -> None:
        """Add proved obligations. Ignores a file that cannot be written."""
        if self._path is None or not proved:
            return
        rows = [(key, method.value, self._seal(key, method.value)) for key, method in proved.items()]

        def keep(connection: sqlite3.Connection) -> None:
            connection.execute("CREATE TABLE IF NOT EXISTS proofs (key TEXT PRIMARY KEY, method TEXT, seal TEXT)")
            connection.executemany("INSERT OR REPLACE INTO proofs (key, method, seal) VALUES (?, ?, ?)", rows)

        database.write(self._path, keep)
