"""Whole proofs of earlier runs: the same program, the same files, the same question, so the same answer.

Only what passed, with every claim proved, is kept; and it is believed only if its seal fits, which takes in every line
of code that a proof depends on. What included other files when it was read is not kept, nor what asks for its own name.
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import msgspec

import dais_verif
from dais_verif import database
from dais_verif.dut.discover import Port
from dais_verif.program import Program
from dais_verif.prover.results import Proof
from dais_verif.record.proof import Status, Worst
from dais_verif.verdict import Verdict

__all__ = ["CachedProof", "recall", "remember", "proof_key"]

#: So many proofs are kept, those that were found last.
_KEPT = 64
#: What has a say in a proof: folders of the package, and packages.
_FOLDERS, _PACKAGES = (
    ("dut", "program", "prover", "record", "synthesis"),
    ("bitwuzla", "numpy", "pyslang", "python-sat"),
)
_TABLE = "CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, found INTEGER, proof BLOB, seal TEXT)"


@dataclass(frozen=True)
class CachedProof:
    """A proof, and the ports that the design had."""

    proof: Proof
    ports: tuple[Port, ...]


def proof_key(
    program: Program, sources: Sequence[Path], files: Mapping[str, Path], said: Sequence[object]
) -> str | None:
    """Return the hash of all that a proof is asked; None: there is more to it than can be seen here.

    ``files``: what the RTL reads, by the names it has for them. ``said``: whatever else, as Python shows it.
    """
    digest = hashlib.sha256()
    digest.update(repr((program.hash, program.intervals, *said)).encode())
    for name, path in [*((source.suffix, source) for source in sources), *sorted(files.items())]:
        content = path.read_bytes()
        if b"__FILE__" in content:  # the same text is another one in another folder
            return None
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()


def _tools() -> str:
    digest = hashlib.sha256(repr([sys.version, *map(version, _PACKAGES)]).encode())
    root = Path(str(dais_verif.__file__)).parent
    for file in sorted(path for folder in _FOLDERS for path in (root / folder).rglob("*.py")):
        digest.update(f"{file.relative_to(root)} ".encode() + file.read_bytes())
    return digest.hexdigest()


def _seal(key: str, proof: bytes) -> str:
    return hashlib.sha256(f"{_tools()} {key} ".encode() + proof).hexdigest()


def recall(store: Path, key: str) -> CachedProof | None:
    """Return the proof of an earlier run. What is damaged, or was made by another version, counts as none."""
    nothing: tuple[object, ...] = (None, None)

    def ask(connection: sqlite3.Connection) -> tuple[object, ...]:
        row = connection.execute("SELECT proof, seal FROM runs WHERE key = ?", (key,)).fetchone()
        return nothing if row is None else tuple(row)

    proof, seal = database.read(store, ask, nothing)
    if not isinstance(proof, bytes) or seal != _seal(key, proof):
        return None
    try:
        return msgspec.json.decode(zlib.decompress(proof), type=CachedProof)
    except (zlib.error, msgspec.DecodeError):
        return None


def remember(store: Path, key: str, proof: Proof, ports: Sequence[Port]) -> None:
    """Keep a proof that passed. A file that cannot be written keeps nothing."""
    claims = (*proof.ops, *proof.outputs)
    if proof.verdict is not Verdict.PASS or any(claim.status is not Status.PROVED for claim in claims):
        return
    worst = Worst(claims[0].name, 0.0) if claims else None
    known = CachedProof(replace(proof, cached_claims=len(claims), worst=worst), tuple(ports))
    packed = zlib.compress(msgspec.json.encode(known), 1)

    def keep(connection: sqlite3.Connection) -> None:
        connection.execute(_TABLE)
        (last,) = connection.execute("SELECT coalesce(max(found), 0) FROM runs").fetchone()
        row = (key, last + 1, packed, _seal(key, packed))
        connection.execute("INSERT OR REPLACE INTO runs (key, found, proof, seal) VALUES (?, ?, ?, ?)", row)
        connection.execute("DELETE FROM runs WHERE found <= ?", (last + 1 - _KEPT,))

    database.write(store, keep)
