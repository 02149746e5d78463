"""Softmax in fixed point: a table of exponentials, their sum, a table of reciprocals of the sum, and products."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dais_verif.compile.kernels.blocks import BlockBuilder, Value, balanced
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.glue import Kernel, Patterns, Request
from dais_verif.compile.kernels.rules import access, expect_output_sizes, point, refuse, whole
from dais_verif.compile.kernels.shipped.common import check_types, fixed, program_of
from dais_verif.compile.kernels.shipped.elementwise import WIDEST_TABLE
from dais_verif.compile.kernels.structures import PrivateStructure
from dais_verif.spec.program import FixedType

__all__ = ["SOFTMAX", "STRUCTURE"]

#: The private structure. ``axis``: counted from the fastest dimension. Numbers of fractional bits: ``exp_bits`` of
#: exponentials, ``sum_bits`` of their sum for the table of reciprocals, ``reciprocal_bits`` of the reciprocal.
STRUCTURE = PrivateStructure.of("axis:i exp_bits:i sum_bits:i reciprocal_bits:i")
#: The most fractional bits of table entries, few enough for float64 to compute and round them correctly.
_MOST_BITS = 24


def _exponentials(request: Request, builder: BlockBuilder, x: Sequence[Value]) -> list[Value]:
    """Return ``exp(x - max(x))``, rounded to the nearest multiple of ``2**-exp_bits``; it is 1 for the largest x."""
    kind, bits = fixed(request, 0), request.given.exp_bits
    if not kind.width:
        return [builder.constant(1, 0)] * len(x)
    largest = balanced(builder.maximum, x)
    # The difference to the largest value is never negative, and has as many bits as the input: relu expresses this in
    # types.
    lacks = FixedType(0, kind.k + kind.i, kind.f)
    entries = [round(math.ldexp(math.exp(-math.ldexp(raw, -kind.f)), bits)) for raw in range(1 << lacks.width)]
    differences = [builder.relu(builder.add(largest, -one)) for one in x]
    return [builder.lookup(one, lacks, entries, FixedType(0, 1, bits)) for one in differences]


def _reciprocal(request: Request, builder: BlockBuilder, total: Value, count: int) -> Value:
    """Return the rounded reciprocal of a sum from 1 to ``count``, which is first floored to ``sum_bits``."""
    g = request.given
    index = FixedType(0, count.bit_length(), g.sum_bits)
    one = 1 << g.reciprocal_bits
    # The largest input adds 1 to the sum, so that entries below 1 are never looked up; they are 1, too.
    raws = range((count << g.sum_bits) + 1)
    entries = [min(((one << g.sum_bits + 1) // raw + 1) // 2, one) if raw else one for raw in raws]
    return builder.lookup(total, index, entries, FixedType(0, 1, g.reciprocal_bits))


def _block(request: Request, builder: BlockBuilder) -> list[Value]:
    count = request.inputs[0].sizes[request.given.axis]
    exponentials = _exponentials(request, builder, [builder.input(fixed(request, 0)) for _ in range(count)])
    factor = _reciprocal(request, builder, builder.sum(exponentials), count)
    results = [builder.multiply(one, factor) for one in exponentials]
    kind = request.outputs[0].data_type
    if not isinstance(kind, FixedType):
        return results
    # In a type without integer bits, a probability of 1 saturates instead of wrapping to 0.
    end = builder.constant(kind.raw_max, kind.f)
    return [builder.at_most(one, end) for one in results]


def _others(request: Request) -> list[int]:
    return [d for d in range(request.inputs[0].dims) if d != request.given.axis]


def _patterns(request: Request) -> Patterns:
    axis, others, x = request.given.axis, _others(request), request.inputs[0]
    line = access(*(whole(x.sizes[d]) if d == axis else point(others.index(d)) for d in range(x.dims)))
    return Patterns([line], [line])


def _bits_differ(request: Request) -> bool:
    g = request.given
    most = min(g.exp_bits, _MOST_BITS)
    return not (1 <= g.exp_bits <= _MOST_BITS and 0 <= g.sum_bits <= most and 0 <= g.reciprocal_bits <= _MOST_BITS)


SOFTMAX = Kernel(
    "softmax",
    inputs=1,
    outputs=1,
    structure=STRUCTURE,
    # One member per line along the axis; a tensor of one dimension is one line.
    index_space=lambda r: [r.inputs[0].sizes[d] for d in _others(r)] or [1],
    patterns=_patterns,
    program=program_of(_block),
    checks=(
        refuse(
            GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT,
            lambda r: not 0 <= r.given.axis < r.inputs[0].dims,
            why="axis must be a dimension of the input, counted from the fastest, which is 0",
        ),
        refuse(
            GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT,
            _bits_differ,
            why=f"exp_bits must be 1 to {_MOST_BITS}, sum_bits 0 to exp_bits, and reciprocal_bits 0 to {_MOST_BITS}",
        ),
        refuse(
            GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
            lambda r: not r.inputs[0].sizes[r.given.axis],
            why="the axis has no elements",
        ),
        refuse(
            GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
            lambda r: isinstance(r.inputs[0].data_type, FixedType) and fixed(r, 0).width > WIDEST_TABLE,
            why=f"exponentials are a table: the input may have up to {WIDEST_TABLE} bits; cast it first",
        ),
        refuse(
            GlueCode.UNSUPPORTED_LAYER_CONFIGURATION,
            lambda r: r.inputs[0].sizes[r.given.axis].bit_length() + r.given.sum_bits > WIDEST_TABLE,
            why=f"the table of reciprocals has more than 2**{WIDEST_TABLE} entries: use fewer sum_bits",
        ),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
        expect_output_sizes(lambda r: r.inputs[0].sizes),
        check_types(_block),
    ),
    input_names=("input",),
    defaults={"exp_bits": 12, "sum_bits": 8, "reciprocal_bits": 16},
    about="exp(x) / sum(exp(x)) of each line along an axis, by tables",
)
