"""The cause of a case, the opcodes left in it: of several cases with the same cause, only one is kept."""

from __future__ import annotations

from dais_verif.fuzzing.case import Case
from dais_verif.program.opcodes import INPUT, Code

__all__ = ["opcodes_of"]


def opcodes_of(case: Case) -> tuple[str, ...]:
    """Return the sorted mnemonics of all ops of ``case`` that compute something; of all ops if none does."""
    computing = {op.spec.mnemonic for op in case.program.ops if op.code not in (INPUT, Code.CONST)}
    return tuple(sorted(computing or {op.spec.mnemonic for op in case.program.ops}))
