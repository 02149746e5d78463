"""The supported operators of ONNX, each a function from the inputs and attributes of a node to its output."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data
from dais_verif.compile.networks.operators import activations, elementwise, layers, layout, pooling, quantisers

__all__ = ["OPERATORS", "QONNX_DOMAINS", "TAKE_REALS", "operator_of"]

#: The domains of QONNX's operators, in all its versions.
QONNX_DOMAINS = ("qonnx.custom_op.general", "finn.custom_op.general", "onnx.brevitas")

#: ONNX's own operators, by name.
OPERATORS: Mapping[str, Callable[[Call], Data]] = {
    **activations.OPERATORS,
    **elementwise.OPERATORS,
    **layers.OPERATORS,
    **layout.OPERATORS,
    **pooling.OPERATORS,
    **quantisers.OPERATORS,
}

#: Operators that accept numbers that are not fixed-point numbers yet: they round, compare or move them.
TAKE_REALS = frozenset({"QuantizeLinear", "Quant", "MaxPool", *layout.OPERATORS})


def operator_of(op: str, domain: str) -> Callable[[Call], Data] | None:
    """Return the function of an operator; None if it is not supported."""
    if domain in QONNX_DOMAINS:
        return quantisers.QONNX_OPERATORS.get(op)
    return OPERATORS.get(op) if domain == "" else None
