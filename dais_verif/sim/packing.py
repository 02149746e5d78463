"""Integers to port bits and back, whole batches at a time.

A packed row is the port's bits, bit 0 first, in little-endian bytes: ``ceil(bits / 8)`` of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dais_verif.program.numbers import Batch, IntArray, floor_to_grid
from dais_verif.program.ports import Element, Ports

__all__ = ["pack_inputs", "pack_outputs", "unpack_element"]

Bits = NDArray[np.uint8]


def pack_inputs(batch: Batch, ports: Ports) -> Bits:
    """Packed rows of ``model_inp``, uint8 (rows, ceil(bits / 8)): ``floor(x * 2**-lo) mod 2**width`` an element."""
    raw = [floor_to_grid(column, -element.lo) for column, element in zip(batch.columns, ports.inputs, strict=True)]
    return _pack(raw, ports.inputs, ports.input_bits, batch.rows)


def pack_outputs(raw: Sequence[IntArray], ports: Ports, rows: int) -> Bits:
    """Packed rows of ``model_out``, uint8 (rows, ceil(bits / 8)), from raw outputs."""
    return _pack(raw, ports.outputs, ports.output_bits, rows)


def _pack(raw: Sequence[IntArray], elements: Sequence[Element], total: int, rows: int) -> Bits:
    bits = np.zeros((rows, total), dtype=np.uint8)
    for values, element in zip(raw, elements, strict=True):
        if element.width:
            bits[:, element.offset : element.offset + element.width] = _bits_of(values, element.width)
    return np.packbits(bits, axis=1, bitorder="little")


def _bits_of(values: IntArray, width: int) -> Bits:
    """The low ``width`` bits of every value, two's complement, bit 0 first: (rows, width)."""
    if values.dtype != object and width <= 64:
        little = values.astype("<i8").view(np.uint8).reshape(-1, 8)
        return np.unpackbits(little, axis=1, count=width, bitorder="little")
    size = (width + 7) // 8
    mask = (1 << width) - 1
    data = b"".join((int(value) & mask).to_bytes(size, "little") for value in values)
    little = np.frombuffer(data, dtype=np.uint8).reshape(-1, size)
    return np.unpackbits(little, axis=1, count=width, bitorder="little")


def unpack_element(bits: str, element: Element) -> str:
    """The bits of one element, most significant first, out of a port's bits written most significant first."""
    end = len(bits) - element.offset
    return bits[end - element.width : end]
