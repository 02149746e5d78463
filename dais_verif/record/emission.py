"""The record of ``emit``: the Verilog of a program or machine, its ports, pipeline and wrapper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.record.base import NOT_KEPT, Record
from dais_verif.record.network import FoldedNetwork
from dais_verif.record.program import ProgramInfo

__all__ = ["EmissionRecord", "PipelineInfo", "PortElement", "PortElements", "SignalPort", "WrapperFolderInfo"]


@dataclass(frozen=True)
class PortElement:
    """One input or output in its port: bits ``offset`` to ``offset + width - 1``, the lowest of weight ``2**lo``."""

    offset: int
    width: int
    lo: int


@dataclass(frozen=True)
class PortElements:
    """The meaning of the bits of both ports: the place of each input and each output."""

    model_inp: list[PortElement]
    model_out: list[PortElement]


@dataclass(frozen=True)
class SignalPort:
    """The port of a machine's signal. ``port``: the name in the module. ``direction``: ``input`` or ``output``."""

    signal: str
    port: str
    direction: str
    elements: list[PortElement]


@dataclass(frozen=True)
class PipelineInfo:
    """A pipeline. ``latency``, ``initiation_interval``: in clock edges. ``depths``: that of each stage, in ``unit``."""

    stages: int
    latency: int
    initiation_interval: int
    registers: int
    register_bits: int
    depths: list[float]
    unit: str


@dataclass(frozen=True)
class WrapperFolderInfo:
    """The written folder with a wrapper. ``core_latency``: the latency of the module inside, in clock edges.

    ``signatures``: the required signatures of the self-check in hexadecimal, by number of beats.
    """

    kind: str
    top: str
    folder: str
    files: list[str]
    axil: bool
    core_latency: int
    user_bits: int
    signatures: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class EmissionRecord(Record):
    """The result of ``emit``. ``output``: the written file or folder. ``verilog``: the text of the module; not in JSON.

    ``folded``: the network as a machine in a folder, if a network was folded. ``signals``: the ports of a machine
    except the clock; machines do not have the two ports of program modules.
    """

    SCHEMA: ClassVar = "dais-verif/emit/1"

    LEFT_OUT_IF_NONE: ClassVar = ("signals", "folded")

    program: ProgramInfo
    top: str
    output: str | None
    ports: PortElements
    pipeline: PipelineInfo | None
    wrapped: WrapperFolderInfo | None
    signals: list[SignalPort] | None = None
    folded: FoldedNetwork | None = None
    verilog: str = field(default="", repr=False, compare=False, metadata=NOT_KEPT)
