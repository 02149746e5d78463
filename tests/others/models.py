"""Independent models of the specifications, computed with Python integers, from port bits to port bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

__all__ = ["MODELS", "Model"]


class Model(NamedTuple):
    """``inputs`` are the widths of the inputs; ``compute`` maps inputs to outputs, which are cut to their widths."""

    inputs: tuple[int, ...]
    compute: Callable[..., Sequence[int]]


def signed(value: int, width: int = 8) -> int:
    """Return ``value``, the bits of a two's complement number, as a signed number."""
    return value - (1 << width) if value >> (width - 1) else value


def gray(x: int) -> int:
    return x ^ x >> 1


def ungray(g: int) -> int:
    return next(x for x in range(256) if gray(x) == g)


def lowest(x: int) -> int:
    return x & -x


def highest(x: int) -> int:
    return 1 << x.bit_length() - 1 if x else 0


def parts(x: int, width: int, count: int) -> list[int]:
    return [x >> width * place & (1 << width) - 1 for place in range(count)]


def remainder(x: int, polynomial: int, degree: int) -> int:
    """Return the remainder of two polynomials over GF(2)."""
    while x >> degree:
        x ^= polynomial << x.bit_length() - 1 - degree
    return x


def product(a: int, b: int) -> int:
    """Return the product of two polynomials over GF(2)."""
    return 0 if not b else (a if b & 1 else 0) ^ product(a << 1, b >> 1)


def hamming(x: int) -> int:
    """Put the bits of ``x`` at places other than powers of two, counted from 1; the others make all parities even."""
    word, left = 0, [x >> place & 1 for place in range(8)]
    for place in range(1, 13):
        if place.bit_count() > 1 and left.pop(0):
            word |= 1 << place - 1
    wrong = 0
    for place in range(1, 13):
        wrong ^= place * (word >> place - 1 & 1)
    for place in (1, 2, 4, 8):
        word |= (1 << place - 1) * bool(wrong & place)
    return word | word.bit_count() % 2 << 12


def secded(x: int) -> int:
    masks = (0x00496E, 0x00F20B, 0x008ED8, 0x007714, 0x00ACA5, 0x0011F3)
    return x | sum(((x & mask).bit_count() & 1) << 16 + place for place, mask in enumerate(masks))


def saturated(values: int, valid: int) -> list[int]:
    chosen = [x for place, x in enumerate(parts(values, 8, 4)) if valid >> place & 1]
    return [min(sum(chosen), 255), valid != 0]


def greatest(values: int, valid: int) -> list[int]:
    numbers = parts(values, 6, 4)
    place = max((p for p in range(4) if valid >> p & 1), key=lambda p: (numbers[p], -p), default=0)
    return [numbers[place], place, valid != 0]


def or_of_places(x: int) -> int:
    found = 0
    for place in range(8):
        found |= place if x >> place & 1 else 0
    return found


def root(x: int) -> list[int]:
    return [math.isqrt(x), (x - math.isqrt(x) ** 2) % 16]


def summed(a: int, b: int, c: int) -> list[int]:
    total = signed(a) + signed(b) + c
    return [total, not -128 <= total < 128]


def ordered(*numbers: int) -> list[int]:
    return sorted(numbers)


S = signed
ONE, TWO, THREE, FOUR = (8,), (8, 8), (8, 8, 8), (8, 8, 8, 8)
MODELS = {
    "AddMop": Model((32,), lambda a: [sum(parts(a, 8, 4))]),
    "AddMulSgn": Model(THREE, lambda a, b, y: [(S(a) + S(b)) * S(y)]),
    "AddMulUns": Model(THREE, lambda a, b, y: [(a + b) * y]),
    "AddThree": Model(THREE, lambda a, b, c: [a + b + c]),
    "AddThreeSgn": Model(THREE, lambda a, b, c: [S(a) + S(b) + S(c)]),
    "AlphaBlend": Model(THREE, lambda a, b, c: [a * b + (256 - a) * c]),
    "CarrySaveCompare": Model(FOUR, lambda a, b, c, d: [a + b > c * d]),
    "CarrySaveSelect": Model((*FOUR, 8, 1), lambda a, b, c, d, e, sel: [(a * b if sel else c * d) + e]),
    "DotProduct": Model(FOUR, lambda a, b, c, d: [a * b + c * d]),
    "DotProductSgn": Model(FOUR, lambda a, b, c, d: [S(a) * S(b) + S(c) * S(d)]),
    "Fma": Model(THREE, lambda a, b, c: [a * b + c]),
    "FmaSgn": Model(THREE, lambda a, b, c: [S(a) * S(b) + S(c)]),
    "FmaShare": Model(FOUR, lambda a, b, c, d: [a * b + c, a * b + d]),
    "FmaShareSgn": Model(FOUR, lambda a, b, c, d: [S(a) * S(b) + S(c), S(a) * S(b) + S(d)]),
    "Fmaa": Model((8, 8, 25, 25), lambda a, b, c, d: [a * b + c + d]),
    "FmaaSgn": Model((8, 8, 25, 25), lambda a, b, c, d: [S(a) * S(b) - c - d]),
    "MulAddSgn": Model((8, 8, 16), lambda x, y, a: [S(x) * S(y) + a]),
    "MulAddUns": Model((8, 8, 16), lambda x, y, a: [x * y + a]),
    "MulThree": Model(FOUR, lambda a, b, c, d: [a * b * c]),
    "MulThreeSgn": Model(FOUR, lambda a, b, c, d: [S(a) * S(b) * S(c)]),
    "SqrSgn": Model(ONE, lambda x: [S(x) ** 2]),
    "SqrUns": Model(ONE, lambda x: [x**2]),
    "absolute_8": Model(ONE, lambda x: [abs(S(x))]),
    "binary_to_gray_8": Model(ONE, lambda x: [gray(x)]),
    "crc8_step": Model(TWO, lambda byte, state: [remainder((byte ^ state) << 8, 0x107, 8)]),
    "floor_log2_8": Model(ONE, lambda x: [max(x.bit_length() - 1, 0)]),
    "gf256_product": Model(TWO, lambda a, b: [remainder(product(a, b), 0x11B, 8)]),
    "grant_lowest_8": Model((1, 8), lambda ready, x: [lowest(x) * ready]),
    "gray_to_binary_8": Model(ONE, lambda g: [ungray(g)]),
    "greater_or_equal_8": Model(TWO, lambda a, b: [a >= b]),
    "greatest_of_4x6": Model((24, 4), greatest),
    "hamming_8": Model(ONE, lambda x: [hamming(x)]),
    "highest_one_8": Model(ONE, lambda x: [highest(x)]),
    "increment_to_gray_8": Model(ONE, lambda x: [gray((x + 1) % 256)]),
    "is_one_hot_8": Model(ONE, lambda x: [x.bit_count() == 1]),
    "leading_zeros_8": Model(ONE, lambda x: [8 - x.bit_length()]),
    "leading_zeros_8_or_empty": Model(ONE, lambda x: [min(8 - x.bit_length(), 7), x == 0]),
    "lowest_one_8": Model(ONE, lambda x: [lowest(x), -lowest(x) if x else 0, max(lowest(x).bit_length() - 1, 0)]),
    "multiply_add_8x8": Model((8, 8, 16), lambda a, b, c: [a * b + c]),
    "next_gray_8": Model(ONE, lambda g: [gray((ungray(g) + 1) % 256)]),
    "ones_up_to_8": Model((3,), lambda x: [(2 << x) - 1]),
    "or_of_places_8": Model(ONE, lambda x: [or_of_places(x)]),
    "parities_22_16": Model((16,), lambda x: [secded(x)]),
    "popcount_8": Model(ONE, lambda x: [x.bit_count()]),
    "priority_encoder_8": Model(ONE, lambda x: [x != 0, max(x.bit_length() - 1, 0), highest(x) or 1]),
    "product_5x5": Model((5, 5), lambda a, b: [a * b]),
    "product_8x8": Model(TWO, lambda a, b: [a * b]),
    "rotate_right_8": Model((8, 3), lambda x, by: [x >> by | x << 8 - by]),
    "saturating_sum_4x8": Model((32, 4), saturated),
    "signed_sum_and_overflow_8": Model((8, 8, 1), summed),
    "sort_4x8": Model(FOUR, ordered),
    "square_root_8": Model(ONE, root),
    "sum_modulo_255": Model(TWO, lambda a, b: [a + b if a + b <= 255 else a + b - 255]),
}
