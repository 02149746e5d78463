"""Shared code of the shipped kernels: checks of fixed-point tensors, weights, and exact types of outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.block_inputs import join
from dais_verif.compile.kernels.blocks import BlockBuilder, Value
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.constants import has_content
from dais_verif.compile.kernels.glue import Check, Fault, Request
from dais_verif.compile.kernels.rules import refuse
from dais_verif.compile.kernels.structures import PrivateStructure, WrittenBack
from dais_verif.spec.program import FixedType, write_binary

__all__ = [
    "ACTIVATIONS",
    "BlockOf",
    "KNOWN_ACTIVATION",
    "MOST_FRACTION",
    "MOST_PORTS",
    "activated",
    "check_types",
    "fixed",
    "needs_content",
    "ports_fit",
    "program_of",
    "with_activation",
]


#: The most inputs of a block.
MOST_PORTS = 1 << 18

#: A function that adds the exact outputs of a member to a builder.
BlockOf = Callable[[Request, BlockBuilder], Sequence[Value]]


def fixed(request: Request, at: int) -> FixedType:
    """Return the type of an input, which is a fixed-point type if ``check_types`` has passed."""
    kind = request.inputs[at].data_type
    if not isinstance(kind, FixedType):
        raise KernelError(f"input {at} has type {kind}, which DAIS does not have")
    return kind


def needs_content(*inputs: int) -> Check:
    """Return a check that ``inputs``, unless they are left out, have constant content of the right size and type."""
    return refuse(
        GlueCode.NON_STATIC_INPUT_TENSOR,
        lambda r: any(not has_content(r.inputs[at]) for at in inputs if at < len(r.inputs)),
        why=f"inputs {' and '.join(map(str, inputs))}, counted from 0, are constant: give them content of their type",
    )


def ports_fit(count: Callable[[Request], int]) -> Check:
    """Return a check that a block has at most ``MOST_PORTS`` inputs."""
    return refuse(
        GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
        lambda r: count(r) > MOST_PORTS,
        why=f"a member touches more than {MOST_PORTS} elements",
    )


def check_types(block: BlockOf) -> Check:
    """Return a check that all types are fixed-point types.

    Any such type is allowed for the output; if it has none, the type that holds all results exactly is written back.
    This must be the last check, since it builds the block.
    """

    def check(request: Request) -> Fault | None:
        if not all(isinstance(tensor.data_type, FixedType) for tensor in request.inputs):
            return Fault(GlueCode.INCOMPATIBLE_DATA_TYPE, why="inputs must be of fixed-point types")
        kind = request.outputs[0].data_type
        if isinstance(kind, FixedType):
            return None
        exact = join([value.type for value in block(request, BlockBuilder())])
        return Fault(
            GlueCode.INCOMPATIBLE_DATA_TYPE,
            WrittenBack(output_types={0: exact}),
            "the output must be of a fixed-point type",
        )

    return check


def program_of(block: BlockOf) -> Callable[[Request], bytes]:
    """Return a function that writes the binary of a block, with outputs in the output's type."""

    def program(request: Request) -> bytes:
        builder, kind = BlockBuilder(), request.outputs[0].data_type
        if not isinstance(kind, FixedType):
            raise KernelError(f"the output has type {kind}, which DAIS does not have")
        return write_binary(builder.build([builder.cast(value, kind) for value in block(request, builder)]), "v1")

    return program


# Activations that are part of another kernel.


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
