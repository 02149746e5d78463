"""Kernels that compute each element of their output from the same element of their inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.blocks import BlockBuilder, Value, dot, scaled
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.constants import content_of
from dais_verif.compile.kernels.glue import Check, Kernel, Patterns, Request
from dais_verif.compile.kernels.rules import access, expect_output_sizes, point, refuse, whole
from dais_verif.compile.kernels.shipped.common import MOST_FRACTION, check_types, fixed, needs_content, program_of
from dais_verif.compile.kernels.structures import PrivateStructure, WrittenBack
from dais_verif.spec.program import FixedType

__all__ = ["ACTIVATION_KERNELS", "BATCH_NORM", "ELEMENTWISE", "WIDEST_TABLE", "elementwise"]


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


# Activations with parameters, and those that are tables.


#: The most bits of an input that is looked up in a table.
WIDEST_TABLE = 14


def _number(name: str) -> PrivateStructure:
    """Return the structure of an exact parameter, whose value is ``raw * 2**-fraction``."""
    return PrivateStructure.of(f"{name}:i fraction:i")


def _fraction_is_odd(request: Request) -> bool:
    return not -MOST_FRACTION <= request.given.fraction <= MOST_FRACTION


def _leaky(request: Request, builder: BlockBuilder, x: Sequence[Value]) -> Value:
    if x[0].op is None or x[0].lo >= 0:
        return x[0]
    return builder.select(x[0], scaled(builder, x[0], request.given.alpha) << -request.given.fraction, x[0])


def _clipped(request: Request, builder: BlockBuilder, x: Sequence[Value]) -> Value:
    return builder.at_most(builder.relu(x[0]), builder.constant(request.given.most, request.given.fraction))


def _table(name: str, function: Callable[[float], float], about: str) -> Kernel:
    """Return a kernel that looks up a function in a table, rounded to the nearest number and saturated."""

    def compute(request: Request, builder: BlockBuilder, x: Sequence[Value]) -> Value:
        kind, result = fixed(request, 0), request.outputs[0].data_type
        if not isinstance(result, FixedType):
            raise KernelError(f"{name} has no exact type: ask for an output of a fixed-point type")
        if not (kind.width and result.width):
            return Value()
        reals = (function(math.ldexp(raw, -kind.f)) for raw in range(kind.raw_min, kind.raw_max + 1))
        entries = [min(max(round(math.ldexp(y, result.f)), result.raw_min), result.raw_max) for y in reals]
        return builder.lookup(x[0], kind, entries, result)

    wide = refuse(
        GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
        lambda r: fixed(r, 0).width > WIDEST_TABLE,
        why=f"a table can have an index of up to {WIDEST_TABLE} bits: cast the input first",
    )
    exact = refuse(
        GlueCode.INCOMPATIBLE_DATA_TYPE,
        lambda r: not isinstance(r.outputs[0].data_type, FixedType),
        why="no type holds its results exactly: ask for an output of a fixed-point type",
    )
    return elementwise(name, 1, compute, about, checks=(exact, wide))


def _sigmoid(x: float) -> float:
    return 0.5 + 0.5 * math.tanh(0.5 * x)


_NEGATIVE = refuse(GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT, lambda r: r.given.most < 0, why="most must be 0 or more")
_FRACTION = refuse(
    GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT,
    _fraction_is_odd,
    why=f"fraction must be -{MOST_FRACTION} to {MOST_FRACTION}",
)

ACTIVATION_KERNELS = (
    elementwise(
        "leaky_relu",
        1,
        _leaky,
        "x, or alpha * 2**-fraction * x where x is negative",
        structure=_number("alpha"),
        checks=(_FRACTION,),
    ),
    elementwise(
        "clipped_relu",
        1,
        _clipped,
        "min(max(x, 0), most * 2**-fraction)",
        structure=_number("most"),
        checks=(_FRACTION, _NEGATIVE),
    ),
    _table("tanh", math.tanh, "tanh(x), a table: rounded to the nearest number of the output's type"),
    _table("sigmoid", _sigmoid, "1 / (1 + exp(-x)), a table: rounded to the nearest number of the output's type"),
)


# Batch normalisation of a trained network: each channel has a constant factor and a constant term.


def _block(request: Request, builder: BlockBuilder) -> list[Value]:
    """Return the outputs of one pixel, one per channel."""
    kind, (factors, terms) = fixed(request, 0), (content_of(request.inputs[at]).tolist() for at in (1, 2))
    f, terms_f = fixed(request, 1).f, fixed(request, 2).f
    return [
        dot(builder, [builder.input(kind)], [factor], f, builder.constant(term, terms_f))
        for factor, term in zip(factors, terms, strict=True)
    ]


def _patterns(request: Request) -> Patterns:
    image = access(point(0), point(1), whole(request.inputs[0].sizes[2]), *[point(2)] * (request.inputs[0].dims - 3))
    constant = access(all_required=True)
    return Patterns([image, constant, constant], [image])


BATCH_NORM = Kernel(
    "batch_norm",
    inputs=3,
    outputs=1,
    index_space=lambda r: (*r.inputs[0].sizes[:2], *r.inputs[0].geometry.shape[3:]),
    patterns=_patterns,
    program=program_of(_block),
    checks=(
        refuse(GlueCode.UNSUPPORTED_LAYER_CONFIGURATION, lambda r: r.inputs[0].dims not in (3, 4)),
        refuse(
            GlueCode.INCOMPATIBLE_INPUT_SIZE,
            lambda r: any(tensor.geometry.shape != (r.inputs[0].sizes[2],) for tensor in r.inputs[1:]),
        ),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
        expect_output_sizes(lambda r: r.inputs[0].sizes),
        needs_content(1, 2),
        check_types(_block),
    ),
    input_names=("input", "scale", "shift"),
    about="x * scale + shift of images (channels, height, width); scale and shift (channels) are constant",
)
