"""Input vectors as async iterables: generated, exhaustive, or from a file."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cocotb.triggers import Trigger

from dais_verif.base.errors import BenchError
from dais_verif.cocotb.model import DaisModel
from dais_verif.cocotb.port_rows import FixedPointVector, RowLayout
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus.files import read_batch
from dais_verif.verbs.vectors import WithBoundaries

__all__ = ["VectorStream", "exhaustive_vectors", "generate_vectors", "read_vectors"]

#: The number of vectors generated at a time.
_BLOCK = 256
#: The most bits of ``model_inp`` for exhaustive vectors, since more bits would take too long.
_MOST_BITS = 24


@dataclass(frozen=True)
class VectorStream:
    """Vectors for a design: ``async for vector in stream`` or ``for vector in stream``, any number of times.

    ``count``: the number of vectors, without bubbles. If the inputs of a program have no bits, the port is driven with
    0 and 1 in turn.
    """

    count: int
    _make: Callable[[], Iterator[FixedPointVector]]
    _bubbles: float = 0.0
    _seed: int = 0
    _triggers: tuple[Trigger, ...] = ()

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[FixedPointVector]:
        for number, vector in enumerate(self._make()):
            yield vector if vector.layout.bits else replace(vector, idle=number & 1)

    async def __aiter__(self) -> AsyncIterator[FixedPointVector | None]:
        drawn = random.Random(self._seed)
        for vector in self:
            while self._bubbles and drawn.random() < self._bubbles:
                await self._wait()
                yield None
            await self._wait()
            yield vector

    def each(self, *triggers: Trigger) -> VectorStream:
        """Return the stream that awaits all ``triggers``, one after the other, before each vector."""
        return replace(self, _triggers=triggers)

    def with_bubbles(self, share: float, seed: int = 0) -> VectorStream:
        """Return the stream with None inserted for bubbles, for ``async for``.

        ``share``: the approximate share of None in the stream, 0 to less than 1.
        """
        if not 0 <= share < 1:
            raise BenchError(f"share must be 0 or more and less than 1, not {share!r}")
        return replace(self, _bubbles=share, _seed=seed)

    async def _wait(self) -> None:
        for trigger in self._triggers:
            await trigger


def generate_vectors(
    model: DaisModel, count: int = 1000, seed: int = 0, *, layout: RowLayout | None = None
) -> VectorStream:
    """Return ``count`` vectors, corners first, then random ones, as ``dais-verif sim`` generates for ``seed``.

    ``layout``: the layout of the inputs in the ports, ``Scoreboard.inputs``; None: as in ``model_inp``.
    """
    generated = WithBoundaries(model.program, count, seed, check=True)

    def made() -> Iterator[FixedPointVector]:
        for start in range(0, count, _BLOCK):
            yield from _rows(model, generated.slice(start, start + _BLOCK), layout)

    return VectorStream(count, made)


def exhaustive_vectors(model: DaisModel) -> VectorStream:
    """Return every pattern of ``model_inp``. Raises ``InputError`` if it has more than 24 bits."""
    bits = model.inputs.bits
    if bits > _MOST_BITS:
        raise BenchError(
            f"model_inp has {bits} bits; exhaustive patterns are supported up to {_MOST_BITS} bits: prove the "
            "design instead"
        )
    rows = range(1 << bits) if bits else [0, 0]
    return VectorStream(len(rows), lambda: (model.inputs.of_row(format(row, f"0{max(bits, 1)}b")) for row in rows))


def read_vectors(model: DaisModel, path: str | Path, *, layout: RowLayout | None = None) -> VectorStream:
    """Return the vectors of real values in a ``.npy``, ``.npz`` or CSV file. Raises ``InputError`` for other files."""
    batch = read_batch(path, model.program.n_in)
    return VectorStream(batch.rows, lambda: _rows(model, batch, layout))


def _rows(model: DaisModel, batch: Batch, layout: RowLayout | None) -> Iterator[FixedPointVector]:
    for row in range(batch.rows):
        yield model.vector(batch, row, layout)
