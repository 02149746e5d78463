"""Shared code of the shipped kernels: checks of fixed-point tensors, weights, and exact types of outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.errors import KernelError
from dais_verif.kernels.block_inputs import join
from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.kernels.codes import GlueCode
from dais_verif.kernels.constants import has_content
from dais_verif.kernels.glue import Check, Fault, Request
from dais_verif.kernels.rules import refuse
from dais_verif.kernels.structures import WrittenBack
from dais_verif.program import FixedType, write_binary

__all__ = ["MOST_PORTS", "BlockOf", "check_types", "fixed", "needs_content", "ports_fit", "program_of"]

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
