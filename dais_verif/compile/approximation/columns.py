"""Columns of configurations: predict them from costs, and rewrite them from measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TypeVar

from dais_verif.base.errors import ApproximationError
from dais_verif.base.text import counted
from dais_verif.compile.approximation.choice import Accuracy
from dais_verif.compile.approximation.configuration import Configuration, ConfigurationFile, Number, Op
from dais_verif.compile.approximation.knobs import KNOBS, Knob
from dais_verif.compile.approximation.problems import error_at

__all__ = ["predicted_speedup", "require_fit", "rewrite_columns"]


_Value = TypeVar("_Value")

#: Accuracies are written to this many places, in percent.
_PLACES = Decimal("0.000001")
_EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)


def predicted_speedup(
    one: Configuration, costs: Sequence[Sequence[int]], knobs: Mapping[int, Knob] = KNOBS
) -> Fraction:
    """Return the speed-up of ``one`` over single precision by the tuner's linear model.

    ``costs``: multiply-adds of each op of each node. The prediction is ``sum(cost) / sum(cost / speed-up of knob)``,
    with a speed-up of 1 for a knob that is not set. Raises ``InputError`` if the numbers of costs and of ops differ.
    """
    if [len(node.ops) for node in one.nodes] != [len(row) for row in costs]:
        raise ApproximationError(f"costs must have a number for each op of each node of {one.name!r}")
    pairs = [
        (Fraction(cost), op)
        for node, row in zip(one.nodes, costs, strict=True)
        for op, cost in zip(node.ops, row, strict=True)
    ]
    if any(cost < 0 for cost, _ in pairs) or not any(cost for cost, _ in pairs):
        raise ApproximationError("costs must be 0 or more, and not all of them 0")
    whole = sum((cost for cost, _ in pairs), Fraction(0))
    return whole / sum((cost / _speedup(op, knobs) for cost, op in pairs), Fraction(0))


def _speedup(op: Op, knobs: Mapping[int, Knob]) -> Fraction:
    return Fraction(1) if op.knob == 1 else Fraction(op.meant(knobs).speedup)


def rewrite_columns(
    file: ConfigurationFile,
    accuracies: Mapping[str, Accuracy],
    speedups: Mapping[str, Fraction | float] | None = None,
) -> ConfigurationFile:
    """Return ``file`` with measured accuracies, their losses, both in percent, and ``speedups``.

    Losses are relative to the first configuration. ``accuracies`` and ``speedups`` have one value per configuration, by
    name; without ``speedups`` the column is unchanged. Accuracy and loss add up exactly, as decimals. Energy is
    unchanged, since it was not measured. Raises ``InputError`` if a configuration has no value.
    """
    first = _percent(_of(file.configurations[0], accuracies, "accuracy"))
    changed = []
    for one in file.configurations:
        accuracy = _percent(_of(one, accuracies, "accuracy"))
        speedup = one.speedup if speedups is None else Number.of(float(_of(one, speedups, "speed-up")))
        loss = _EXACT.subtract(first, accuracy)
        changed.append(replace(one, speedup=speedup, accuracy=_number(accuracy), loss=_number(loss)))
    return replace(file, configurations=tuple(changed))


def _of(one: Configuration, values: Mapping[str, _Value], what: str) -> _Value:
    if one.name not in values:
        raise ApproximationError(f"the {what} of configuration {one.name!r} is missing")
    return values[one.name]


def _percent(accuracy: Accuracy) -> Decimal:
    exact = accuracy.percent
    return _EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator)).quantize(_PLACES, context=_EXACT)


def _number(value: Decimal) -> Number:
    """Return ``value`` with as many decimal places as it needs, but at least one."""
    text = f"{value:f}".rstrip("0")
    return Number(f"{text}0" if text.endswith(".") else text)


# Check that a configuration matches a network: node by node, the same operations in the same order.


#: The maximum number of operations that an error lists.
_SHOWN = 12


def require_fit(file: ConfigurationFile, one: Configuration, network: Sequence[Sequence[str]]) -> None:
    """Raise ``ConfigurationError`` unless ``one`` of ``file`` fits ``network``, the operations of each fused node.

    HPVM numbers nodes 1, 2, 3, ... in the order of the program, and looks them up by these numbers.
    """
    for at, (node, theirs) in enumerate(zip(one.nodes, network, strict=False), 1):
        if node.id != at:
            problem = f"nodes must be numbered 1, 2, 3, ...; node {at} is expected here"
            raise error_at(file.name, node.line, str(node.id), problem)
        ours = [op.op for op in node.ops]
        if ours != list(theirs):
            problem = f"node {at} of {one.name!r} is {_listed(ours)}; that of the network is {_listed(theirs)}"
            raise error_at(file.name, node.line, None, problem)
    if len(one.nodes) != len(network):
        many = f"{one.name!r} has {counted(len(one.nodes), 'node')}, the network has {counted(len(network), 'node')}"
        if len(one.nodes) < len(network):
            more = f"node {len(one.nodes) + 1}, {_listed(network[len(one.nodes)])}, is missing"
            raise error_at(file.name, one.line, None, f"{many}: {more}")
        node = one.nodes[len(network)]
        problem = f"{many}: node {node.id}, {_listed([op.op for op in node.ops])}, is not in the network"
        raise error_at(file.name, node.line, None, problem)


def _listed(ops: Sequence[str]) -> str:
    shown = " + ".join(op[:40] for op in ops[:_SHOWN])
    return f"{shown} + ..." if len(ops) > _SHOWN else shown or "empty"
