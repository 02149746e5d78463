"""Cache of whole proofs: the same program, the same files and the same options give the same answer.

Only proofs that passed, with every claim proved, are kept. A proof is reused only if its seal matches; the seal is a
hash that covers all code on which a proof depends. Designs that include other files, or use ``__FILE__``, are not
cached.
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
from dais_verif.base import database
from dais_verif.base.structs import decoded
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.discover import Port
from dais_verif.prover.results import Proof
from dais_verif.record.proof import Status, Worst
from dais_verif.spec.program import Program

__all__ = ["CachedProof", "recall", "remember", "proof_key"]

#: The number of proofs that are kept, the latest ones.
_KEPT = 64
#: The code on which a proof depends: folders of this package, and other packages.
_FOLDERS, _PACKAGES = (
    ("hardware/ports", "hardware/synthesis", "prover", "record", "spec/program"),
    ("bitwuzla", "numpy", "pyslang", "python-sat"),
)
#: Suffixes of the files in these folders that decide a proof: code, and packages of VHDL.
_TEXTS = (".py", ".vhd")
_TABLE = "CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, found INTEGER, proof BLOB, seal TEXT)"


@dataclass(frozen=True)
class CachedProof:
    """A proof, and the ports of the design."""

    proof: Proof
    ports: tuple[Port, ...]


def proof_key(
    program: Program, sources: Sequence[Path], files: Mapping[str, Path], said: Sequence[object]
) -> str | None:
    """Return a hash of the whole proof question; None if the files use ``__FILE__``.

    ``files``: the files that the RTL reads, by the names that the RTL uses. ``said``: all other options; their ``repr``
    is hashed.
    """
    digest = hashlib.sha256()
    digest.update(repr((program.hash, program.intervals, *said)).encode())
    for name, path in [*((source.suffix, source) for source in sources), *sorted(files.items())]:
        content = path.read_bytes()
        if b"__FILE__" in content:  # the meaning of ``__FILE__`` depends on the folder
            return None
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()


def _tools() -> str:
    digest = hashlib.sha256(repr([sys.version, *map(version, _PACKAGES)]).encode())
    root = Path(str(dais_verif.__file__)).parent
    for file in _code(root):
        digest.update(f"{file.relative_to(root)} ".encode() + file.read_bytes())
    return digest.hexdigest()


def _code(root: Path) -> list[Path]:
    return sorted(path for folder in _FOLDERS for path in (root / folder).rglob("*") if path.suffix in _TEXTS)


def _seal(key: str, proof: bytes) -> str:
    return hashlib.sha256(f"{_tools()} {key} ".encode() + proof).hexdigest()


def recall(store: Path, key: str) -> CachedProof | None:
    """Return the proof of an earlier run; None if there is none, if it is damaged, or if another version made it."""
    nothing: tuple[object, ...] = (None, None)

    def ask(connection: sqlite3.Connection) -> tuple[object, ...]:
        row = connection.execute("SELECT proof, seal FROM runs WHERE key = ?", (key,)).fetchone()
        return nothing if row is None else tuple(row)

    proof, seal = database.read(store, ask, nothing)
    if not isinstance(proof, bytes) or seal != _seal(key, proof):
        return None
    try:
        return decoded(zlib.decompress(proof), CachedProof)
    except (zlib.error, msgspec.DecodeError):
        return None


def remember(store: Path, key: str, proof: Proof, ports: Sequence[Port]) -> None:
    """Keep a proof if it passed and every claim is proved. Ignores a file that cannot be written."""
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
