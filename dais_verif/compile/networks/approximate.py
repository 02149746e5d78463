"""Apply a configuration to a network: check that the file fits the network, and give each op its knob."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dais_verif.compile.approximation import ConfigurationFile, Knob
from dais_verif.compile.approximation.columns import require_fit
from dais_verif.compile.networks.graph import FusedNode, fuse
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.compile.networks.model import Network
from dais_verif.compile.networks.reading import parse

__all__ = ["Approximated", "approximate"]


@dataclass(frozen=True)
class Approximated:
    """A network under the configuration ``name``. ``notes``: choices that the knobs left open.

    ``applied``: the knobs of each operator, by the tensor that the operator writes.
    """

    name: str
    network: Network
    notes: tuple[str, ...]
    applied: Mapping[str, Applied]


def approximate(
    network: bytes | Network,
    file: ConfigurationFile,
    name: str,
    *,
    inputs: Mapping[str, tuple[int, int, int]] | None = None,
    grid: int | None = None,
) -> Approximated:
    """Return a network under configuration ``name`` of ``file``.

    ``network``: the exact network, or the bytes of an ONNX file, with the types of its ``inputs``. ``grid``: fractional
    bits of weights that are scaled by a factor such as 4/3; None: 2 more than before scaling. Raises
    ``ConfigurationError`` with the line if the configuration is not for this network, ``NetworkError`` with node and
    reason if a knob cannot be applied.
    """
    exact = parse(network, inputs=inputs) if isinstance(network, bytes) else network
    fused = fuse(exact)
    one = file[name]
    numbered = [node for node in fused if node.number is not None]
    require_fit(file, one, [[op.op for op in node.ops] for node in numbered])
    nodes: dict[str, Applied] = {}
    for node, said in zip(numbered, one.nodes, strict=True):
        nodes |= _of_node(node, [op.applied(file.knobs) for op in said.ops])
    approximation = Approximation(nodes, grid)
    return Approximated(name, exact.under(approximation), tuple(approximation.notes), nodes)


def _of_node(node: FusedNode, knobs: list[Knob]) -> dict[str, Applied]:
    """Return the knobs of operators, by output; a bias that is an input of a layer is under the layer's output."""
    found: dict[str, Applied] = {}
    for op, knob in zip(node.ops, knobs, strict=True):
        before = found.get(op.output)
        found[op.output] = Applied(knob) if before is None else Applied(before.first, knob)
    return found
