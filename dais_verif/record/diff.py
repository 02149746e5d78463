"""The record of ``diff``: whether two programs compute the same, and their first difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo

__all__ = [
    "DiffRecord",
    "DifferentOp",
    "EqualityProof",
    "FrameInfo",
    "FrameValue",
    "OpDifference",
    "OutputDifference",
    "TypedValue",
]


@dataclass(frozen=True)
class DifferentOp:
    """The first op that differs between the programs, as text; None if a program has no such op."""

    op: int
    a: str | None
    b: str | None


@dataclass(frozen=True)
class TypedValue:
    """An exact value as decimal text, and its type."""

    real: str
    type: str


@dataclass(frozen=True)
class OpDifference:
    """The first op whose values differ."""

    op: int
    mnemonic: str
    a: TypedValue
    b: TypedValue


@dataclass(frozen=True)
class OutputDifference:
    """The first vector and output that differ.

    ``inputs``: the first differing vector. ``witness``: a reduced vector with the same difference, with more zeros and
    shorter numbers. ``a``, ``b``: the values of the output for the witness. ``op``: the first op whose values differ;
    None if the programs have different ops.
    """

    vector: int
    inputs: list[str]
    witness: list[str]
    output: int
    a: TypedValue
    b: TypedValue
    op: OpDifference | None


@dataclass(frozen=True)
class EqualityProof:
    """The result of an equivalence proof. ``merged_ops``: how many ops of B equal an op of A, by ``methods``."""

    proved: list[int]
    undecided: list[int]
    merged_ops: int
    methods: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class FrameValue:
    """An element of ``signal`` in ``cycle`` (None: at the start of the frame), and its exact ``value``."""

    signal: str
    cycle: int | None
    value: str


@dataclass(frozen=True)
class FrameInfo:
    """The comparison of a machine over the ``cycles`` of every frame, as a program with ``ops`` ops.

    ``restored``: elements of registers that have their power-up value at the start of every frame. ``free``: state on
    which outputs may depend in addition to the frame's inputs. ``stalled``: whether a stall was shown to change
    nothing; ``reset``: whether a frame was shown to be able to begin after a reset at any time. ``frame``: the frame in
    which the witness shows a difference; 0 is the first frame from power-up; None: a frame that starts in another
    state. ``witness``: the nonzero inputs of the witness by cycle, which is counted from power-up, or from the start of
    the frame if ``frame`` is None. ``output``: the output that differs. ``sha256``: the hash of the file that defines a
    frame. ``assumed``: the assumptions of the equality that were not proved.
    """

    cycles: int
    ops: int
    free: list[str]
    restored: list[str]
    stalled: bool
    frame: int | None = None
    witness: list[FrameValue] | None = None
    output: FrameValue | None = None
    reset: bool = False
    sha256: str = ""
    assumed: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, repr=False)
class DiffRecord(RunRecord):
    """A run of ``diff``. ``identical``: A and B are the same program. ``vectors``, ``bits_compared``: numbers compared.

    ``frame``: the comparison of frames, if A is a machine. ``replay``: the command that shows the difference again,
    using the written file; None if there is none.
    """

    SCHEMA: ClassVar = "dais-verif/diff/1"

    a: ProgramInfo
    b: ProgramInfo
    identical: bool
    first_different_op: DifferentOp | None
    seed: int
    vectors: int
    unchecked: bool
    engine: str
    bits_compared: int
    differing_vectors: int
    difference: OutputDifference | None
    proof: EqualityProof | None
    replay: str | None
    warnings: list[str]
    reproduce: str
    frame: FrameInfo | None = None
