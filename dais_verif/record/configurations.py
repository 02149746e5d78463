"""The record of ``approx show`` and ``approx convert``: the configurations of a file, and the converted file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import RunRecord

__all__ = ["CONFIGURATIONS_SCHEMA", "ConfigurationInfo", "ConfigurationsRecord", "NodeInfo", "OpInfo"]

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
