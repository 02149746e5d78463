"""What a case is about: which opcodes are left in it, so that two cases of the same cause are kept once."""

from __future__ import annotations

from dais_verif.fuzzing.case import Case
from dais_verif.program.opcodes import INPUT, Code

__all__ = ["opcodes_of"]


def opcodes_of(case: Case) -> tuple[str, ...]:
    """Mnemonics of the ops of ``case`` that compute something, or of all if none does; each once, by name."""
    computing = {op.spec.mnemonic for op in case.program.ops if op.code not in (INPUT, Code.CONST)}
    return tuple(sorted(computing or {op.spec.mnemonic for op in case.program.ops}))
