"""Apply a configuration to a network: each op under its knob, if the file is for this network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dais_verif.approx import ConfigurationFile, Knob
from dais_verif.approx.fitting import require_fit
from dais_verif.networks.graph import FusedNode, fuse
from dais_verif.networks.knobs import Applied, Approximation
from dais_verif.networks.model import Network
from dais_verif.networks.reading import parse

__all__ = ["Approximated", "approximate"]


@dataclass(frozen=True)
class Approximated:
    """A network under the configuration ``name``. ``notes``: decisions that the knobs leave open.

    ``applied``: the knobs of operators, by the tensors that they write.
    """

    name: str
    network: Network
    notes: tuple[str, ...]
    applied: Mapping[str, Applied]


def approximate(
    data: bytes,
    file: ConfigurationFile,
    name: str,
    *,
    inputs: Mapping[str, tuple[int, int, int]] | None = None,
    grid: int | None = None,
) -> Approximated:
    """Return the network in ``data``, the bytes of an ONNX file, under configuration ``name`` of ``file``.

    ``grid``: fractional bits of the weights that are multiplied by 4/3; None: 2 more than they had.
    Raises ``ConfigurationError`` with the line if the configuration is not for this network, ``NetworkError`` for what
    cannot be applied, with node and reason.
    """
    fused = fuse(parse(data, inputs=inputs))
    one = file[name]
    numbered = [node for node in fused if node.number is not None]
    require_fit(file, one, [[op.op for op in node.ops] for node in numbered])
    nodes: dict[str, Applied] = {}
    for node, said in zip(numbered, one.nodes, strict=True):
        nodes |= _of_node(node, [op.applied(file.knobs) for op in said.ops])
    approximation = Approximation(nodes, grid)
    return Approximated(
        name, parse(data, inputs=inputs, approximation=approximation), tuple(approximation.notes), nodes
    )


def _of_node(node: FusedNode, knobs: list[Knob]) -> dict[str, Applied]:
    """Return the approximation of each operator; a bias that is an input of a layer has the output of the layer."""
    found: dict[str, Applied] = {}
    for op, knob in zip(node.ops, knobs, strict=True):
        before = found.get(op.output)
        found[op.output] = Applied(knob) if before is None else Applied(before.first, knob)
    return found
