"""Conversion of programs between the dialects DAIS and ALIR, without a change of their function.

``raising`` converts DAIS to ALIR, ``lowering`` ALIR to DAIS. ``lookups`` and ``spelling`` adapt tables and types to
JSON. ``kept`` stores the parts of a binary that ALIR cannot represent.
"""

from __future__ import annotations

from dais_verif.spec.program.conversion.lowering import to_dais
from dais_verif.spec.program.conversion.notes import as_it_was, notes_of
from dais_verif.spec.program.conversion.raising import to_alir
from dais_verif.spec.program.model import Program

__all__ = ["as_it_was", "notes_of", "to_alir", "to_da4ml", "to_dais"]


def to_da4ml(program: Program) -> Program:
    """Return an equivalent DAIS program that da4ml's JSON can express.

    The result has an interval for every op, and the interval of a lookup's operand begins where the table begins.
    Raises ``InputError``, which names the op, if there is no such program.
    """
    return to_dais(to_alir(program), keep_windows=True)
