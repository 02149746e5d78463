"""The rules of upstream's example kernels, with their quirks, in our declarations; without programs, which are float.

Each kernel declares the calls that its glue code accepts, and the answers. The quirks are upstream's: a second input
that is never checked, an index space that is not divided, an input that is all required although it is mapped.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.data_types import DataType
from dais_verif.compile.kernels.glue import Kernel, Patterns, Request
from dais_verif.compile.kernels.library import Library
from dais_verif.compile.kernels.patterns import AccessPattern
from dais_verif.compile.kernels.rules import (
    access,
    block,
    ceil_div,
    expect_input_types,
    expect_output_sizes,
    expect_output_types,
    expect_types,
    point,
    refuse,
    steps,
    whole,
    window,
    window_fits,
    window_outputs,
)
from dais_verif.compile.kernels.structures import AuxTensor, DeviceId, PrivateStructure, TensorGeometry, WrittenBack

__all__ = ["upstream"]

F32, BF16, I32, I8 = DataType.F32, DataType.BF16, DataType.I32, DataType.I8
#: Elements in a vector of 256 bytes.
LANES = {F32: 64, I32: 64, BF16: 128, I8: 256}
SPATIAL = "pad_w:i pad_h:i kernel_w:i kernel_h:i stride_w:i stride_h:i dilation_w:i dilation_h:i"
#: A placeholder for the size of the compiled program, in bytes.
PROGRAM_BYTES = 1000

Sizes = Callable[[Request], Sequence[int]]


def program(request: Request) -> bytes:
    return bytes(PROGRAM_BYTES)


def first_input(r: Request) -> Sequence[int]:
    return r.inputs[0].sizes


def kernel(name: str, inputs: int, outputs: int, checks: tuple, index_space: Sizes, patterns, **more) -> Kernel:
    if isinstance(structure := more.get("structure"), str):
        more["structure"] = PrivateStructure.of(structure)
    return Kernel(name, inputs, outputs, index_space, patterns, program, checks, **more)


def same(*counts: int, required: bool = False) -> Callable[[Request], AccessPattern]:
    """Return an access whose dimensions follow those of the index space, with ``counts`` elements per member."""
    return lambda r: access(*(block(d, n) for d, n in enumerate(counts)), all_required=required)


def patterns(inputs: Sequence, outputs: Sequence) -> Callable[[Request], Patterns]:
    return lambda r: Patterns([one(r) for one in inputs], [one(r) for one in outputs])


def divided(sizes: Sizes, *counts: int) -> Sizes:
    return lambda r: [ceil_div(size, n) for size, n in zip(sizes(r), counts, strict=False)]


def leaky_relu(name: str) -> Kernel:
    counts = (64, 4, 1, 1)
    checks = (expect_types([F32], [F32]), expect_output_sizes(first_input))
    both = patterns([same(*counts)], [same(*counts)])
    return kernel(name, 1, 1, checks, divided(first_input, *counts), both, structure="alpha:f")


def cast(name: str, source: DataType, target: DataType) -> Kernel:
    counts = (128, 1, 1, 1)
    checks = (expect_types([source], [target]), expect_output_sizes(first_input))
    both = patterns([same(*counts)], [same(*counts)])
    return kernel(name, 1, 1, checks, divided(first_input, *counts), both, structure="scale:f")


def relu(name: str, kind: DataType, backward: bool) -> Kernel:
    counts = (LANES[kind], 4, 1, 1, 1)
    n = 2 if backward else 1
    checks = (expect_types([kind, None][:n], [kind]), expect_output_sizes(first_input))
    all_of = patterns([same(*counts, required=True), same(*counts)][:n], [same(*counts)])
    return kernel(name, n, 1, checks, divided(first_input, *counts), all_of)


def add(name: str) -> Kernel:
    checks = (
        refuse(GlueCode.INCOMPATIBLE_INPUT_SIZE, lambda r: r.inputs[0].sizes[0] != r.inputs[1].sizes[0]),
        expect_types([F32, F32], [F32]),
    )
    mapped = same(64, 4, 4, 1, 1)
    return kernel(name, 2, 1, checks, divided(first_input, 64, 4, 1, 1, 1), patterns([mapped, same()], [mapped]))


def matrix_multiply(name: str) -> Kernel:
    def inputs_differ(r: Request) -> bool:
        a, b = r.inputs
        return a.dims not in (2, 3) or b.dims not in (2, 3) or a.sizes[0] != b.sizes[1]

    def output_differs(r: Request) -> bool:
        c = r.outputs[0]
        return c.dims not in (2, 3) or c.sizes[:2] != (r.inputs[1].sizes[0], r.inputs[0].sizes[1])

    checks = (
        refuse(GlueCode.INCOMPATIBLE_INPUT_SIZE, inputs_differ),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, output_differs),
        expect_types([F32, F32], [F32]),
    )

    def mapping(r: Request) -> Patterns:
        common = r.inputs[0].sizes[0]
        a = access(whole(common), block(1, 6), point(2))
        b = access(block(0, 64), whole(common, 1), point(2))
        return Patterns([a, b], [access(block(0, 64), block(1, 6), point(2))])

    return kernel(name, 2, 1, checks, divided(lambda r: r.outputs[0].sizes, 64, 6, 1), mapping)


def axes(r: Request) -> list[tuple[int, int, int, int, int]]:
    """Return (size of the input, stride, pad, kernel, dilation) of the width, then of the height."""
    g = r.given
    return [
        (r.inputs[0].sizes[1], g.stride_w, g.pad_w, g.kernel_w, g.dilation_w),
        (r.inputs[0].sizes[2], g.stride_h, g.pad_h, g.kernel_h, g.dilation_h),
    ]


def convolved(r: Request) -> list[int]:
    return [window_outputs(*axis) for axis in axes(r)]


def first_size(tensor: int) -> WrittenBack:
    """Return a check that input ``tensor`` is as deep as input 0; on refusal it writes back the right depth."""

    def written(r: Request) -> WrittenBack:
        return WrittenBack(input_sizes={tensor: (r.inputs[0].sizes[0], *r.inputs[tensor].sizes[1:])})

    return refuse(
        GlueCode.INCOMPATIBLE_INPUT_SIZE, lambda r: r.inputs[tensor].sizes[0] != r.inputs[0].sizes[0], written
    )


window_too_large = refuse(
    GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
    lambda r: not all(window_fits(size, pad, k, dilation) for size, _, pad, k, dilation in axes(r)),
)


def spatial_conv(name: str) -> Kernel:
    def sizes(r: Request) -> list[int]:
        return [r.inputs[1].sizes[1], *convolved(r), r.inputs[0].sizes[3], 1]

    def mapping(r: Request) -> Patterns:
        depth, (w, h) = r.inputs[0].sizes[0], axes(r)
        image = access(whole(depth), window(2, *w[1:]), window(3, *h[1:]), point(4))
        weights = access(whole(depth), point(1), whole(w[3], 2), whole(h[3], 3))
        return Patterns([image, weights], [access(point(1), point(2), point(3), point(4))])

    checks = (
        first_size(1),
        expect_input_types(F32, F32),
        expect_output_types(F32),
        window_too_large,
        expect_output_sizes(sizes),
    )
    return kernel(name, 2, 1, checks, lambda r: [1, *sizes(r)[:4]], mapping, structure=SPATIAL)


def filter_2d(name: str, kind: DataType) -> Kernel:
    def sizes(r: Request) -> list[int]:
        return [r.inputs[0].sizes[0], *convolved(r), *r.inputs[0].sizes[3:]]

    def mapping(r: Request) -> Patterns:
        w, h = axes(r)
        image = access(block(0, LANES[kind]), window(1, *w[1:]), window(2, *h[1:]), point(3))
        return Patterns([image, access(all_required=True)], [same(LANES[kind], 1, 1, 1)(r)])

    checks = (
        first_size(1),
        expect_input_types(kind, kind),
        expect_output_types(kind),
        window_too_large,
        expect_output_sizes(sizes),
    )
    return kernel(name, 2, 1, checks, divided(sizes, LANES[kind], 1, 1, 1), mapping, structure=SPATIAL)


def filter_i8(name: str) -> Kernel:
    def exponent(r: Request) -> int:
        image, weights, output = (t.quantization.scale for t in (*r.inputs[:2], r.outputs[0]))
        mantissa, power = math.frexp(image * weights / output)
        return 1 - power if mantissa == 0.5 and power <= 1 else -1

    def mapping(r: Request) -> Patterns:
        w, h = axes(r)
        image = access(block(0, 256), window(1, *w[1:], count=4), window(2, *h[1:]), point(3))
        return Patterns([image, access(all_required=True), access(block(0, 256))], [same(256, 4, 1, 1)(r)])

    def sizes(r: Request) -> list[int]:
        return [r.inputs[0].sizes[0], *convolved(r), *r.inputs[0].sizes[3:]]

    checks = (
        first_size(1),
        first_size(2),
        refuse(
            GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
            lambda r: any((s, k, d) != (1, 3, 1) for _, s, _, k, d in axes(r)),
        ),
        expect_input_types(I8, I8, None),
        expect_input_types(None, None, I32),
        expect_output_types(I8),
        window_too_large,
        expect_output_sizes(sizes),
    )
    return kernel(
        name,
        3,
        1,
        checks,
        divided(sizes, 256, 4, 1, 1),
        mapping,
        structure=SPATIAL,
        scalars=lambda r: struct.pack("<3i", r.given.pad_w, r.given.pad_h, exponent(r)),
    )


def reciprocals(r: Request) -> list[AuxTensor]:
    """Return the reciprocals of all numbers of elements in a window, in binary32; 0 for no elements."""
    values = [0.0, *(1 / n for n in range(1, r.given.kernel_w * r.given.kernel_h + 1))]
    return [AuxTensor(TensorGeometry(1, (len(values), 0, 0, 0, 0)), F32, struct.pack(f"<{len(values)}f", *values))]


def average_pool(name: str, memset: bool, backward: bool) -> Kernel:
    def sizes(r: Request) -> list[int]:
        forth = [(size + pad - k * dilation) // stride for size, stride, pad, k, dilation in axes(r)]
        back = [size * stride - pad + k * dilation for size, stride, pad, k, dilation in axes(r)]
        found = [size % (1 << 32) for size in (back if backward else forth)]  # unsigned, as in C
        return [r.inputs[0].sizes[0], *found, r.inputs[0].sizes[3]]

    def reversed_window(dim: int, stride: int, pad: int, k: int, dilation: int):
        start = int(Fraction(-(k + stride - 2) * dilation, stride))
        return steps(dim, 1 / stride, start, pad / stride)

    def mapping(r: Request) -> Patterns:
        read = [(reversed_window if backward else window)(d, *axis[1:]) for d, axis in enumerate(axes(r), 1)]
        image = access(block(0, 64), *read, point(3), memset=memset)
        return Patterns([image], [replace(same(64, 1, 1, 1)(r), memset_before_execution=memset)])

    checks = (expect_input_types(F32), expect_output_types(F32), expect_output_sizes(sizes))
    structure = f"{SPATIAL} include_pads:i"
    return kernel(name, 1, 1, checks, divided(sizes, 64, 1, 1, 1), mapping, structure=structure, aux=reciprocals)


def batch_norm(name: str) -> Kernel:
    def sizes_differ(r: Request) -> bool:
        return r.inputs[0].sizes[: r.outputs[0].dims] != r.outputs[0].sizes[: r.outputs[0].dims]

    def mapping(r: Request) -> Patterns:
        _, w, h, batch, _ = r.inputs[0].sizes
        image, channels = access(block(0, 64), block(1, ceil_div(w, 4) * 4), block(2, h), block(3, batch)), same(64)(r)
        return Patterns([image, channels, channels], [image, channels, channels])

    def scalars(r: Request) -> bytes:
        n = math.prod(r.inputs[0].sizes[1:4])
        return struct.pack("<3f", n, 1 / n, r.given.momentum)

    checks = (
        expect_input_types(F32, F32, F32),
        expect_output_types(F32, F32, F32),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, sizes_differ),
        refuse(GlueCode.INCOMPATIBLE_INPUT_SIZE, lambda r: len({tensor.sizes[0] for tensor in r.inputs}) > 1),
        refuse(GlueCode.INCOMPATIBLE_INPUT_SIZE, lambda r: any(tensor.dims != 1 for tensor in r.inputs[1:])),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: any(tensor.dims != 1 for tensor in r.outputs[1:])),
    )
    return kernel(
        name,
        3,
        3,
        checks,
        lambda r: [ceil_div(r.inputs[0].sizes[0], 64), 1, 1, 1],
        mapping,
        structure="n:f n_reciprocal:f momentum:f",
        scalars=scalars,
    )


def gather(name: str, axis: int) -> Kernel:
    def mapping(r: Request) -> Patterns:
        data = [block(0, 64), *(point(d) for d in range(1, 5))]
        data[axis] = whole(r.inputs[0].sizes[axis], axis)
        return Patterns([access(*data), access(block(0, 64))], [same(64, 1, 1, 1, 1)(r)])

    space = divided(lambda r: r.outputs[0].sizes, 64, 4, 1, 1, 1)
    return kernel(name, 2, 1, (expect_types([I32, I32], [I32]),), space, mapping, structure="axis:i")


def softmax(name: str, axis: int, table: bool) -> Kernel:
    def mapping(r: Request) -> Patterns:
        width, height = r.inputs[0].sizes[:2]
        along = access(whole(ceil_div(width, 128) * 128), point(1))
        both = access(block(0, 128), whole(height, 1)) if axis else along
        return Patterns([both], [both])

    def space(r: Request) -> list[int]:
        width, height = r.inputs[0].sizes[:2]
        return [width, 1, 1, 1] if axis else [1, height, 1, 1]

    def permutation(r: Request) -> list[AuxTensor]:
        note = "lane permutation table of 4 x 256 bytes (content not restated)"
        return [AuxTensor(TensorGeometry(1, (1024, 0, 0, 0, 0)), I8, bytes(1024), note=note)]

    checks = (
        refuse(GlueCode.INCOMPATIBLE_INPUT_SIZE, lambda r: r.inputs[0].dims != 2 or r.outputs[0].dims != 2),
        expect_types([BF16], [BF16]),
        expect_output_sizes(first_input),
    )
    more = {"aux": permutation} if table else {}
    # The axis is in the private structure, and the kernel gets no scalars.
    return kernel(name, 1, 1, checks, space, mapping, scalars=lambda r: b"", structure="axis:i", **more)


def upstream(version: str) -> Library:
    """Return the library of a version: the first one, of 2021, has other names, and a table that was removed later."""
    first, latest = version == "f544ed3", version == "main"
    custom = "" if first else "custom_"
    kernels = [
        leaky_relu(f"{custom}leakyrelu_f32_gaudi"),
        cast(f"{custom}cast_bf16_to_f32", BF16, F32),
        cast(f"{custom}cast_f32_to_bf16", F32, BF16),
        filter_2d(f"{custom}filter_fwd_2d_bf16", BF16),
        softmax(f"{custom}softmax_fcd_bf16", 0, table=first),
        softmax(f"{custom}softmax_non_fcd_bf16", 1, table=False),
        batch_norm("my_batch_norm_fwd_f32" if first else "custom_batch_norm_fwd_f32"),
    ]
    if first:
        kernels.append(replace(filter_i8("filter_2d_i8_w33_s11"), devices=frozenset([DeviceId.GOYA])))
    else:
        kernels += [
            add("custom_add_f32"),
            matrix_multiply("custom_matrix_multiply_fwd_f32"),
            spatial_conv("custom_spatial_conv_f32"),
            average_pool("custom_avg_pool_2d_fwd_f32", memset=False, backward=False),
            average_pool("custom_avg_pool_2d_bwd_f32", memset=latest, backward=True),
            gather("custom_gather_fwd_dim0_i32", 0),
            gather("custom_gather_fwd_dim1_i32", 1),
            relu("custom_relu6_fwd_f32", F32, backward=False),
            relu("custom_relu_bwd_bf16", BF16, backward=True),
        ]
    return Library(f"upstream {version}", tuple(kernels))
