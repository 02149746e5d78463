"""Make the published JSON schemas of records, one per kind, from the dataclasses.

The schemas are files, so that readers of records do not need dais-verif. ``make schemas`` writes them, and a test fails
if they are out of date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from dais_verif.files import write_atomically
from dais_verif.record.approximation import APPROXIMATION_SCHEMA, AppliedRecord, MeasuredRecord, TunedRecord
from dais_verif.record.base import SCHEMA
from dais_verif.record.campaigns.mutation import MUTATION_SCHEMA, MutationRecord
from dais_verif.record.configurations import CONFIGURATIONS_SCHEMA, ConfigurationsRecord
from dais_verif.record.conversion import CONVERSION_SCHEMA, ConversionRecord
from dais_verif.record.coverage import COVERAGE_SCHEMA, CoverageRecord
from dais_verif.record.fuzzing import FUZZING_SCHEMA, SHRINKING_SCHEMA, FuzzRecord, ShrinkRecord
from dais_verif.record.proof import PROOF_SCHEMA, ProofRecord
from dais_verif.record.regression import REGRESSION_SCHEMA, RegressionRecord
from dais_verif.record.signoff import SIGNOFF_SCHEMA, SignOffRecord
from dais_verif.record.simulation import Failed, SimulationRecord

__all__ = ["KINDS", "make_schema", "schema_path"]

KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "result": (SCHEMA, (SimulationRecord, Failed)),
    "regression": (REGRESSION_SCHEMA, (RegressionRecord,)),
    "proof": (PROOF_SCHEMA, (ProofRecord,)),
    "signoff": (SIGNOFF_SCHEMA, (SignOffRecord,)),
    "conversion": (CONVERSION_SCHEMA, (ConversionRecord,)),
    "approximation": (APPROXIMATION_SCHEMA, (AppliedRecord, MeasuredRecord, TunedRecord)),
    "coverage": (COVERAGE_SCHEMA, (CoverageRecord,)),
    "mutation": (MUTATION_SCHEMA, (MutationRecord,)),
    "fuzzing": (FUZZING_SCHEMA, (FuzzRecord,)),
    "shrinking": (SHRINKING_SCHEMA, (ShrinkRecord,)),
    "configurations": (CONFIGURATIONS_SCHEMA, (ConfigurationsRecord,)),
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
    name, types = KINDS[kind]
    references, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for reference in references:
        _add_head(definitions[reference["$ref"].rpartition("/")[2]], name)
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


def _add_head(definition: dict[str, Any], schema: str) -> None:
    """Add the fields that a record has only in its file. Readers must accept additional fields."""
    head = {"schema": {"const": schema}, "exit_code": {"type": "integer"}}
    # The section of the documentation about a verdict other than PASS.
    about = {"help": {"type": "string"}} if "verdict" in definition["properties"] else {}
    definition["properties"] = {**head, **about, **definition["properties"]}
    definition["required"] = [*head, *definition["required"]]


if __name__ == "__main__":
    for each in KINDS:
        write_atomically(schema_path(each), make_schema(each).encode())
