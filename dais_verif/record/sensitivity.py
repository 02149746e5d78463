"""The record of ``sensitivity``: what flipped bits change at the outputs."""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo

__all__ = ["FlipCounts", "FlipEffect", "FlippedBit", "LeftOut", "SensitivityRecord"]


@dataclass(frozen=True)
class FlippedBit:
    """A bit of an op's value; bit 0 is the last one."""

    op: int
    mnemonic: str
    type: str
    bit: int


@dataclass(frozen=True)
class FlipEffect(FlippedBit):
    """The effect of flipping a bit: exact real values as text. ``changed``: in how many vectors.

    ``output`` and ``vector``: where ``worst`` was seen; None where nothing changed.
    """

    worst: str
    mean: str
    changed: int
    output: int | None
    vector: int | None


@dataclass(frozen=True)
class LeftOut:
    """What was skipped for lack of time."""

    flips: int
    vectors: int


@dataclass(frozen=True)
class FlipCounts:
    """Bits that ``matter``; that are ``silent`` in these vectors; that are ``dead`` in all."""

    matter: int
    silent: int
    dead: int


@dataclass(frozen=True, kw_only=True, repr=False)
class SensitivityRecord(RunRecord):
    """A run of ``sensitivity``. ``effects``: worst first. ``dead``: bits that no output depends on."""

    program: ProgramInfo
    vectors: int
    left_out: LeftOut
    seed: int
    unchecked: bool
    bits: bool
    warnings: list[str]
    count: FlipCounts
    effects: list[FlipEffect]
    dead: list[FlippedBit]
