"""Conversion of programs between the dialects DAIS and ALIR, without a change of their function.

``raising`` makes ALIR of DAIS, ``lowering`` DAIS of ALIR; ``lookups`` and ``spelling`` see to what JSON can say of a
type and of a table; ``kept`` is what a binary holds that ALIR has no place for.
"""

from __future__ import annotations

from dais_verif.program.conversion.kept import as_it_was, notes_of
from dais_verif.program.conversion.lowering import to_dais
from dais_verif.program.conversion.raising import to_alir
from dais_verif.program.model import Program

__all__ = ["as_it_was", "notes_of", "to_alir", "to_da4ml", "to_dais"]


def to_da4ml(program: Program) -> Program:
    """Return an equivalent DAIS program that da4ml's JSON can express.

    It has an interval for every op, and that of a lookup's operand begins where its table does. Raises ``InputError``
    that names the op for what it cannot say.
    """
    return to_dais(to_alir(program), keep_windows=True)
