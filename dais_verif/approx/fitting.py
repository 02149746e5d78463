"""Check that a configuration matches a network: node by node, the same operations in the same order."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.approx.model import Configuration, ConfigurationFile
from dais_verif.approx.problems import error_at
from dais_verif.counts import counted

__all__ = ["require_fit"]

#: The maximum number of operations that an error lists.
_SHOWN = 12


def require_fit(file: ConfigurationFile, one: Configuration, network: Sequence[Sequence[str]]) -> None:
    """Raise ``ConfigurationError`` unless ``one`` of ``file`` fits ``network``, the operations of each fused node.

    HPVM numbers nodes 1, 2, 3, ... in the order of the program, and looks them up by these numbers.
    """
    for at, (node, theirs) in enumerate(zip(one.nodes, network, strict=False), 1):
        if node.id != at:
            problem = f"nodes must be numbered 1, 2, 3, ...; node {at} is expected here"
            raise error_at(file.name, node.line, str(node.id), problem)
        ours = [op.op for op in node.ops]
        if ours != list(theirs):
            problem = f"node {at} of {one.name!r} is {_listed(ours)}; that of the network is {_listed(theirs)}"
            raise error_at(file.name, node.line, None, problem)
    if len(one.nodes) != len(network):
        many = f"{one.name!r} has {counted(len(one.nodes), 'node')}, the network has {counted(len(network), 'node')}"
        if len(one.nodes) < len(network):
            more = f"node {len(one.nodes) + 1}, {_listed(network[len(one.nodes)])}, is missing"
            raise error_at(file.name, one.line, None, f"{many}: {more}")
        node = one.nodes[len(network)]
        problem = f"{many}: node {node.id}, {_listed([op.op for op in node.ops])}, is not in the network"
        raise error_at(file.name, node.line, None, problem)


def _listed(ops: Sequence[str]) -> str:
    shown = " + ".join(op[:40] for op in ops[:_SHOWN])
    return f"{shown} + ..." if len(ops) > _SHOWN else shown or "empty"
