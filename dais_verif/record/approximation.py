"""The records of ``approx apply`` and ``approx measure``: networks under configurations, their accuracy and cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.network import FoldedNetwork
from dais_verif.record.program import ProgramInfo

__all__ = [
    "AppliedRecord",
    "CONFIGURATIONS_SCHEMA",
    "ConfigurationInfo",
    "ConfigurationsRecord",
    "Measured",
    "MeasuredRecord",
    "NodeInfo",
    "OpInfo",
    "TunedRecord",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class AppliedRecord(RunRecord):
    """A network under a configuration, written into the folder ``output``.

    ``config``: the name of the configuration, or the names of all configurations of a machine, separated by commas.
    ``program``: the resulting program, or the resulting machine, which ``folded`` describes. ``exact_ops``: the number
    of ops of the network without approximation. ``sha256``: the hashes of the network's file and of the file of
    configurations. ``notes``: the choices made where a knob leaves them open.
    """

    SCHEMA: ClassVar = "dais-verif/approx-apply/1"

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
    """The measurements of a configuration on data.

    ``correct`` of ``total`` samples are classified correctly; ``accuracy`` is in percent, and ``interval`` is its 95 %
    confidence interval for all data. ``loss``: the loss of accuracy relative to the first configuration, in percent.

    ``ops``: the number of ops of the program. ``speedup``: the speed-up that the tuner's model predicts from
    multiply-adds and knobs. ``largest``: the largest difference from the exact network over all samples and outputs.
    ``bound``: the limit of this difference for any input. ``bounds``: the limit of each output; ``reached``: the
    largest known difference of each output, which a sample causes unless bounds were sharpened. ``unfinished``: outputs
    for which the solver did not decide how much of the bound is reached. ``cells``, ``depth``: the number of cells of
    each kind, and the depth in cells, of the network after synthesis, in the form of the record. ``cycles``: the cycles
    of a machine with memories from start to done; None if the network cannot be such a machine. ``refused``: why the
    configuration cannot be applied; then all other fields are None.
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


@dataclass(frozen=True, kw_only=True, repr=False)
class MeasuredRecord(RunRecord):
    """All configurations of a file on the samples of ``data``.

    ``budget``: the largest allowed loss, in percent; ``chosen``: the fastest configuration within the budget.
    ``target``: the synthesis target of all configurations, which are synthesized in ``form``. ``curves``: for each gain
    (the predicted ``speedup``, ``cycles``, ``LUT`` or ``gate``), the names of the configurations on the curve of loss
    against this gain. ``sharpened``: whether the solver computed bounds. ``output``: the folder with ``measured.txt``,
    which is the file with measured columns, and one file per curve. This file has the configurations on the curve, with
    the gain as their speed-up.
    """

    SCHEMA: ClassVar = "dais-verif/approx-measure/1"

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


@dataclass(frozen=True, kw_only=True, repr=False)
class TunedRecord(RunRecord):
    """A search: ``tried`` configurations were measured, and the useful ones were written to the file ``output``.

    ``chosen``: the fastest configuration within the ``budget``. ``speedup``, ``accuracy``, ``loss``: those of the
    chosen configuration; the speed-up is predicted.
    """

    SCHEMA: ClassVar = "dais-verif/approx-tune/1"

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


# The record of ``approx show`` and ``approx convert``: the configurations of a file, and the converted file.


CONFIGURATIONS_SCHEMA = "dais-verif/configurations/1"


@dataclass(frozen=True, kw_only=True)
class OpInfo:
    """An op with the name and the number of its knob, as in the file. ``half``: the op computes in binary16.

    ``skips``: rows, columns or filter; None: nothing is skipped.
    """

    op: str
    approximation: str
    knob: int
    half: bool
    skips: str | None


@dataclass(frozen=True, kw_only=True)
class NodeInfo:
    """A fused node."""

    id: int
    device: str
    ops: list[OpInfo]


@dataclass(frozen=True, kw_only=True)
class ConfigurationInfo:
    """A configuration. ``line``: the line of its header, from 1. ``on_curve``: whether HPVM's runtime keeps it."""

    name: str
    line: int
    speedup: float
    energy: float
    accuracy: float
    loss: float
    extra: list[float]
    on_curve: bool
    nodes: list[NodeInfo]

    @property
    def n_ops(self) -> int:
        """The number of ops of all nodes."""
        return sum(len(node.ops) for node in self.nodes)

    @property
    def n_half(self) -> int:
        """The number of ops that compute in half precision."""
        return sum(op.half for node in self.nodes for op in node.ops)

    @property
    def skipping(self) -> list[tuple[int, OpInfo]]:
        """The ops that skip computations, each with the id of its node."""
        return [(node.id, op) for node in self.nodes for op in node.ops if op.skips]


@dataclass(frozen=True, kw_only=True, repr=False)
class ConfigurationsRecord(RunRecord):
    """The configurations of the file ``path``: all ``total`` of them, or only those on the ``curve``.

    ``curve``: the names of the configurations that HPVM's runtime keeps, in the order of their losses. ``knobs``: the
    meaning of each knob number that occurs. ``output``: the written file, if any. ``changes``: the differences between
    the read and the written file; empty if both are the same, byte for byte.
    """

    SCHEMA: ClassVar = CONFIGURATIONS_SCHEMA

    path: str
    baseline: float | None
    total: int
    curve: list[str]
    configurations: list[ConfigurationInfo]
    knobs: dict[int, str]
    output: str | None
    changes: list[str]
    warnings: list[str]
    reproduce: str
