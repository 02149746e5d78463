"""Kernels that compute each element of their output from the same element of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.kernels.codes import GlueCode
from dais_verif.kernels.glue import Check, Kernel, Patterns, Request
from dais_verif.kernels.private import PrivateStructure
from dais_verif.kernels.rules import access, expect_output_sizes, point, refuse
from dais_verif.kernels.shipped.common import check_types, fixed, program_of
from dais_verif.kernels.structures import WrittenBack

__all__ = ["ELEMENTWISE", "elementwise"]


def elementwise(
    name: str,
    inputs: int,
    compute: Callable[[Request, BlockBuilder, Sequence[Value]], Value],
    about: str,
    *,
    structure: PrivateStructure | None = None,
    checks: Sequence[Check] = (),
) -> Kernel:
    """Return a kernel with one member per element. ``compute`` receives one value per input; ``checks`` run first."""

    def block(request: Request, builder: BlockBuilder) -> list[Value]:
        return [compute(request, builder, [builder.input(fixed(request, at)) for at in range(inputs)])]

    def patterns(request: Request) -> Patterns:
        each = access(*(point(d) for d in range(request.outputs[0].dims)))
        return Patterns([each] * inputs, [each])

    return Kernel(
        name,
        inputs,
        1,
        index_space=lambda r: r.outputs[0].geometry.shape,
        patterns=patterns,
        program=program_of(block),
        structure=structure,
        checks=(
            *checks,
            refuse(GlueCode.UNSUPPORTED_LAYER_CONFIGURATION, lambda r: not r.inputs[0].dims),
            refuse(
                GlueCode.INCOMPATIBLE_INPUT_SIZE,
                lambda r: len({t.geometry.shape for t in r.inputs}) > 1,
                lambda r: WrittenBack(input_sizes={1: r.inputs[0].sizes}),
                why="both inputs must have the same shape",
            ),
            refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
            expect_output_sizes(lambda r: r.inputs[0].sizes),
            check_types(block),
        ),
        input_names=("input", "other")[:inputs],
        about=about,
    )


ELEMENTWISE = (
    elementwise("abs", 1, lambda r, b, x: b.maximum(x[0], -x[0]), "|x|"),
    elementwise("add", 2, lambda r, b, x: b.add(x[0], x[1]), "x + y"),
    elementwise("sub", 2, lambda r, b, x: b.add(x[0], -x[1]), "x - y"),
    elementwise("mul", 2, lambda r, b, x: b.multiply(x[0], x[1]), "x * y"),
    elementwise("relu", 1, lambda r, b, x: b.relu(x[0]), "max(x, 0)"),
    elementwise("cast", 1, lambda r, b, x: x[0], "x in the type of the output: floored, high bits cut off"),
)
