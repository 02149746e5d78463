"""Kernels without computation: their mapping alone moves elements."""

from __future__ import annotations

from dais_verif.compile.kernels.blocks import BlockBuilder, Value
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.glue import Kernel, Patterns, Request
from dais_verif.compile.kernels.rules import access, expect_output_sizes, point, refuse, whole
from dais_verif.compile.kernels.shipped.common import check_types, fixed, ports_fit, program_of
from dais_verif.compile.kernels.structures import MAX_DIMS, PrivateStructure, WrittenBack

__all__ = ["AXIS", "CONCAT", "PERMUTATION", "TRANSPOSE"]

#: Dimension ``d`` of the output is dimension ``source_d`` of the input; the fastest is 0.
PERMUTATION = PrivateStructure.of(" ".join(f"source_{d}:i" for d in range(MAX_DIMS)))
#: The dimension along which tensors are concatenated; the fastest is 0.
AXIS = PrivateStructure.of("axis:i")


def _sources(request: Request) -> list[int]:
    return [getattr(request.given, f"source_{d}") for d in range(request.inputs[0].dims)]


def _wire(request: Request, builder: BlockBuilder) -> list[Value]:
    return [builder.input(fixed(request, 0))]


def _transposed(request: Request) -> Patterns:
    sources = _sources(request)
    read = access(*(point(sources.index(d)) for d in range(len(sources))))
    return Patterns([read], [access(*(point(d) for d in range(len(sources))))])


TRANSPOSE = Kernel(
    "transpose",
    inputs=1,
    outputs=1,
    structure=PERMUTATION,
    index_space=lambda r: r.outputs[0].geometry.shape,
    patterns=_transposed,
    program=program_of(_wire),
    checks=(
        refuse(GlueCode.UNSUPPORTED_LAYER_CONFIGURATION, lambda r: not r.inputs[0].dims),
        refuse(GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT, lambda r: sorted(_sources(r)) != list(range(r.inputs[0].dims))),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
        expect_output_sizes(lambda r: [r.inputs[0].sizes[d] for d in _sources(r)]),
        check_types(_wire),
    ),
    input_names=("input",),
    about="dimension d of the output is dimension source_d of the input",
)


def _wires(request: Request, builder: BlockBuilder) -> list[Value]:
    axis = request.given.axis
    return [builder.input(fixed(request, at)) for at in (0, 1) for _ in range(request.inputs[at].sizes[axis])]


def _others(request: Request) -> list[int]:
    return [d for d in range(request.inputs[0].dims) if d != request.given.axis]


def _joined(request: Request) -> Patterns:
    axis, others = request.given.axis, _others(request)

    patterns = [
        access(*(whole(t.sizes[axis]) if d == axis else point(others.index(d)) for d in range(t.dims)))
        for t in (*request.inputs, *request.outputs)
    ]
    return Patterns(patterns[:2], patterns[2:])


def _beside(request: Request) -> list[int]:
    """Return the sizes that the second input must have: those of the first one, except along the axis."""
    a, b = request.inputs
    return [b.sizes[d] if d == request.given.axis else size for d, size in enumerate(a.sizes)]


def _shapes_differ(request: Request) -> bool:
    a, b = request.inputs
    return a.dims != b.dims or any(a.sizes[d] != b.sizes[d] for d in _others(request))


CONCAT = Kernel(
    "concat",
    inputs=2,
    outputs=1,
    structure=AXIS,
    # One member per line along the axis; a tensor of one dimension is one line.
    index_space=lambda r: [r.inputs[0].sizes[d] for d in _others(r)] or [1],
    patterns=_joined,
    program=program_of(_wires),
    checks=(
        refuse(GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT, lambda r: not 0 <= r.given.axis < r.inputs[0].dims),
        refuse(
            GlueCode.INCOMPATIBLE_INPUT_SIZE,
            _shapes_differ,
            lambda r: WrittenBack(input_sizes={1: tuple(_beside(r))}),
            why="inputs must have the same shape, except along the axis",
        ),
        refuse(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, lambda r: r.outputs[0].dims != r.inputs[0].dims),
        expect_output_sizes(
            lambda r: [
                size + (r.inputs[1].sizes[d] if d == r.given.axis else 0) for d, size in enumerate(r.inputs[0].sizes)
            ]
        ),
        ports_fit(lambda r: r.outputs[0].sizes[r.given.axis]),
        check_types(_wires),
    ),
    input_names=("input", "other"),
    about="y after x along an axis",
)
