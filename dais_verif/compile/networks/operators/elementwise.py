"""Operators that compute each element separately."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dais_verif.compile.networks.arithmetic import Element
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data, each
from dais_verif.compile.networks.problems import Refusal

__all__ = ["OPERATORS"]


def _binary(call: Call, compute: Callable[[Element, Element], Element]) -> Data:
    first, second = call.reals(0, "first operand"), call.reals(1, "second operand")
    if first.dtype != second.dtype:
        raise Refusal(f"its operands are of different kinds, {first.dtype} and {second.dtype}")
    return each(compute, *call.broadcast(first, second))


def _unary(call: Call, data: Data, compute: Callable[[Element], Element]) -> Data:
    call.budget.take(data.size)
    return each(compute, data)


def _relu(call: Call) -> Data:
    return _unary(call, call.input(0, "data"), lambda one: call.ops.maximum(one, Fraction(0)))


def _leaky_relu(call: Call) -> Data:
    """Return ``alpha * x`` where x is below 0; ``alpha`` is the exact value of its binary32."""
    slope = call.number("alpha", 0.01)
    return _unary(call, call.reals(0, "data"), lambda one: call.ops.select(one, call.ops.multiply(one, slope), one))


def _clip(call: Call) -> Data:
    """Clip to bounds, which are attributes up to opset 10 and inputs in later ones."""
    if call.opset < 11:
        bounds = [call.number(name, 0) if name in call.attributes else None for name in ("min", "max")]
    else:
        bounds = [
            call.numbers(number, what)[0] if call.optional(number) is not None else None
            for number, what in ((1, "lower bound"), (2, "upper bound"))
        ]
    return _unary(call, call.input(0, "data"), lambda one: call.ops.clamp(one, *bounds))


OPERATORS: dict[str, Callable[[Call], Data]] = {
    "Add": lambda call: _binary(call, call.ops.add),
    "Sub": lambda call: _binary(call, call.ops.subtract),
    "Mul": lambda call: _binary(call, call.ops.multiply),
    "Relu": _relu,
    "LeakyRelu": _leaky_relu,
    "Clip": _clip,
}
