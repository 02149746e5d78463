"""Compare the results that a board with taps gives for a few vectors with the oracle: find wrong taps and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dais_verif.golden import oracle
from dais_verif.hil.identity import Identity
from dais_verif.hil.session import Session
from dais_verif.hil.verify import as_bytes, as_words
from dais_verif.program import Program
from dais_verif.program.numbers import Batch
from dais_verif.program.ports import ports_of
from dais_verif.program.taps import tapped
from dais_verif.record.simulation import Value
from dais_verif.simulation.diagnosis.blame import value_of_bits, value_of_raw
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, unpack_element

__all__ = ["TappedRow", "read_taps"]


@dataclass(frozen=True)
class TappedRow:
    """The result for a vector: the ``expected`` and ``found`` values of each tap, and the wrong outputs."""

    row: int
    expected: dict[int, Value]
    found: dict[int, Value]
    wrong_outputs: frozenset[int]

    @property
    def wrong(self) -> frozenset[int]:
        """The ops whose taps are wrong."""
        return frozenset(op for op, value in self.expected.items() if value.bits != self.found[op].bits)


def read_taps(
    program: Program, ops: Sequence[int], batch: Batch, rows: Sequence[int], session: Session, identity: Identity
) -> list[TappedRow]:
    """Send ``batch`` to a board that runs ``program`` with taps of ``ops``, and return the result of each vector.

    ``rows``: the numbers of the vectors, which the results contain.
    """
    with_taps = tapped(program, ops)
    ports = ports_of(with_taps)
    (results,) = session.run([as_bytes(pack_inputs(batch, ports), ports.input_bits)], identity)
    words = as_words(np.asarray(results), ports.output_bits)
    return [
        _row(with_taps, program.n_out, ops, batch, position, row, bits_of_row(words, position, ports.output_bits))
        for position, row in enumerate(rows)
    ]


def _row(
    with_taps: Program, n_out: int, ops: Sequence[int], batch: Batch, position: int, row: int, bits: str
) -> TappedRow:
    elements, kinds = ports_of(with_taps).outputs, with_taps.output_types
    values = oracle.outputs_of(with_taps, oracle.trace(with_taps, batch.row(position), violations=[]))
    right = [value_of_raw((v * oracle.two(kind.f)).numerator, kind) for v, kind in zip(values, kinds, strict=True)]
    found = [
        value_of_bits(unpack_element(bits, element) or "0", kind) for element, kind in zip(elements, kinds, strict=True)
    ]
    wrong = {n for n in range(n_out) if elements[n].width and right[n].bits != found[n].bits}
    return TappedRow(
        row,
        dict(zip(ops, right[n_out:], strict=True)),
        dict(zip(ops, found[n_out:], strict=True)),
        frozenset(wrong),
    )
