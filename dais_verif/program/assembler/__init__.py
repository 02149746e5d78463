"""Convert text to programs, the inverse of ``listing``. ``docs/programs.md`` has the grammar."""

from __future__ import annotations

from dais_verif.program.assembler.statements import Labelled, assemble, assemble_labelled

__all__ = ["Labelled", "assemble", "assemble_labelled"]
