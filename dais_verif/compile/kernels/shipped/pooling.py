"""Pooling of images: the largest, the smallest, or the mean of each window, channel by channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from dais_verif.compile.kernels.blocks import BlockBuilder, Value, balanced, scaled
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.data_types import PadValue, TensorType
from dais_verif.compile.kernels.glue import Check, Kernel, Patterns, Request
from dais_verif.compile.kernels.rules import (
    access,
    expect_output_sizes,
    point,
    refuse,
    window,
    window_fits,
    window_outputs,
)
from dais_verif.compile.kernels.shipped.common import check_types, fixed, ports_fit, program_of
from dais_verif.compile.kernels.structures import PrivateStructure

__all__ = ["POOLING", "STRUCTURE"]

#: The private structure; ``reciprocal_bits``: the number of fractional bits of one divided by the size of a window.
#: With ``exclude_pads`` = 1 pads do not count as elements of a window; then pads are refused, since all members share
#: one block, which has one divisor.
STRUCTURE = PrivateStructure.of(
    "pad_w:i pad_h:i kernel_w:i kernel_h:i stride_w:i stride_h:i dilation_w:i dilation_h:i reciprocal_bits:i "
    "exclude_pads:i"
)
_MOST_BITS = 64


def _axes(request: Request) -> tuple[tuple[int, int, int, int, int], ...]:
    """Return, for width and height: size of the image, stride, pad, size of the window, dilation."""
    g, (width, height) = request.given, request.inputs[0].sizes[:2]
    return (
        (width, g.stride_w, g.pad_w, g.kernel_w, g.dilation_w),
        (height, g.stride_h, g.pad_h, g.kernel_h, g.dilation_h),
    )


def _window(request: Request, builder: BlockBuilder) -> list[Value]:
    """Return the elements of a window; inputs in the gaps of a dilation are not used."""
    (*_, k_w, d_w), (*_, k_h, d_h) = _axes(request)
    kind = fixed(request, 0)
    rows = [[builder.input(kind) for _ in range((k_w - 1) * d_w + 1)] for _ in range((k_h - 1) * d_h + 1)]
    return [one for row in rows[::d_h] for one in row[::d_w]]


def _mean(request: Request, builder: BlockBuilder, values: Sequence[Value]) -> Value:
    bits: int = request.given.reciprocal_bits
    return scaled(builder, builder.sum(values), round((1 << bits) / len(values))) << -bits


def _sizes(request: Request) -> tuple[int, ...]:
    return (*(window_outputs(*axis) for axis in _axes(request)), *request.inputs[0].sizes[2:])


def _patterns(request: Request) -> Patterns:
    (_, *w), (_, *h) = _axes(request)
    rest = [point(d) for d in range(2, request.inputs[0].dims)]
    return Patterns([access(window(0, *w), window(1, *h), *rest)], [access(point(0), point(1), *rest)])


def _options_differ(request: Request) -> bool:
    g = request.given
    positive = min(g.stride_w, g.stride_h, g.dilation_w, g.dilation_h, g.kernel_w, g.kernel_h) >= 1
    known = g.exclude_pads in (0, 1) and 0 <= g.reciprocal_bits <= _MOST_BITS
    return not positive or min(g.pad_w, g.pad_h) < 0 or not known


def _pads_do_not_count(request: Request) -> bool:
    return bool(request.given.exclude_pads) and max(request.given.pad_w, request.given.pad_h) > 0


def _pooling(
    name: str,
    combine: Callable[[Request, BlockBuilder, Sequence[Value]], Value],
    pad: Callable[[TensorType], PadValue],
    about: str,
    checks: Sequence[Check] = (),
) -> Kernel:
    def block(request: Request, builder: BlockBuilder) -> list[Value]:
        return [combine(request, builder, _window(request, builder))]

    return Kernel(
        name,
        inputs=1,
        outputs=1,
        structure=STRUCTURE,
        index_space=lambda r: _sizes(r)[: r.inputs[0].dims],
        patterns=_patterns,
        program=program_of(block),
        pads=lambda r: [pad(fixed(r, 0))],
        checks=(
            refuse(
                GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT,
                _options_differ,
                why="windows, strides and dilations must be 1 or more, pads not negative, exclude_pads 0 or 1, and "
                f"reciprocal_bits 0 to {_MOST_BITS}",
            ),
            refuse(
                GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
                lambda r: r.inputs[0].dims < 2,
                why="an image must have 2 dimensions or more",
            ),
            *checks,
            refuse(
                GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
                lambda r: not all(window_fits(size, pad, k, dilation) for size, _, pad, k, dilation in _axes(r)),
                why="the window is larger than the image with its pads",
            ),
            ports_fit(lambda r: prod((k - 1) * dilation + 1 for *_, k, dilation in _axes(r))),
            refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
            expect_output_sizes(_sizes),
            check_types(block),
        ),
        input_names=("input",),
        defaults={**dict.fromkeys(("stride_w", "stride_h", "dilation_w", "dilation_h"), 1), "reciprocal_bits": 16},
        about=about,
    )


POOLING = (
    _pooling("max_pool", lambda r, b, x: balanced(b.maximum, x), PadValue.lowest, "the largest of each window"),
    _pooling("min_pool", lambda r, b, x: balanced(b.minimum, x), PadValue.highest, "the smallest of each window"),
    _pooling(
        "avg_pool",
        _mean,
        lambda kind: PadValue(0),
        "the sum of each window, pads included as 0, times 1 / its size, rounded to reciprocal_bits",
        checks=(
            refuse(
                GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
                _pads_do_not_count,
                why="exclude_pads needs pads of 0: windows at the border would have another divisor, and all members "
                "are one block",
            ),
        ),
    ),
)
