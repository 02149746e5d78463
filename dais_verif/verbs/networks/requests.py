"""Facts of a network, and the inputs that files of vectors name."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

from dais_verif.base.errors import RequestError
from dais_verif.base.text import printable
from dais_verif.record.network import NetworkInfo, NetworkNode, NetworkTensor
from dais_verif.spec.program.ports import Element, Ports
from dais_verif.stimulus import InputTensor

if TYPE_CHECKING:
    from dais_verif.compile.networks import Network

__all__ = ["info_of", "input_ports", "inputs_of", "require_no_configuration"]


def inputs_of(network: Network) -> list[InputTensor]:
    """Return the inputs of ``network`` as named in files of vectors."""
    found = [network.tensors[name] for name in network.inputs]
    return [InputTensor(one.name, one.shape, one.type) for one in found if one.type is not None]


def info_of(network: Network) -> NetworkInfo:
    """Return the parts of ``network``, without parts computed from constants alone."""
    from dais_verif.compile.networks import fuse

    def tensor(name: str) -> NetworkTensor:
        found = network.tensors[name]
        return NetworkTensor(printable(name), list(found.shape), "real" if found.type is None else str(found.type))

    fused = fuse(network)
    numbers = {output: one.number for one in fused for output in one.outputs}
    computed = {*network.inputs, *numbers}
    nodes = [
        NetworkNode(
            printable(node.name),
            node.op,
            numbers[node.outputs[0]],
            [printable(name) for name in dict.fromkeys(node.inputs) if name in computed],
            tensor(node.outputs[0]),
        )
        for node in network.nodes
        if node.outputs[0] in numbers
    ]
    return NetworkInfo(
        [tensor(name) for name in network.inputs],
        nodes,
        [printable(name) for name in network.outputs],
        [[op.op for op in one.ops] for one in fused if one.ops],
        sum(op.cost for one in fused for op in one.ops),
        network.steps,
        network.unrolls,
    )


def input_ports(network: Network) -> Ports:
    """Return the input ports of the unrolled program, without unrolling the network."""
    kinds = [one.type for one in inputs_of(network) for _ in range(math.prod(one.shape))]
    starts = accumulate([0, *(kind.width for kind in kinds)])
    return Ports(tuple(Element(at, kind.width, -kind.f) for at, kind in zip(starts, kinds, strict=False)), ())


def require_no_configuration(configuration: str | None) -> None:
    """Raise ``RequestError`` if a configuration is named for a design without configurations."""
    if configuration is not None:
        raise RequestError.of(
            "{config} {value} is for a folder with a network as a machine, which `emit --form memory` and `approx apply"
            " --form memory` write.",
            value=configuration,
        )
