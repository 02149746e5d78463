"""A shipped kernel that refuses a request writes back a correction, with which the repeated request is answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from support.said import as_recorded

from dais_verif.campaigns.fuzzing.generate.random_kernels import SHIPPED, asked
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.data_types import DataType
from dais_verif.compile.kernels.shipped import LIBRARY
from dais_verif.compile.kernels.structures import (
    NO_BUFFERS,
    HabanaKernelParams,
    Tensor,
    TensorGeometry,
    apply_written,
)

ROOM = replace(NO_BUFFERS, elf_size=1 << 20)
Params = HabanaKernelParams


def resized(tensor: Tensor) -> Tensor:
    """Return the tensor with seven more elements in its fastest dimension."""
    sizes = (tensor.sizes[0] + 7, *tensor.sizes[1:])
    return replace(tensor, geometry=TensorGeometry(tensor.dims, sizes))


def second_resized(params: Params) -> Params:
    first, second, *rest = params.input_tensors
    return replace(params, input_tensors=(first, resized(second), *rest))


WRONG: dict[GlueCode, Callable[[Params], Params]] = {
    GlueCode.INCOMPATIBLE_INPUT_COUNT: lambda p: replace(
        p, input_tensors=(*p.input_tensors, *[p.input_tensors[0]] * 3)
    ),
    GlueCode.INCOMPATIBLE_OUTPUT_COUNT: lambda p: replace(p, output_tensors=p.output_tensors * 2),
    GlueCode.INCOMPATIBLE_OUTPUT_SIZE: lambda p: replace(p, output_tensors=(resized(p.output_tensors[0]),)),
    GlueCode.INCOMPATIBLE_DATA_TYPE: lambda p: replace(
        p, output_tensors=(replace(p.output_tensors[0], data_type=DataType.F32),)
    ),
}
#: Kernels whose exact results fit no type, so that no type can be written back.
ROUNDED = {"tanh", "sigmoid"}


@pytest.mark.parametrize("code", WRONG, ids=lambda code: code.name.lower())
@pytest.mark.parametrize("name", SHIPPED)
def test_it_is_answered_when_it_is_made_again(name: str, code: GlueCode) -> None:
    right = asked(name, 0).params
    if code is GlueCode.INCOMPATIBLE_INPUT_COUNT:  # kernels with three inputs may omit the last
        right = next(
            one
            for one in (asked(name, seed).params for seed in range(20))
            if len(one.input_tensors) != 2 or name in ("add", "sub", "mul", "concat")
        )
    wrong = WRONG[code](right)
    found, answer = LIBRARY.habana_kernel(wrong, ROOM)
    assert found is code
    if name in ROUNDED and code is GlueCode.INCOMPATIBLE_DATA_TYPE:
        as_recorded(answer.failure)
        return
    found, answer = LIBRARY.habana_kernel(apply_written(wrong, answer.written_back), ROOM)
    assert found is GlueCode.SUCCESS and answer.kernel_elf


@pytest.mark.parametrize("name", ["add", "sub", "mul", "concat"])
def test_so_is_an_input_of_another_size(name: str) -> None:
    seeds = (asked(name, seed) for seed in range(20))
    right = next(one.params for one in seeds if name != "concat" or one.given.axis)
    wrong = second_resized(right)
    found, answer = LIBRARY.habana_kernel(wrong, ROOM)
    assert found is GlueCode.INCOMPATIBLE_INPUT_SIZE
    found, answer = LIBRARY.habana_kernel(apply_written(wrong, answer.written_back), ROOM)
    assert found is GlueCode.SUCCESS and answer.kernel_elf
