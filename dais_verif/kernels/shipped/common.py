"""Shared code of the shipped kernels: checks of fixed-point tensors, weights, and exact types of outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.errors import InputError
from dais_verif.kernels.block_inputs import join
from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.kernels.codes import GlueCode
from dais_verif.kernels.constants import has_content
from dais_verif.kernels.glue import Check, Fault, Request
from dais_verif.kernels.rules import refuse
from dais_verif.kernels.structures import WrittenBack
from dais_verif.program import FixedType, write_binary

__all__ = ["MOST_PORTS", "BlockOf", "check_types", "fixed", "needs_content", "ports_fit", "program_of"]

#: Inputs of a block, at most.
MOST_PORTS = 1 << 18

#: Writes the outputs of a member into a builder, exactly.
BlockOf = Callable[[Request, BlockBuilder], Sequence[Value]]


def fixed(request: Request, at: int) -> FixedType:
    """Return the type of an input, which is fixed-point once ``check_types`` has looked at it."""
    kind = request.inputs[at].data_type
    if not isinstance(kind, FixedType):
        raise InputError(f"input {at} has type {kind}, which DAIS does not have")
    return kind


def needs_content(*inputs: int) -> Check:
    """Return a check that inputs, where they are given, have constant content of the right size and type."""
    return refuse(
        GlueCode.NON_STATIC_INPUT_TENSOR,
        lambda r: any(not has_content(r.inputs[at]) for at in inputs if at < len(r.inputs)),
        why=f"inputs {' and '.join(map(str, inputs))}, counted from 0, are constant: give them content of their type",
    )


def ports_fit(count: Callable[[Request], int]) -> Check:
    """Return a check that a block has no more than ``MOST_PORTS`` inputs, which are written one by one."""
    return refuse(
        GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
        lambda r: count(r) > MOST_PORTS,
        why=f"a member touches more than {MOST_PORTS} elements",
    )


def check_types(block: BlockOf) -> Check:
    """Return a check that all types are fixed-point ones.

    The type of the output is free; if it is unset, the one that holds all results exactly is written back. This comes
    last, since it writes the block.
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
    """Return a function that writes the binary of a block: its outputs as values of the output's type."""

    def program(request: Request) -> bytes:
        builder, kind = BlockBuilder(), request.outputs[0].data_type
        if not isinstance(kind, FixedType):
            raise InputError(f"the output has type {kind}, which DAIS does not have")
        return write_binary(builder.build([builder.cast(value, kind) for value in block(request, builder)]), "v1")

    return program
