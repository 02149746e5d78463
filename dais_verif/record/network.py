"""The parts of a network, which is unrolled or folded to a machine, for records and listings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict

__all__ = ["FoldedNetwork", "FoldedStage", "NetworkInfo", "NetworkNode", "NetworkTensor", "ProvedSetting"]


@dataclass(frozen=True)
class NetworkTensor:
    """A computed tensor: its name, its sizes, and the smallest type that holds its elements."""

    name: str
    shape: list[int]
    type: str

    @property
    def columns(self) -> tuple[str, str, str]:
        """The name, type and sizes of the tensor, as text."""
        return self.name, self.type, "x".join(map(str, self.shape)) or "one"


@dataclass(frozen=True)
class NetworkNode:
    """A node of the network's file. ``fused``: the number of its HPVM node; None if the node computes nothing.

    ``reads``: the names of the computed tensors that the node reads. ``writes``: the tensor that it computes.
    """

    name: str
    op: str
    fused: int | None
    reads: list[str]
    writes: NetworkTensor


@dataclass(frozen=True)
class NetworkInfo:
    """The inputs, computing nodes and output names of a network. ``fused``: the ops of each HPVM node, from node 1 on.

    ``cost``: the number of multiply-adds of all layers. ``steps``: the multiplications, comparisons, roundings and
    elements of inputs of the unrolled program. ``unrolls``: False if these are too many for a program.
    """

    inputs: list[NetworkTensor]
    nodes: list[NetworkNode]
    outputs: list[str]
    fused: list[list[str]]
    cost: int
    steps: int = 0
    unrolls: bool = True

    def text(self) -> str:
        """Return the network as text in columns, with one line per node."""
        lines = [f"inputs ({len(self.inputs)})", *_columns([one.columns for one in self.inputs])]
        lines.append(f"nodes ({len(self.nodes)}, {self.cost} multiply-adds)")
        lines += _columns(
            [
                (str(one.fused or "-"), one.name, one.op, ", ".join(one.reads), "->", *one.writes.columns)
                for one in self.nodes
            ]
        )
        lines.append(f"outputs ({len(self.outputs)})")
        lines += [f"  {name}" for name in self.outputs]
        lines.append(f"fused nodes ({len(self.fused)})")
        lines += _columns([(str(number), " + ".join(ops)) for number, ops in enumerate(self.fused, 1)])
        lines.append(f"unrolled: {counted(self.steps, 'step')}{'' if self.unrolls else ', too many for a program'}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class FoldedStage:
    """A kernel of a network. ``fused``: the number of its HPVM node, if any. ``ops``: the number of ops of one member.

    ``cycles``: the cycles from the start of this stage to the start of the next; for a stream, the output beats of this
    stage per image. ``configurations``: the names of the configurations in which the stage runs.
    """

    name: str
    fused: int | None
    members: int
    ops: int
    cycles: int
    configurations: list[str]


@dataclass(frozen=True)
class FoldedNetwork:
    """A network as a machine, in a folder.

    ``configurations``: the cycles of each configuration from start to done, in the order of input ``config``; for a
    stream, the cycles from the first beat of an image to the last beat of its result, if no image follows.
    ``parallel``: the most members of a stage that run in parallel. ``words``, ``bits``: the size of all memories; for a
    stream, ``bits`` is the size of its buffers.
    """

    form: str
    folder: str
    files: list[str]
    configurations: dict[str, int]
    parallel: int
    stages: list[FoldedStage]
    words: int
    bits: int

    @property
    def ops(self) -> int:
        """The number of ops of one member of each stage, in total."""
        return sum(one.ops for one in self.stages)


@dataclass(frozen=True)
class ProvedSetting:
    """The result of the proof of the configuration ``name`` of a folded network.

    ``frame``: the verdict of the proof that the machine equals all members in parallel, in every frame that begins in
    this configuration. ``network``: the verdict of the proof that all members equal the unrolled network. Each verdict
    has a message, and is NOT_RUN if this step was not reached.
    """

    name: str
    cycles: int
    frame: Verdict = Verdict.NOT_RUN
    frame_message: str = "not checked"
    network: Verdict = Verdict.NOT_RUN
    network_message: str = "not checked"


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return ``rows`` as aligned columns; long cells are cut."""
    short = [[word if len(word) <= 40 else f"{word[:37]}..." for word in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*short, strict=True)]
    return ["  " + "  ".join(w.ljust(n) for w, n in zip(row, widths, strict=True)).rstrip() for row in short]
