"""What a network consists of, as records and listings say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["NetworkInfo", "NetworkNode", "NetworkTensor"]


@dataclass(frozen=True)
class NetworkTensor:
    """A computed tensor: its name, sizes, and the smallest type that holds its elements."""

    name: str
    shape: list[int]
    type: str

    @property
    def columns(self) -> tuple[str, str, str]:
        """Its name, type and sizes as text."""
        return self.name, self.type, "x".join(map(str, self.shape)) or "one"


@dataclass(frozen=True)
class NetworkNode:
    """A node of the file. ``fused``: the number of HPVM's node that it belongs to; None if it computes nothing.

    ``reads``: computed tensors, by name. ``writes``: its result.
    """

    name: str
    op: str
    fused: int | None
    reads: list[str]
    writes: NetworkTensor


@dataclass(frozen=True)
class NetworkInfo:
    """Inputs, nodes that compute something, outputs by name. ``fused``: ops of HPVM's nodes, the first of number 1.

    ``cost``: multiply-adds of all layers.
    """

    inputs: list[NetworkTensor]
    nodes: list[NetworkNode]
    outputs: list[str]
    fused: list[list[str]]
    cost: int

    def text(self) -> str:
        """Return all of it in columns, a line each node."""
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
        return "\n".join(lines) + "\n"


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """``rows`` with their words below each other; long ones are cut."""
    short = [[word if len(word) <= 40 else f"{word[:37]}..." for word in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*short, strict=True)]
    return ["  " + "  ".join(w.ljust(n) for w, n in zip(row, widths, strict=True)).rstrip() for row in short]
