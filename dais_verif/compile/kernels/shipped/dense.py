"""A dense layer: each output is a sum of all inputs, weighted by constants."""

from __future__ import annotations

from dais_verif.compile.kernels.blocks import BlockBuilder, Value, dot
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.constants import content_of
from dais_verif.compile.kernels.glue import Kernel, Patterns, Request
from dais_verif.compile.kernels.rules import access, expect_output_sizes, point, refuse, whole
from dais_verif.compile.kernels.shipped.common import (
    ACTIVATIONS,
    KNOWN_ACTIVATION,
    activated,
    check_types,
    fixed,
    needs_content,
    program_of,
    with_activation,
)
from dais_verif.compile.kernels.structures import WrittenBack

__all__ = ["DENSE", "STRUCTURE"]

#: The private structure, which may be left out.
STRUCTURE = with_activation()


def _block(request: Request, builder: BlockBuilder) -> list[Value]:
    n_in = request.inputs[0].sizes[0]
    x = [builder.input(fixed(request, 0)) for _ in range(n_in)]
    rows = content_of(request.inputs[1]).tolist()
    bias = content_of(request.inputs[2]).tolist() if len(request.inputs) > 2 else [0] * len(rows)
    bias_f = fixed(request, 2).f if len(request.inputs) > 2 else 0
    f = fixed(request, 1).f
    sums = [dot(builder, x, row, f, builder.constant(add, bias_f)) for row, add in zip(rows, bias, strict=True)]
    return [activated(request, builder, one) for one in sums]


def _sizes(request: Request) -> tuple[int, ...]:
    x, weights = request.inputs[0], request.inputs[1]
    return (weights.sizes[1], *x.sizes[1:])


def _patterns(request: Request) -> Patterns:
    rest = [point(d - 1) for d in range(1, request.inputs[0].dims)]
    constant = access(all_required=True)
    return Patterns(
        [access(whole(request.inputs[0].sizes[0]), *rest), *[constant] * (len(request.inputs) - 1)],
        [access(whole(_sizes(request)[0]), *rest)],
    )


DENSE = Kernel(
    "dense",
    inputs=3,
    outputs=1,
    optional_inputs=1,
    structure=STRUCTURE,
    optional_structure=True,
    # One member per vector; a tensor of one dimension is one vector.
    index_space=lambda r: r.inputs[0].geometry.shape[1:] or (1,),
    patterns=_patterns,
    program=program_of(_block),
    checks=(
        KNOWN_ACTIVATION,
        refuse(
            GlueCode.INCOMPATIBLE_INPUT_SIZE,
            lambda r: r.inputs[1].dims != 2 or r.inputs[1].sizes[0] != r.inputs[0].sizes[0],
            lambda r: WrittenBack(input_sizes={1: (r.inputs[0].sizes[0], *r.inputs[1].sizes[1:])}),
        ),
        refuse(
            GlueCode.INCOMPATIBLE_INPUT_SIZE,
            lambda r: len(r.inputs) > 2 and r.inputs[2].geometry.shape != (r.inputs[1].sizes[1],),
            lambda r: WrittenBack(input_sizes={2: (r.inputs[1].sizes[1],)}),
        ),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
        expect_output_sizes(_sizes),
        needs_content(1, 2),
        check_types(_block),
    ),
    input_names=("input", "weights", "bias"),
    words={"activation": ACTIVATIONS},
    about="weights @ x + bias, activated; weights (outputs, inputs) and bias are constant, the bias may be left out",
)
