"""A convolution of images by constant weights: stride, padding, dilation, groups, bias and an activation."""

from __future__ import annotations

from math import prod

from dais_verif.compile.kernels.blocks import BlockBuilder, Value, dot
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.constants import content_of
from dais_verif.compile.kernels.glue import Kernel, Patterns, Request
from dais_verif.compile.kernels.rules import (
    access,
    expect_output_sizes,
    point,
    refuse,
    whole,
    window,
    window_fits,
    window_outputs,
)
from dais_verif.compile.kernels.shipped.common import (
    ACTIVATIONS,
    KNOWN_ACTIVATION,
    activated,
    check_types,
    fixed,
    needs_content,
    ports_fit,
    program_of,
    with_activation,
)
from dais_verif.compile.kernels.structures import WrittenBack

__all__ = ["CONV2D", "STRUCTURE"]

#: The private structure. The sizes of the window are given by the weights.
STRUCTURE = with_activation("pad_w:i pad_h:i stride_w:i stride_h:i dilation_w:i dilation_h:i groups:i")


def _axes(request: Request) -> tuple[tuple[int, int, int, int, int], ...]:
    """Return, for width and height: size of the image, stride, pad, size of the window, dilation."""
    g, image, weights = request.given, request.inputs[0], request.inputs[1]
    return (
        (image.sizes[0], g.stride_w, g.pad_w, weights.sizes[0], g.dilation_w),
        (image.sizes[1], g.stride_h, g.pad_h, weights.sizes[1], g.dilation_h),
    )


def _block(request: Request, builder: BlockBuilder) -> list[Value]:
    """Return one pixel in all output channels. Inputs: each channel's window, gaps included, width the fastest."""
    (_, _, _, k_w, d_w), (_, _, _, k_h, d_h) = _axes(request)
    wide, high, channels = (k_w - 1) * d_w + 1, (k_h - 1) * d_h + 1, request.inputs[0].sizes[2]
    kind = fixed(request, 0)
    ports = [[[builder.input(kind) for _ in range(wide)] for _ in range(high)] for _ in range(channels)]
    weights, f = content_of(request.inputs[1]), fixed(request, 1).f
    has_bias = len(request.inputs) > 2
    bias = content_of(request.inputs[2]).tolist() if has_bias else [0] * len(weights)
    bias_f = fixed(request, 2).f if has_bias else 0
    per_group, outputs = channels // request.given.groups, []
    for k, filters in enumerate(weights.tolist()):
        first = k * request.given.groups // len(weights) * per_group
        window_of = [
            (ports[first + c][y * d_h][x * d_w], number)
            for c, plane in enumerate(filters)
            for y, row in enumerate(plane)
            for x, number in enumerate(row)
        ]
        values, numbers = zip(*window_of, strict=True)
        result = dot(builder, values, numbers, f, builder.constant(bias[k], bias_f))
        outputs.append(activated(request, builder, result))
    return outputs


def _sizes(request: Request) -> tuple[int, ...]:
    """Return width, height, channels, and samples if the image has them."""
    return (
        *(window_outputs(*axis) for axis in _axes(request)),
        request.inputs[1].sizes[3],
        *request.inputs[0].sizes[3:],
    )


def _patterns(request: Request) -> Patterns:
    (_, *w), (_, *h) = _axes(request)
    samples = [point(2)] * (request.inputs[0].dims - 3)
    image = access(window(0, *w), window(1, *h), whole(request.inputs[0].sizes[2]), *samples)
    constant = access(all_required=True)
    output = access(point(0), point(1), whole(request.inputs[1].sizes[3]), *samples)
    return Patterns([image, *[constant] * (len(request.inputs) - 1)], [output])


def _options_differ(request: Request) -> bool:
    g = request.given
    positive = min(g.stride_w, g.stride_h, g.dilation_w, g.dilation_h, g.groups) >= 1
    return not positive or min(g.pad_w, g.pad_h) < 0


CONV2D = Kernel(
    "conv2d",
    inputs=3,
    outputs=1,
    optional_inputs=1,
    structure=STRUCTURE,
    # One member per pixel, for all output channels, which share computations of a window.
    index_space=lambda r: (*_sizes(r)[:2], *r.inputs[0].geometry.shape[3:]),
    patterns=_patterns,
    program=program_of(_block),
    checks=(
        refuse(
            GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT,
            _options_differ,
            why="strides, dilations and groups must be 1 or more, and pads not negative",
        ),
        KNOWN_ACTIVATION,
        refuse(
            GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
            lambda r: r.inputs[0].dims not in (3, 4) or r.inputs[1].dims != 4,
            why="the image must be (channels, height, width), optionally with samples before them, and the weights "
            "must have 4 dimensions",
        ),
        refuse(
            GlueCode.INCOMPATIBLE_INPUT_SIZE,
            lambda r: (
                r.inputs[1].sizes[2] * r.given.groups != r.inputs[0].sizes[2]
                or r.inputs[1].sizes[3] % r.given.groups != 0
            ),
            why="weights must be (outputs, channels of the image / groups, height, width), and outputs a multiple of "
            "groups",
        ),
        refuse(
            GlueCode.INCOMPATIBLE_INPUT_SIZE,
            lambda r: len(r.inputs) > 2 and r.inputs[2].geometry.shape != (r.inputs[1].sizes[3],),
            lambda r: WrittenBack(input_sizes={2: (r.inputs[1].sizes[3],)}),
        ),
        refuse(
            GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
            lambda r: not all(window_fits(size, pad, k, dilation) for size, _, pad, k, dilation in _axes(r)),
            why="the window is larger than the image with its pads",
        ),
        ports_fit(lambda r: r.inputs[0].sizes[2] * prod((k - 1) * dilation + 1 for *_, k, dilation in _axes(r))),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
        expect_output_sizes(_sizes),
        needs_content(1, 2),
        check_types(_block),
    ),
    input_names=("input", "weights", "bias"),
    defaults=dict.fromkeys(("stride_w", "stride_h", "dilation_w", "dilation_h", "groups"), 1),
    words={"activation": ACTIVATIONS},
    about="a convolution of (channels, height, width) by constant weights (outputs, channels / groups, height, width)",
)
