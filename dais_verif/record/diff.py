"""The record of ``diff``: whether two programs compute the same, and where they first differ."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    """The first op that is not the same in both, in words; None where a program has no such op."""

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

    ``inputs``: that vector; ``witness``: one that shows the same with as many zeros and short numbers as were found.
    ``a``, ``b``: the output on the witness. ``op``: None where the programs have different ops.
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
    """The result of an equivalence proof. ``merged_ops``: ops of B that equal one of A, by ``methods``."""

    proved: list[int]
    undecided: list[int]
    merged_ops: int
    methods: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class FrameValue:
    """An element, ``signal``, in ``cycle``, and its exact ``value``. ``cycle`` None: at the begin of the frame."""

    signal: str
    cycle: int | None
    value: str


@dataclass(frozen=True)
class FrameInfo:
    """The comparison of a machine: over ``cycles`` of every frame, as a program of ``ops``.

    ``restored``: elements of registers that hold at the begin of every frame what they hold at power-up. ``free``: what
    the outputs may depend on beyond the frame's inputs. ``stalled``: whether it was shown that a stall changes nothing;
    ``reset``: that after a reset, whenever it comes, a frame can begin.
    ``frame``: the one that the witness of a difference is of, 0 the first from power-up; None for one from another
    state. ``witness``: what of it is not 0, inputs by cycles, which count from power-up, or from the begin of the frame
    if ``frame`` is None; ``output``: where it shows. ``sha256``: of the file that says what a frame is.
    ``assumed``: what equality rests on beside what was proved, in words.
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
    """A run of ``diff``. ``identical``: it is the same program. ``vectors``: compared, of ``bits_compared`` bits.

    ``frame``: if A is a machine. ``replay``: the command that shows the difference again from the file that was
    written, if one was.
    """

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
