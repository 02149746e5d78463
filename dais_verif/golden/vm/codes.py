"""The operation of an instruction: its code, and the compiled form that instructions of the same shape share."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from dais_verif.program import FixedType

__all__ = ["OUTPUT", "ForwardForm", "Pull", "PullForm"]

#: Code of a forward instruction that delivers an output; all other instructions have the codes of the opcode table.
OUTPUT = 100


class Pull(IntEnum):
    """Codes of the pullback. Each instruction adds one contribution to a gradient."""

    #: The gradient of an output, given by the caller: ``±g * 2**shift``.
    SEED = 0
    #: Operand of a sum, difference or negation: ``±g * 2**shift``.
    SHIFT = 1
    #: Operand of a relu: ``±g`` where its (negated) value was positive, else 0.
    GATE = 2
    #: First arm of a mux: ``g`` where the condition's MSB was 1, else 0.
    FIRST = 3
    #: Second arm of a mux: ``±g * 2**shift`` where the condition's MSB was 0, else 0.
    SECOND = 4
    #: Operand of a product: ``g`` times the value of the other operand.
    MUL = 5
    #: An input that an ``input`` op reads: ``g * 2**shift``.
    GRAD = 6


class ForwardForm(NamedTuple):
    """The computation of ops of one shape, in Python integers if ``wide``, else int64. ``op``: the first such op."""

    op: int
    wide: bool


class PullForm(NamedTuple):
    """The effect of a pullback instruction on ``g``; ``kind`` is the type of the saved value that it reads."""

    code: Pull
    shift: int = 0
    negated: bool = False
    kind: FixedType | None = None
