"""Read the output of a command strictly: its record, and the simulated vectors.

Anything missing, truncated, unfinished or inconsistent is not evidence: it raises ``InputError``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from dais_verif.base.errors import CertificateError
from dais_verif.base.files import read_plain
from dais_verif.base.structs import converted
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.record.campaigns import MUTATION_SCHEMA, MutationRecord
from dais_verif.record.check import CheckRecord
from dais_verif.record.diff import DiffRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import PROOF_SCHEMA, ProofRecord
from dais_verif.record.read import parse_record
from dais_verif.record.simulation import Failed, SimulationRecord
from dais_verif.signoff.verbs import PRINTED, RUN, read_call
from dais_verif.simulation.scoreboard import digest_of
from dais_verif.simulation.testbench.packed_rows import Words, row_words
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of

__all__ = [
    "Bits",
    "CheckEvidence",
    "Sent",
    "Unusable",
    "bits_of",
    "checked",
    "chunks",
    "compared",
    "mutated",
    "proved",
    "read_tree",
    "simulated",
    "summary",
]

_MOST_BYTES = 256 << 20

_T = TypeVar("_T")


class Unusable(CertificateError):
    """Raised if a command ended in an error, so that it has no record. ``verdict``: the verdict of the error."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.verdict, self.reason = failed.verdict, failed.reason


class CheckEvidence(msgspec.Struct, frozen=True):
    """The judged part of the output of ``check``."""

    verdict: Verdict
    program: ProgramInfo
    overflow: dict[str, Any]


#: The judged fields of a proof. A record that lacks one is refused, since a default might hide a problem.
_JUDGED = ("unchecked", "conditional", "cached_claims", "counterexample", "confirmation")
_JUDGED_OF_RTL = ("top", "emitted", "files", "sha256", "data", "front_ends")


# records


def simulated(folder: Path) -> SimulationRecord:
    """Return the record of ``sim`` or ``hil`` in the folder of a call."""
    data = _printed(folder)
    record = parse_record(data, _name(folder))
    if isinstance(record, Failed):
        _agree(folder, record.verdict)
        raise Unusable(record)
    if not isinstance(record, SimulationRecord):
        raise CertificateError(f"{_name(folder)} is the record of something else: {type(record).__name__}")
    _agree(folder, record.verdict)
    _kept(folder, data)
    if record.state != "complete":
        raise CertificateError(f"{_name(folder)} is the record of an unfinished run")
    return record


def checked(folder: Path) -> CheckEvidence:
    """Return the output of ``check``."""
    return _converted(folder, CheckRecord.SCHEMA, CheckEvidence)


def compared(folder: Path) -> DiffRecord:
    """Return the output of ``diff``."""
    record = _converted(folder, DiffRecord.SCHEMA, DiffRecord)
    for name in ("proof", "frame", "unchecked"):
        if name not in read_tree(folder / PRINTED):
            raise CertificateError(f"{_name(folder)} is not a record of diff: it lacks {name!r}")
    return record


def proved(folder: Path) -> ProofRecord:
    """Return the output of ``prove``."""
    record = _converted(folder, PROOF_SCHEMA, ProofRecord)
    printed = _printed(folder)
    tree = json.loads(printed)
    for judged, part in ((_JUDGED, tree), (_JUDGED_OF_RTL, tree["rtl"])):
        for name in judged:
            if name not in part:
                raise CertificateError(
                    f"{_name(folder)} is not a valid record of schema {PROOF_SCHEMA}: it lacks {name!r}"
                )
    _kept(folder, printed)
    return record


def mutated(folder: Path) -> MutationRecord:
    """Return the output of ``mutate``."""
    record = _converted(folder, MUTATION_SCHEMA, MutationRecord)
    _kept(folder, _printed(folder), "mutation.json")
    return record


def _converted(folder: Path, schema: str, kind: type[_T]) -> _T:
    tree = read_tree(folder / PRINTED)
    verdict = next((verdict for verdict in Verdict if verdict.value == tree.get("verdict")), None)
    if verdict is None:
        raise CertificateError(f"{_name(folder)} has no verdict")
    _agree(folder, verdict)
    if set(tree) <= Failed.FIELDS:
        raise Unusable(Failed(verdict, str(tree.get("message")), str(tree.get("reason", ""))))
    if tree.get("schema") != schema:
        raise CertificateError(f"{_name(folder)} has schema {tree.get('schema')!r}, must have {schema}")
    try:
        return converted(tree, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise CertificateError(f"{_name(folder)} is not a valid record of schema {schema}: {error}") from None


def read_tree(path: Path) -> dict[str, Any]:
    """Return the JSON object in the file ``path``."""
    try:
        tree = json.loads(read_plain(path, _MOST_BYTES))
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"{str(path)!r} is not valid JSON: {error}") from None
    if not isinstance(tree, dict):
        raise CertificateError(f"{str(path)!r} holds a {type(tree).__name__}, must hold an object")
    return tree


def _name(folder: Path) -> str:
    return f"{folder.name}/{PRINTED}"


def _printed(folder: Path) -> bytes:
    return read_plain(folder / PRINTED, _MOST_BYTES)


def _agree(folder: Path, verdict: Verdict) -> None:
    """Raise ``InputError`` if the exit code of the process contradicts its record."""
    code = read_call(folder).exit_code
    if code != verdict.exit_code:
        raise CertificateError(f"the run exited with code {code}, but {_name(folder)} says {verdict.value}")


def _kept(folder: Path, printed: bytes, name: str = "result.json") -> None:
    """Raise ``InputError`` if the stored record is missing or differs from the printed record."""
    path = folder / RUN / name
    if not path.is_file():
        raise CertificateError(f"the run left no {folder.name}/{RUN}/{path.name}")
    if read_plain(path, _MOST_BYTES).strip() != printed.strip():
        raise CertificateError(f"{folder.name}/{RUN}/{path.name} is not what the run printed")


# vectors


class Bits(NamedTuple):
    """The numbers of bits of a packed row of inputs, and of a packed row of outputs."""

    inputs: int
    outputs: int


def bits_of(record: SimulationRecord, program: Program) -> Bits:
    """Return the numbers of bits of the rows of inputs and outputs in the run of ``record``."""
    rtl = record.rtl
    if rtl.bits is not None:
        return Bits(0, rtl.bits)  # the inputs are not part of the evidence
    if rtl.face is not None:
        try:
            interface = DesignInterface.from_tree(rtl.face)
        except (KeyError, TypeError, ValueError) as error:
            raise CertificateError(f"the record has no interface of the design ({error!r})") from None
        return Bits(interface.input_bits, interface.output_bits)
    ports = ports_of(program)
    return Bits(ports.input_bits, ports.output_bits)


def chunks(run: Path, bits: Bits) -> Iterator[tuple[int, Words, Words]]:
    """Yield the number of the first row, packed inputs and packed expected outputs of each chunk of ``run``."""
    words = row_words(bits.inputs), row_words(bits.outputs)
    start = 0
    for path in sorted((run / "vectors").glob("*.bin")):
        data = np.fromfile(path, dtype="<u8")
        rows, rest = divmod(data.size, sum(words))
        if rest:
            raise CertificateError(
                f"{str(path)!r} holds {counted(data.size, 'word')}, which is not a multiple of {sum(words)}"
            )
        cut = rows * words[0]
        yield start, data[:cut].reshape(rows, words[0]), data[cut:].reshape(rows, words[1])
        start += rows


@dataclass(frozen=True)
class Sent:
    """A summary of the vectors of a run.

    ``distinct``: the number of different vectors among the first ``rows`` vectors; the vectors after them, which
    exhaust the inputs of some outputs, are not counted. ``digest``: the digest that a simulator must report if the
    outputs of the first ``digested`` of ``total`` vectors are as expected.
    """

    rows: int
    total: int
    distinct: int
    digested: int
    digest: str
    inputs_sha256: str

    @classmethod
    def load(cls, path: Path) -> Sent:
        """Load a summary from the file ``path``. Raises ``InputError`` if it does not hold one."""
        try:
            return converted(read_tree(path), cls)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise CertificateError(f"{str(path)!r} has no valid data on vectors: {error}") from None


def summary(run: Path, bits: Bits, rows: int, digested: int) -> Sent:
    """Return the summary of the vectors of ``run``, of which the first ``rows`` are not exhaustive vectors."""
    inputs, seen, digest, total = hashlib.sha256(), [], 0, 0
    for start, given, expected in chunks(run, bits):
        inputs.update(given.tobytes())
        if start < rows:
            seen.append(np.unique(given, axis=0))
        if start < digested:
            digest ^= digest_of(start, expected, {})
        total = start + len(given)
    distinct = len(np.unique(np.concatenate(seen), axis=0)) if seen else 0
    return Sent(rows, total, distinct, digested, f"{digest:064x}", inputs.hexdigest())
