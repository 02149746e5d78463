"""Read records, which ``--json`` prints and ``-o`` keeps in files, back into their dataclasses.

Additional fields, which later versions may write, are ignored; any other deviation from the published schema is
refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from dais_verif.base.errors import RecordError
from dais_verif.base.files import read_plain
from dais_verif.base.structs import converted
from dais_verif.record.base import SCHEMA
from dais_verif.record.campaigns import REGRESSION_SCHEMA, RegressionRecord
from dais_verif.record.coverage import COVERAGE_SCHEMA, Coverage, CoverageRecord
from dais_verif.record.proof import PROOF_SCHEMA, ProofRecord
from dais_verif.record.signoff import SIGNOFF_SCHEMA, SignOffRecord
from dais_verif.record.simulation import Failed, SimulationRecord

__all__ = ["NAMES", "REGRESSION_NAME", "SIGNOFF_NAME", "AnyRecord", "parse_record", "read_record", "record_file"]

AnyRecord: TypeAlias = SimulationRecord | Failed | RegressionRecord | SignOffRecord | ProofRecord | CoverageRecord

#: The file of the record in the folder of a sign-off.
SIGNOFF_NAME = "signoff.json"

#: The file of the record in the folder of a regression.
REGRESSION_NAME = "regression.json"

#: Files of records that runs write into the folder of ``-o``. The first file found is the record of the folder.
NAMES = (SIGNOFF_NAME, REGRESSION_NAME, "result.json", "coverage.json")

#: The largest size of a record, in bytes. The record of a million ops with full coverage takes a tenth of this.
_MOST_BYTES = 256 << 20

_KINDS: dict[str, type[AnyRecord]] = {
    SCHEMA: SimulationRecord,
    REGRESSION_SCHEMA: RegressionRecord,
    SIGNOFF_SCHEMA: SignOffRecord,
    PROOF_SCHEMA: ProofRecord,
    COVERAGE_SCHEMA: CoverageRecord,
}

#: The schema of a record of any verb.
_OURS = re.compile(r"dais-verif/[a-z-]+/1")


def record_file(path: str | Path) -> Path:
    """Return ``path``, or the record in it if it is a folder. Raises ``InputError`` if the folder has no record."""
    path = Path(path)
    if not path.is_dir():
        return path
    there = [path / name for name in NAMES if (path / name).is_file()]
    if not there:
        raise RecordError(f"{str(path)!r} holds no record of a run: none of {', '.join(NAMES)}")
    return there[0]


def read_record(path: str | Path) -> AnyRecord:
    """Read the record in a file or in the folder of a run. Raises ``InputError`` if there is no record."""
    path = record_file(path)
    return parse_record(read_plain(path, _MOST_BYTES, advice="give the record of a run (-o, --json)"), str(path))


def parse_record(data: bytes, name: str) -> AnyRecord:
    """Parse ``data`` as a record. Raises ``InputError`` with ``name`` and the field if it is not a record."""
    try:
        tree = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"{name} is not a record of a run: it is not JSON ({error})") from None
    schema = tree.get("schema") if isinstance(tree, dict) else None
    other = isinstance(schema, str) and schema not in _KINDS and _OURS.fullmatch(schema)
    # Earlier versions gave records of other verbs the same schema.
    earlier = schema == SCHEMA and not set(tree) <= Failed.FIELDS and "simulators" not in tree
    if other or earlier:
        raise RecordError(
            f"{name} is a record of a verb that has no page, such as check, diff or synth;"
            " give that of sim, hil, prove, coverage, regress or signoff"
        )
    if not isinstance(schema, str) or schema not in _KINDS:
        raise RecordError(
            f"{name} is not a record of a run: its schema must be one of {', '.join(_KINDS)}, not {schema!r}"
        )
    kind = Failed if schema == SCHEMA and set(tree) <= Failed.FIELDS else _KINDS[schema]
    return _convert(tree, kind, name)


#: A number by which a page can divide.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1 << 60)]
_Counts: TypeAlias = Annotated[list[_Count], msgspec.Meta(min_length=3, max_length=3)]


def _require_shapes(record: AnyRecord) -> None:
    """Raise ``msgspec.ValidationError`` for invalid content that the types of a record allow."""
    coverage: Coverage | None = getattr(record, "coverage", None)
    if isinstance(coverage, Coverage):
        for group in coverage.groups:
            _within([group.bins, group.hit, group.unreachable], _Counts, "coverage.groups")
        _within(coverage.ops, list[_Counts], "coverage.ops")
        _within(coverage.outputs, list[_Counts], "coverage.outputs")


def _within(tree: object, kind: Any, where: str) -> None:
    try:
        converted(tree, kind)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(f"{where}: {error}") from None


def _convert(tree: Any, kind: type[AnyRecord], name: str) -> AnyRecord:
    try:
        record: AnyRecord = converted(tree, kind, str_keys=True)
        _require_shapes(record)
    except msgspec.ValidationError as error:
        raise RecordError(f"{name} is not a valid record of schema {tree['schema']}: {error}") from None
    if tree.get("exit_code") != record.verdict.exit_code:
        given, rule = tree.get("exit_code"), f"{record.verdict.exit_code} with {record.verdict.value}"
        raise RecordError(
            f"{name} is not a valid record of schema {tree['schema']}: exit_code is {given!r}, must be {rule}"
        )
    return record
