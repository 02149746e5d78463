"""Batch normalisation of a trained network: each channel has a constant factor and a constant term."""

from __future__ import annotations

from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.kernels.blocks.linear import dot
from dais_verif.kernels.codes import GlueCode
from dais_verif.kernels.constants import content_of
from dais_verif.kernels.glue import Kernel, Patterns, Request
from dais_verif.kernels.rules import access, expect_output_sizes, point, refuse, whole
from dais_verif.kernels.shipped.common import check_types, fixed, needs_content, program_of

__all__ = ["BATCH_NORM"]


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
