"""Building blocks of glue code: checks of a request, and the usual patterns of a dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.data_types import TensorType
from dais_verif.compile.kernels.glue import Check, Fault, Request
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.structures import Tensor, WrittenBack

__all__ = [
    # checks
    "expect_input_types",
    "expect_output_sizes",
    "expect_output_types",
    "expect_types",
    "refuse",
    # patterns of dimensions
    "access",
    "block",
    "point",
    "steps",
    "whole",
    "window",
    # sizes
    "ceil_div",
    "window_fits",
    "window_outputs",
]

#: The required types of tensors, in order; None: not checked.
Types = Sequence[TensorType | None]


def refuse(
    code: GlueCode,
    when: Callable[[Request], bool],
    written: Callable[[Request], WrittenBack] | None = None,
    *,
    why: str = "",
) -> Check:
    """Return a check that refuses requests for which ``when`` holds with ``code``, and writes back ``written``.

    ``why``: the error and the remedy, in one line for users.
    """

    def check(request: Request) -> Fault | None:
        if not when(request):
            return None
        return Fault(code, written(request) if written else WrittenBack(), why)

    return check


def expect_types(inputs: Types, outputs: Types) -> Check:
    """Return a check of all types that, if one is wrong, writes back all types, including right ones."""

    def check(request: Request) -> Fault | None:
        if not (_wrong(request.inputs, inputs) or _wrong(request.outputs, outputs)):
            return None
        return Fault(
            GlueCode.INCOMPATIBLE_DATA_TYPE, WrittenBack(input_types=_known(inputs), output_types=_known(outputs))
        )

    return check


def expect_input_types(*inputs: TensorType | None) -> Check:
    """Return a check of the inputs' types that writes back only types that are wrong."""

    def check(request: Request) -> Fault | None:
        wrong = _wrong(request.inputs, inputs)
        return Fault(GlueCode.INCOMPATIBLE_DATA_TYPE, WrittenBack(input_types=wrong)) if wrong else None

    return check


def expect_output_types(*outputs: TensorType | None) -> Check:
    """Return a check of the outputs' types; it writes back the right type of each output that has a wrong one."""

    def check(request: Request) -> Fault | None:
        wrong = _wrong(request.outputs, outputs)
        return Fault(GlueCode.INCOMPATIBLE_DATA_TYPE, WrittenBack(output_types=wrong)) if wrong else None

    return check


def _known(types: Types) -> dict[int, TensorType]:
    return {at: kind for at, kind in enumerate(types) if kind is not None}


def _wrong(tensors: Sequence[Tensor], types: Types) -> dict[int, TensorType]:
    return {at: kind for at, kind in _known(types).items() if tensors[at].data_type != kind}


def expect_output_sizes(sizes: Callable[[Request], Sequence[int]], output: int = 0, *, write: bool = True) -> Check:
    """Return a check of an output's sizes in the dimensions that it has. ``write``: write the right sizes back."""

    def check(request: Request) -> Fault | None:
        tensor, expected = request.outputs[output], tuple(sizes(request))
        rank = min(tensor.dims, len(expected))
        if tensor.sizes[:rank] == expected[:rank]:
            return None
        written = WrittenBack(output_sizes={output: expected}) if write else WrittenBack()
        return Fault(GlueCode.INCOMPATIBLE_OUTPUT_SIZE, written)

    return check


def access(*dims: DimPattern, all_required: bool = False, memset: bool = False) -> AccessPattern:
    """Return the pattern of a tensor from the patterns of its dimensions, the fastest first."""
    return AccessPattern(dims, all_required, memset)


def steps(dim: int, a: float, start_b: float, end_b: float) -> DimPattern:
    """Return the pattern ``a * member + start_b`` to ``a * member + end_b`` over a dimension of the index space."""
    return DimPattern.affine(dim, a, start_b, end_b)


def block(dim: int, count: int) -> DimPattern:
    """Return the pattern of ``count`` elements per member, one member after the other."""
    return DimPattern.affine(dim, count, 0, count - 1)


def point(dim: int) -> DimPattern:
    """Return the pattern of one element per member."""
    return block(dim, 1)


def whole(size: int, dim: int = 0) -> DimPattern:
    """Return the pattern of a dimension in which each member touches all ``size`` elements."""
    return DimPattern.affine(dim, 0, 0, size - 1)


def window(dim: int, stride: int, pad: int, kernel: int, dilation: int, count: int = 1) -> DimPattern:
    """Return the pattern of the inputs of a convolution or pooling with ``count`` outputs per member.

    With ``K = (kernel - 1) * dilation + 1`` a member reads ``K * count - (K - stride) * (count - 1)`` elements.
    """
    reach = (kernel - 1) * dilation + 1
    return DimPattern.affine(dim, count * stride, -pad, -pad + reach * count - (reach - stride) * (count - 1) - 1)


def ceil_div(number: int, by: int) -> int:
    """Return ``number / by``, rounded up."""
    return -(-number // by)


def window_fits(size: int, pad: int, kernel: int, dilation: int) -> bool:
    """Return True if a window fits into a dimension with its pads."""
    return 2 * pad + size >= dilation * (kernel - 1) + 1


def window_outputs(size: int, stride: int, pad: int, kernel: int, dilation: int) -> int:
    """Return how many outputs a convolution has in a dimension of ``size`` elements."""
    return (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
