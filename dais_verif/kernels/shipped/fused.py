"""Activations that are part of another kernel."""

from __future__ import annotations

from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.kernels.codes import GlueCode
from dais_verif.kernels.glue import Request
from dais_verif.kernels.private import PrivateStructure
from dais_verif.kernels.rules import refuse

__all__ = ["ACTIVATIONS", "KNOWN_ACTIVATION", "MOST_FRACTION", "activated", "with_activation"]

#: The meaning of ``activation``.
ACTIVATIONS = {"none": 0, "relu": 1, "clipped_relu": 2}
#: Fractional bits that a parameter can have.
MOST_FRACTION = 64


def with_activation(fields: str = "") -> PrivateStructure:
    """Return the structure of ``fields`` and an activation, which is clipped at ``most * 2**-fraction``."""
    return PrivateStructure.of(f"{fields} activation:i most:i fraction:i")


def activated(request: Request, builder: BlockBuilder, value: Value) -> Value:
    """Return the request's activation of ``value``, exactly."""
    g = request.given
    if g.activation == ACTIVATIONS["none"]:
        return value
    positive = builder.relu(value)
    if g.activation == ACTIVATIONS["relu"]:
        return positive
    return builder.at_most(positive, builder.constant(g.most, g.fraction))


def _unknown(request: Request) -> bool:
    g = request.given
    return g.activation not in ACTIVATIONS.values() or g.most < 0 or abs(g.fraction) > MOST_FRACTION


#: A check of the parameters of an activation.
KNOWN_ACTIVATION = refuse(
    GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT,
    _unknown,
    why=f"activation must be {', '.join(f'{n} ({word})' for word, n in ACTIVATIONS.items())}; most must be "
    f"0 or more, and fraction -{MOST_FRACTION} to {MOST_FRACTION}",
)
