"""Kernels that compute each element of their output of the same element of their inputs."""

from __future__ import annotations

from collections.abc import Callable

from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.kernels.codes import GlueCode
from dais_verif.kernels.glue import Kernel, Patterns, Request
from dais_verif.kernels.rules import access, expect_output_sizes, point, refuse
from dais_verif.kernels.shipped.common import check_types, fixed, program_of

__all__ = ["ELEMENTWISE"]


def _elementwise(name: str, inputs: int, compute: Callable[..., Value], about: str) -> Kernel:
    """A kernel with one member an element; ``compute`` takes a builder and a value of each input."""

    def block(request: Request, builder: BlockBuilder) -> list[Value]:
        return [compute(builder, *(builder.input(fixed(request, at)) for at in range(inputs)))]

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
        checks=(
            refuse(GlueCode.UNSUPPORTED_LAYER_CONFIGURATION, lambda r: not r.inputs[0].dims),
            refuse(GlueCode.INCOMPATIBLE_INPUT_SIZE, lambda r: len({t.geometry.shape for t in r.inputs}) > 1),
            refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
            expect_output_sizes(lambda r: r.inputs[0].sizes),
            check_types(block),
        ),
        about=about,
    )


def _absolute(builder: BlockBuilder, x: Value) -> Value:
    return builder.add(builder.relu(x), builder.relu(-x))


ELEMENTWISE = (
    _elementwise("abs", 1, _absolute, "|x|"),
    _elementwise("add", 2, lambda b, x, y: b.add(x, y), "x + y"),
    _elementwise("sub", 2, lambda b, x, y: b.add(x, -y), "x - y"),
    _elementwise("mul", 2, lambda b, x, y: b.multiply(x, y), "x * y"),
    _elementwise("relu", 1, lambda b, x: b.relu(x), "max(x, 0)"),
    _elementwise("cast", 1, lambda b, x: x, "x in the type of the output: floored, high bits cut off"),
)
