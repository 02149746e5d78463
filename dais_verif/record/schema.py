"""Make the published JSON schemas of records, one per kind, from the dataclasses.

The schemas are files, so that readers of records do not need dais-verif. ``make schemas`` writes them, and a test fails
if they are out of date.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec

from dais_verif.base.files import write_atomically
from dais_verif.record.approximation import AppliedRecord, ConfigurationsRecord, MeasuredRecord, TunedRecord
from dais_verif.record.base import RunRecord
from dais_verif.record.build import BuildRecord
from dais_verif.record.cache import CacheContents
from dais_verif.record.campaigns import FuzzRecord, MutationRecord, RegressionRecord, ShrinkRecord
from dais_verif.record.check import CheckRecord
from dais_verif.record.conversion import ConversionRecord
from dais_verif.record.coverage import CoverageRecord
from dais_verif.record.diff import DiffRecord
from dais_verif.record.emission import EmissionRecord
from dais_verif.record.evaluation import EvaluationRecord, ProfileRecord
from dais_verif.record.explanation import CycleRecord
from dais_verif.record.kernel_picture import KernelPicture
from dais_verif.record.kernel_printout import KernelPrintout
from dais_verif.record.kernels import KernelBuild, KernelInfo, KernelListing
from dais_verif.record.page import WrittenPage
from dais_verif.record.proof import ProofRecord
from dais_verif.record.sensitivity import SensitivityRecord
from dais_verif.record.signoff import CertificateRecord, SignOffRecord
from dais_verif.record.simulation import Failed, SimulationRecord
from dais_verif.record.synthesis import SynthesisRecord

__all__ = ["KINDS", "make_schema", "schema_path"]

#: The record of each kind. The object that any verb prints for an error has the schema of ``result``.
KINDS: dict[str, type[Any]] = {
    "result": SimulationRecord,
    "regression": RegressionRecord,
    "proof": ProofRecord,
    "signoff": SignOffRecord,
    "conversion": ConversionRecord,
    "coverage": CoverageRecord,
    "mutation": MutationRecord,
    "fuzzing": FuzzRecord,
    "shrinking": ShrinkRecord,
    "configurations": ConfigurationsRecord,
    "approx-apply": AppliedRecord,
    "approx-measure": MeasuredRecord,
    "approx-tune": TunedRecord,
    "build": BuildRecord,
    "cache": CacheContents,
    "check": CheckRecord,
    "diff": DiffRecord,
    "emit": EmissionRecord,
    "explain": CycleRecord,
    "kernel-build": KernelBuild,
    "kernel-list": KernelListing,
    "kernel-picture": KernelPicture,
    "kernel-show": KernelInfo,
    "printout": KernelPrintout,
    "profile": ProfileRecord,
    "report": WrittenPage,
    "run": EvaluationRecord,
    "sensitivity": SensitivityRecord,
    "synth": SynthesisRecord,
    "verify-cert": CertificateRecord,
}


#: Published names of definitions whose classes were renamed later.
_PUBLISHED = {
    "SimulationRecord": "Record",
    "RegressionRecord": "Regression",
    "SignOffRecord": "SignOff",
    **{name: f"{name}Record" for name in ("Claim", "Confirmation", "Counterexample", "Handshake", "Replay", "Sample")},
}

#: Enumerations that are published as text: later versions may add to them.
_AS_TEXT = ("Method", "Status")


def schema_path(kind: str) -> Path:
    """Return the file with the schema of ``kind``."""
    return Path(__file__).parent / "schemas" / f"{kind}.json"


def make_schema(kind: str) -> str:
    """Return the current schema of ``kind`` (JSON Schema 2020-12)."""
    types = (KINDS[kind], *([Failed] if kind == "result" else []))
    name = KINDS[kind].SCHEMA
    references, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for record, reference in zip(types, references, strict=True):
        _add_head(definitions[reference["$ref"].rpartition("/")[2]], record, name)
    tree: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{name.replace('/', ':')}",
        "title": f"{name}: what dais-verif keeps of a run",
    }
    if len(references) == 1:
        tree |= references[0]
    else:  # if a run ended in an error, its record has no program
        tree |= {"if": {"required": ["program"]}, "then": references[0], "else": references[1]}
    definitions = {name: each for name, each in definitions.items() if name not in _AS_TEXT}
    for definition in definitions.values():  # in some Python versions, docstrings keep their indentation
        definition["description"] = " ".join(definition["description"].replace("``", "").split())
    text = json.dumps({**tree, "$defs": definitions}, indent=2) + "\n"
    for name in _AS_TEXT:
        text = text.replace(f'"$ref": "#/$defs/{name}"', '"type": "string"')
    for name, published in _PUBLISHED.items():
        text = text.replace(f'"{name}"', f'"{published}"').replace(f'#/$defs/{name}"', f'#/$defs/{published}"')
    return text


def _add_head(definition: dict[str, Any], record: type[Any], schema: str) -> None:
    """Add the fields that ``record`` has only in its file, remove those that it lacks there. More are allowed."""
    head: dict[str, Any] = {"schema": {"const": schema}}
    if record is Failed or issubclass(record, RunRecord):
        head["exit_code"] = {"type": "integer"}
    for field in fields(record):
        if not field.metadata.get("kept", True):
            definition["properties"].pop(field.name)
        left_out = field.name in getattr(record, "LEFT_OUT_IF_NONE", ()) or not field.metadata.get("kept", True)
        if left_out and field.name in definition.get("required", ()):
            definition["required"].remove(field.name)
    # The section of the documentation about a verdict other than PASS.
    about = {"help": {"type": "string"}} if "verdict" in definition["properties"] else {}
    definition["properties"] = {**head, **about, **definition["properties"]}
    definition["required"] = [*head, *definition.get("required", [])]


if __name__ == "__main__":
    for each in KINDS:
        write_atomically(schema_path(each), make_schema(each).encode())
