"""The records of ``approx apply`` and ``approx measure``: networks under configurations, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.network import FoldedNetwork
from dais_verif.record.program import ProgramInfo

__all__ = ["APPROXIMATION_SCHEMA", "AppliedRecord", "Measured", "MeasuredRecord", "TunedRecord"]

APPROXIMATION_SCHEMA = "dais-verif/approximation/1"


@dataclass(frozen=True, kw_only=True)
class AppliedRecord(RunRecord):
    """A network under a configuration, written into the folder ``output``.

    ``config``: its name, or with commas those of all between which a machine chooses. ``program``: what it became, or
    the machine, which ``folded`` says more of; ``exact_ops``: ops of the network without approximation. ``sha256``: of
    the files of the network and of configurations. ``notes``: what was decided where a knob leaves it open.
    """

    SCHEMA: ClassVar = APPROXIMATION_SCHEMA

    network: str
    configurations: str
    config: str
    sha256: dict[str, str]
    program: ProgramInfo
    exact_ops: int
    output: str
    files: list[str]
    notes: list[str]
    warnings: list[str]
    reproduce: str
    folded: FoldedNetwork | None = None


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A configuration on data.

    ``correct`` of ``total`` samples; ``accuracy`` in percent, and the ``interval`` in which that on all data lies, 95
    times of 100; ``loss``: against the first configuration, in percent.

    ``ops``: of the program. ``speedup``: predicted by the tuner's model from multiply-adds and knobs. ``largest``: of
    all samples and outputs the largest difference to the exact network, and ``bound``: what it cannot exceed for any
    input; ``bounds``: that of each output, and ``reached``: by which some input makes it differ, one of the samples
    unless bounds were sharpened. ``unfinished``: outputs of which the solver did not decide how much of the bound is
    reached. ``cells`` of each kind and ``depth`` in cells: of the network in the form of the record, synthesized;
    ``cycles``: of a machine with memories, from start to done; None if it cannot be one. ``refused``: why it cannot be
    applied; then all else is None.
    """

    name: str
    correct: int | None = None
    total: int | None = None
    accuracy: float | None = None
    interval: list[float] | None = None
    loss: float | None = None
    ops: int | None = None
    speedup: float | None = None
    largest: float | None = None
    bound: float | None = None
    bounds: list[float] | None = None
    reached: list[float] | None = None
    unfinished: list[int] = field(default_factory=list)
    cells: dict[str, int] | None = None
    depth: int | None = None
    cycles: int | None = None
    notes: list[str] = field(default_factory=list)
    refused: str | None = None


@dataclass(frozen=True, kw_only=True)
class MeasuredRecord(RunRecord):
    """All configurations of a file on the samples of ``data``.

    ``budget``: the largest loss that is allowed, in percent; ``chosen``: the fastest configuration within it.
    ``target``: what every configuration was synthesized for, and in which ``form``. ``curves``: names on the curve of
    loss against what is gained: the predicted ``speedup``, ``cycles``, ``LUT`` or ``gate``. ``sharpened``: whether the
    solver was asked for bounds. ``output``: the folder with ``measured.txt``, the file with columns that were measured,
    and a file of the configurations on each curve, with that gain as their speed-up.
    """

    SCHEMA: ClassVar = APPROXIMATION_SCHEMA

    network: str
    configurations: str
    data: str
    sha256: dict[str, str]
    measured: list[Measured]
    budget: str | None
    chosen: str | None
    target: str | None
    form: str
    curves: dict[str, list[str]]
    sharpened: bool
    output: str | None
    warnings: list[str]
    reproduce: str


@dataclass(frozen=True, kw_only=True)
class TunedRecord(RunRecord):
    """A search: ``tried`` configurations were measured, and those worth having written to the file ``output``.

    ``chosen``: the fastest within the ``budget``, with its columns; ``speedup`` is predicted.
    """

    SCHEMA: ClassVar = APPROXIMATION_SCHEMA

    network: str
    data: str
    sha256: dict[str, str]
    tried: int
    chosen: str
    speedup: float
    accuracy: float
    loss: float
    budget: str
    configurations: list[str]
    output: str
    seed: int
    reproduce: str
