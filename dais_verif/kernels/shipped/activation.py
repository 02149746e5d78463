"""Activations with parameters, and those that are tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dais_verif.errors import KernelError
from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.kernels.blocks.linear import scaled
from dais_verif.kernels.codes import GlueCode
from dais_verif.kernels.glue import Kernel, Request
from dais_verif.kernels.private import PrivateStructure
from dais_verif.kernels.rules import refuse
from dais_verif.kernels.shipped.common import fixed
from dais_verif.kernels.shipped.elementwise import elementwise
from dais_verif.kernels.shipped.fused import MOST_FRACTION
from dais_verif.program import FixedType

__all__ = ["ACTIVATION_KERNELS", "WIDEST_TABLE"]

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
