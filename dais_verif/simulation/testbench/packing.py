"""Convert integers to packed rows and back, in whole batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dais_verif.simulation.testbench.packed_rows import WORD, Words, row_words
from dais_verif.spec.program.numbers import Batch, IntArray, floor_to_grid
from dais_verif.spec.program.ports import Element, Ports

__all__ = ["pack_inputs", "pack_outputs", "unpack_element"]


def pack_inputs(batch: Batch, ports: Ports) -> Words:
    """Return packed rows of ``model_inp``: ``floor(x * 2**-lo) mod 2**width`` per element."""
    raw = [floor_to_grid(column, -element.lo) for column, element in zip(batch.columns, ports.inputs, strict=True)]
    return _pack(raw, ports.inputs, ports.input_bits, batch.rows)


def pack_outputs(raw: Sequence[IntArray], ports: Ports, rows: int) -> Words:
    """Return packed rows of ``model_out`` from raw outputs, shape (rows,) each."""
    return _pack(raw, ports.outputs, ports.output_bits, rows)


def _pack(raw: Sequence[IntArray], elements: Sequence[Element], total: int, rows: int) -> Words:
    planes = np.zeros((row_words(total), rows), dtype="<u8")
    for values, element in zip(raw, elements, strict=True):
        for part, width, values_of_part in _parts(values, element):
            word, shift = divmod(part, WORD)
            masked = values_of_part & np.uint64((1 << width) - 1)
            planes[word] |= masked << np.uint64(shift)
            if shift + width > WORD:
                planes[word + 1] |= masked >> np.uint64(WORD - shift)
    return np.ascontiguousarray(planes.T)


def _parts(values: IntArray, element: Element) -> list[tuple[int, int, Words]]:
    """Return an element in parts of at most one word: (offset in the port, width, values modulo ``2**64``)."""
    if element.width == 0:
        return []
    if values.dtype != object:
        whole = [(element.offset, min(element.width, WORD), values.astype(np.int64, copy=False).view(np.uint64))]
        for done in range(WORD, element.width, WORD):  # above its 64 bits, an int64 is sign-extended
            sign = (values >> 63).astype(np.int64, copy=False).view(np.uint64)
            whole.append((element.offset + done, min(element.width - done, WORD), sign))
        return whole
    pieces = []
    for done in range(0, element.width, WORD):
        piece = ((values >> done) & ((1 << WORD) - 1)).astype(np.uint64)
        pieces.append((element.offset + done, min(element.width - done, WORD), piece))
    return pieces


def unpack_element(bits: str, element: Element) -> str:
    """Extract the bits of one element from the bits of a port, both most significant first."""
    end = len(bits) - element.offset
    return bits[end - element.width : end]
