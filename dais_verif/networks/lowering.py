"""Lower single nodes of a network again, on other elements than its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dais_verif.networks.arithmetic import Arithmetic
from dais_verif.networks.call import Budget, Call, Data
from dais_verif.networks.knobs import Applied, Approximation
from dais_verif.networks.model import Network, Node
from dais_verif.networks.operators import operator_of
from dais_verif.networks.operators.approximated import under_knobs

__all__ = ["Lowering"]


class Lowering:
    """Nodes of ``network`` become ops of a block of their own, under the knobs that the network is under."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.ops = Arithmetic()
        self._budget = Budget()
        self._scratch = Approximation({}, None if network.approximation is None else network.approximation.grid)

    def applied(self, node: Node) -> Applied | None:
        """Return the knobs of a node."""
        approximation = self._network.approximation
        return None if approximation is None else approximation.nodes.get(node.outputs[0])

    def call(
        self,
        node: Node,
        operands: Sequence[Data | None],
        attributes: Mapping[str, Any] | None = None,
        applied: Applied | None = None,
    ) -> Call:
        """Return a node with what it reads. ``attributes``: those that are others than its own."""
        said = {**node.attributes, **(attributes or {})}
        # Notes are of the network, which was lowered as a whole before.
        approximation = None if applied is None else self._scratch
        return Call(node.op, tuple(operands), said, self._network.opset, self.ops, self._budget, applied, approximation)

    def lower(self, node: Node, operands: Sequence[Data | None], attributes: Mapping[str, Any] | None = None) -> Data:
        """Return the result of a node for ``operands``. Raises ``Refusal``."""
        return self.run(self.call(node, operands, attributes, self.applied(node)), node.domain)

    def run(self, call: Call, domain: str = "") -> Data:
        """Return the result of a call. Raises ``Refusal``."""
        operator = operator_of(call.op, domain)
        assert operator is not None  # the network was lowered
        return under_knobs(operator, call)
