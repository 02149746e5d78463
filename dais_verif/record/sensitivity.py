"""The record of ``sensitivity``: the effect of flipped bits on the outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo

__all__ = ["FlipCounts", "FlipEffect", "FlippedBit", "LeftOut", "SensitivityRecord"]


@dataclass(frozen=True)
class FlippedBit:
    """A bit of an op's value; bit 0 is the least significant."""

    op: int
    mnemonic: str
    type: str
    bit: int


@dataclass(frozen=True)
class FlipEffect(FlippedBit):
    """The effect of flipping a bit, as text of exact real values. ``changed``: the number of vectors with a change.

    ``output``, ``vector``: where the change ``worst`` occurs; None if nothing changed.
    """

    worst: str
    mean: str
    changed: int
    output: int | None
    vector: int | None


@dataclass(frozen=True)
class LeftOut:
    """The numbers of flips and vectors that were skipped for lack of time."""

    flips: int
    vectors: int


@dataclass(frozen=True)
class FlipCounts:
    """The numbers of bits that ``matter``, that are ``silent`` in these vectors, and that are always ``dead``."""

    matter: int
    silent: int
    dead: int


@dataclass(frozen=True, kw_only=True, repr=False)
class SensitivityRecord(RunRecord):
    """A run of ``sensitivity``. ``effects``: the worst one first. ``dead``: the bits on which no output depends."""

    SCHEMA: ClassVar = "dais-verif/sensitivity/1"

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
