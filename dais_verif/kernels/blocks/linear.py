"""Sums of products with constants, as shifts and adds that are shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dais_verif.kernels.blocks.builder import BlockBuilder, Value

__all__ = ["digits_of", "dot", "scaled"]


def digits_of(number: int) -> Iterator[tuple[int, int]]:
    """Yield the non-zero digits of ``number`` in canonical signed form: position, and 1 or -1.

    No two adjacent digits are non-zero, and no other form with digits 0, 1 and -1 has fewer non-zero digits.
    """
    at = 0
    while number:
        if number & 1:
            digit = 2 - (number & 3)
            yield at, digit
            number -= digit
        number >>= 1
        at += 1


def scaled(builder: BlockBuilder, value: Value, constant: int) -> Value:
    """Return ``constant * value``; the odd part of a constant is computed once, whatever its sign and power of two."""
    if not constant:
        return Value()
    shift = (constant & -constant).bit_length() - 1
    odd = abs(constant) >> shift
    product = builder.sum([value << at if digit > 0 else -(value << at) for at, digit in digits_of(odd)])
    return (-product if constant < 0 else product) << shift


def dot(builder: BlockBuilder, values: Sequence[Value], constants: Sequence[int], f: int, bias: Value) -> Value:
    """Return ``sum(values * constants) * 2**-f + bias``, exactly."""
    products = [scaled(builder, value, constant) << -f for value, constant in zip(values, constants, strict=True)]
    return builder.sum([one for one in (*products, bias) if one.op is not None])
