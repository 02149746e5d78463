"""Read programs in JSON, plain or gzip, and detect their dialect: da4ml's DAIS or alkaid's ALIR.

Opcode -2 is ``relu(-x)`` in DAIS and ``-x`` in ALIR, so a file of unknown dialect is refused.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from dais_verif.errors import ProgramError
from dais_verif.program import alir_json, da4ml_json
from dais_verif.program.checks import validate
from dais_verif.program.gzipped import beginning, is_gzip, unpacked
from dais_verif.program.model import Origin, Program

__all__ = ["JSON_LAYOUTS", "looks_like_json", "read_json"]

#: The values of ``--layout`` for JSON files: da4ml's and alkaid's.
JSON_LAYOUTS = ("json", "alir")


def looks_like_json(data: bytes) -> bool:
    """Return True if ``data`` begins like a JSON list or object, or is gzip of such a text.

    A binary with 91 inputs begins with ``[``, too, but its first word contains a 0 byte, which JSON text never does.
    """
    if is_gzip(data):
        data = beginning(data)
    return data[:64].lstrip()[:1] in (b"[", b"{") and b"\0" not in data[:4]


def read_json(data: bytes, layout: str | None = None) -> Program:
    """Return the valid program in ``data``; ``layout``: ``json`` or ``alir`` overrides detection.

    Raises ``ProgramError`` if ``data`` does not hold a valid program, or if its dialect is unknown.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        tree = json.loads(unpacked(data) if is_gzip(data) else data)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"JSON: {error}; the file is damaged or not a program") from None
    if (layout or _dialect(tree)) == "alir":
        program = alir_json.program_of(tree, Origin("alir", file_sha256=sha256))
    else:
        program = da4ml_json.program_of(tree, Origin("json", file_sha256=sha256))
    validate(program)
    return program


def _dialect(tree: Any) -> str:
    """Return ``json`` for da4ml's bare list, ``alir`` for alkaid's files. Raises ``ProgramError`` if ambiguous."""
    if isinstance(tree, list):
        if alir_json.has_alir_records(tree):
            raise ProgramError.of(
                "JSON: a bare list, as da4ml writes DAIS, whose ops are records of ALIR (spec 3 or 4), where opcode "
                "-2 has another meaning; {layout} alir reads it as ALIR, {layout} json as DAIS"
            )
        return "json"
    if isinstance(tree, dict) and tree.get("meta") == "DAISModel" and "spec_version" not in tree:
        raise ProgramError.of(
            "JSON: meta is DAISModel without a spec_version: opcode -2 is relu(-x) if it is da4ml's DAIS, and -x if "
            "it is an early ALIR; {layout} json reads it as DAIS, {layout} alir as ALIR"
        )
    return "alir"
