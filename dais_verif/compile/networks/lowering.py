"""Lower single nodes of a network again, with other operands than in the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dais_verif.compile.networks.arithmetic import Arithmetic
from dais_verif.compile.networks.call import Budget, Call
from dais_verif.compile.networks.data import Data
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.compile.networks.model import Network, Node
from dais_verif.compile.networks.operators import operator_of
from dais_verif.compile.networks.operators.approximated import under_knobs

__all__ = ["Lowering"]


class Lowering:
    """Lowers nodes of ``network`` to ops of a separate block, under the knobs of the network."""

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
        """Return the call of a node on ``operands``. ``attributes``: replace those of the node."""
        said = {**node.attributes, **(attributes or {})}
        # Notes are discarded: the network already has them, since it was lowered as a whole.
        approximation = None if applied is None else self._scratch
        return Call(node.op, tuple(operands), said, self._network.opset, self.ops, self._budget, applied, approximation)

    def lower(self, node: Node, operands: Sequence[Data | None], attributes: Mapping[str, Any] | None = None) -> Data:
        """Return the result of a node for ``operands``. Raises ``Refusal`` if it cannot be lowered."""
        return self.run(self.call(node, operands, attributes, self.applied(node)), node.domain)

    def run(self, call: Call, domain: str = "") -> Data:
        """Return the result of a call. Raises ``Refusal`` if it cannot be lowered."""
        operator = operator_of(call.op, domain)
        assert operator is not None  # otherwise the network could not have been lowered
        return under_knobs(operator, call)
