"""The certificate: the signed-off design, the policy, the tools, and the hashes of all files and of the evidence.

It has exactly one form, byte for byte: sorted keys, a fixed layout, and the hash of all other fields in ``self``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from dais_verif.base.errors import CertificateError
from dais_verif.base.structs import converted
from dais_verif.base.verdict import Verdict
from dais_verif.record.signoff import CERTIFICATE, EVIDENCE, SIGNATURE, SignOffRecord, StageResult
from dais_verif.record.simulation import OutputEvidence, Waiver
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.signed_design import Subject, sha256_of
from dais_verif.signoff.toolbox import Tool

__all__ = [
    "CERTIFICATE",
    "SIGNATURE",
    "Certificate",
    "CertifiedFile",
    "CertifiedScore",
    "CertifiedStage",
    "excused_in",
    "files_in",
    "is_evidence",
    "parse_certificate",
    "stages_in",
    "written",
]


_SCHEMA = "dais-verif/certificate/2"
_STATEMENT = "SIGNED OFF"
_LOCK = ".lock"

#: Limits of the number of files in a folder and of their bytes, so that the time for hashing is bounded.
_MOST_FILES, _MOST_BYTES = 100_000, 8 << 30


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a certificate. Unknown fields are errors, since no check would cover them."""


class CertifiedFile(_Part, frozen=True):
    """A signed-off file. ``near``: its path relative to the folder of the certificate."""

    role: str
    path: str
    near: str
    sha256: str
    name: str


class CertifiedStage(_Part, frozen=True):
    """A stage, without its messages."""

    name: str
    verdict: Verdict
    passed: bool
    must_fail: bool
    waived: bool
    optional: bool


class CertifiedScore(_Part, frozen=True):
    """The result for mutants of the RTL: the numbers of all, equivalent and unknown mutants, and percent killed."""

    mutants: int
    equivalent: int
    unknown: int
    score: float | None


class Certificate(_Part, frozen=True, rename={"itself": "self"}, omit_defaults=True):
    """A complete certificate.

    ``layout``: the layout that the caller gave. ``signer``: the fingerprint of the key that signs the certificate, or
    empty. ``issued``: the time in ISO 8601, UTC. ``evidence``: the SHA-256 of every judged file; ``logs``: the SHA-256
    of all other files in the folder, which are for people and are not judged.
    """

    schema: str
    statement: str
    issued: str
    program: str
    layout: str | None
    emitted: bool
    top: str
    files: list[CertifiedFile]
    policy: dict[str, Any]
    tools: dict[str, Tool]
    stages: list[CertifiedStage]
    outputs: list[OutputEvidence]
    waivers: list[Waiver]
    evidence: dict[str, str]
    logs: dict[str, str]
    signer: str
    itself: str
    #: Present if the policy requires mutants.
    mutation: CertifiedScore | None = None

    @classmethod
    def of(
        cls,
        subject: Subject,
        policy: Policy,
        tools: dict[str, Tool],
        record: SignOffRecord,
        folder: Path,
        *,
        issued: str,
        signer: str,
        mutation: CertifiedScore | None = None,
    ) -> Certificate:
        """Return the certificate of the sign-off in ``record``, with all evidence in ``folder``."""
        files = [
            CertifiedFile(file.role, file.path, _near(file.path, folder), file.sha256, file.name)
            for file in subject.files
        ]
        there = files_in(folder)
        return cls(
            _SCHEMA,
            _STATEMENT,
            issued,
            subject.design.hash,
            subject.layout,
            subject.emitted,
            subject.top,
            files,
            policy.tree(),
            tools,
            stages_in(record.stages),
            record.outputs,
            record.waivers,
            {name: sha256 for name, sha256 in there.items() if is_evidence(name)},
            {name: sha256 for name, sha256 in there.items() if not is_evidence(name)},
            signer,
            "",
            mutation,
        )


def stages_in(results: Sequence[StageResult]) -> list[CertifiedStage]:
    """Return the stages of a sign-off for a certificate."""
    return [CertifiedStage(r.name, r.verdict, r.passed, r.must_fail, r.waived, r.optional) for r in results]


def excused_in(stages: Sequence[StageResult] | Sequence[CertifiedStage]) -> list[str]:
    """Return the names of the stages that have no result, and that the policy accepts without one."""
    return [stage.name for stage in stages if not (stage.passed or stage.waived)]


def _near(path: str, folder: Path) -> str:
    return os.path.relpath(path, folder.absolute())


def written(certificate: Certificate) -> bytes:
    """Return the bytes of ``certificate``, with its own hash."""
    tree = msgspec.to_builtins(certificate)
    return _canonical({**tree, "self": _hash_of(tree)})


def parse_certificate(data: bytes, name: str) -> Certificate:
    """Return the certificate in ``data``. Raises ``InputError`` unless every byte has the canonical form."""
    try:
        tree = json.loads(data, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"{name} is not a valid certificate: {error}") from None
    if not isinstance(tree, dict) or tree.get("schema") != _SCHEMA:
        raise CertificateError(f"{name} is not a valid certificate: its schema must be {_SCHEMA}")
    if _canonical(tree) != data:
        raise CertificateError(f"{name} is not in the form in which certificates are written: it was edited")
    expected = _hash_of(tree)
    if tree.get("self") != expected:
        raise CertificateError(f"{name} was edited: its own hash is {expected}, but it states {tree.get('self')}")
    try:
        certificate = converted(tree, Certificate)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # a lone surrogate cannot be encoded
        raise CertificateError(f"{name} is not a valid certificate: {error}") from None
    if certificate.statement != _STATEMENT:
        raise CertificateError(f"{name} states {certificate.statement!r}, must state {_STATEMENT!r}")
    return certificate


def _canonical(tree: dict[str, Any]) -> bytes:
    return (json.dumps(tree, indent=1, sort_keys=True) + "\n").encode()


def _hash_of(tree: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical({key: value for key, value in tree.items() if key != "self"})).hexdigest()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"it has {next(name for name in counts if counts[name] > 1)!r} twice")
    return tree


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def is_evidence(name: str) -> bool:
    """Return True if the file ``name`` in the folder of a certificate is evidence, which is judged."""
    return name.startswith(f"{EVIDENCE}/")


def files_in(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in ``folder`` except the certificate and its signature, by path.

    Raises ``InputError`` for anything except a regular file, because its content is not in the folder.
    """
    found: dict[str, str] = {}
    left = _MOST_BYTES
    for path in sorted(islice(folder.rglob("*"), _MOST_FILES + 1)):
        if len(found) == _MOST_FILES:
            raise CertificateError(
                f"{str(folder)!r} holds more than {_MOST_FILES} files, more than a sign-off ever writes"
            )
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise CertificateError(f"{name} is not a plain file, so it cannot be evidence; remove it")
        if path.is_dir() or name in (CERTIFICATE, SIGNATURE) or (name == _LOCK and not path.stat().st_size):
            continue
        left -= path.stat().st_size
        if left < 0:
            raise CertificateError(
                f"{str(folder)!r} holds more than {_MOST_BYTES} bytes, more than a sign-off ever writes"
            )
        found[name] = sha256_of(path)
    return found
