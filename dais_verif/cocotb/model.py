"""The golden model of a program for a bench, which calls it with one vector, or once per clock edge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from cocotb.types import LogicArray

from dais_verif.base.errors import BenchError
from dais_verif.cocotb.delay_line import DelayLine
from dais_verif.cocotb.port_rows import FixedPointVector, RowLayout, input_layout, value_of
from dais_verif.golden import Golden
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.numbers import Batch, Column, floor_to_grid
from dais_verif.spec.program.ports import ports_of
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT

__all__ = ["DaisModel", "InputVector"]

#: Accepted forms of one vector of inputs.
InputVector = FixedPointVector | LogicArray | Sequence[object]


class DaisModel:
    """The expected outputs of a design that implements ``program``, bit for bit.

    ``program``: a ``Program`` or its path. ``latency``: rising clock edges from an input to its output, for ``step``.
    ``check``: raise ``ViolationError`` for a vector on which the program breaks one of its own promises; without
    ``check``, the value is quantised, as in hardware.
    """

    def __init__(
        self, program: Program | str | Path, *, layout: str | None = None, latency: int = 0, check: bool = True
    ) -> None:
        if isinstance(latency, bool) or not isinstance(latency, int) or latency < 0:
            raise BenchError(f"latency must be a number of clock edges, not {latency!r}")
        self.program, self._warnings = read_program(program, layout, SILENT)
        self.latency, self._check = latency, check
        ports = ports_of(self.program)
        self.inputs = input_layout(self.program, ports.inputs)
        self.outputs = RowLayout(ports.outputs, self.program.output_types, "output")
        self._golden = Golden(self.program)
        self._line = DelayLine[FixedPointVector](latency)

    def __call__(self, inputs: InputVector, *, raw: bool = False) -> FixedPointVector:
        """Return the outputs for one vector: ``.real``, ``.raw``, ``.bits``, ``.packed``.

        ``inputs``: a ``LogicArray`` as ``model_inp`` carries it, or one value per input. Numbers are real values, taken
        exactly and quantised as the program says; with ``raw``, they are integers in units of the last bit of the input
        in ``model_inp``. A ``LogicArray`` for one input has the bits of this input in ``model_inp``.

        Raises ``InputError`` for X, Z and anything that is not a vector, and ``ViolationError`` as ``check`` selects.
        """
        return self.run(self.batch(inputs, raw=raw))

    def step(
        self, inputs: InputVector | None = None, *, raw: bool = False, enable: bool = True, reset: bool = False
    ) -> FixedPointVector | None:
        """Advance by one rising clock edge, and return the expected outputs just before it; None if no output is due.

        ``inputs``: the inputs of the design at that edge; None if its ``valid`` is 0. With ``enable`` at 0, the
        pipeline holds its state; a ``reset`` drops all vectors in flight.
        """
        taken = None if inputs is None or reset or not enable else self(inputs, raw=raw)
        return self._line.step(taken, enable=enable, reset=reset)

    def run(self, batch: Batch) -> FixedPointVector:
        """Return the outputs for a batch of one row."""
        found = self._golden.run_raw(batch, check=self._check)
        return FixedPointVector(self.outputs, tuple(int(column[0]) for column in found))

    def batch(self, inputs: InputVector, *, raw: bool = False) -> Batch:
        """Return one vector of inputs, in any form that ``__call__`` accepts, as a batch of one row."""
        if isinstance(inputs, LogicArray):
            if len(inputs) != max(self.inputs.bits, 1):
                raise BenchError(f"model_inp has {max(self.inputs.bits, 1)} bits, the LogicArray has {len(inputs)}")
            return self.inputs.batch(self.inputs.of_row(str(inputs)))
        if isinstance(inputs, FixedPointVector):
            return inputs.layout.batch(inputs)
        elements = self.inputs.elements
        if not isinstance(inputs, Sequence | np.ndarray) or len(inputs) != len(elements):
            raise BenchError(f"a vector must be a value for each of {len(elements)} inputs, not {inputs!r:.80}")
        if raw:
            for value in inputs:
                if isinstance(value, bool) or not isinstance(value, int | np.integer):
                    raise BenchError(f"a raw input must be an integer, not {value!r:.80}")
            kinds = tuple(FixedType(0, element.width + element.lo, -element.lo) for element in elements)
            integers = tuple(int(str(value)) for value in inputs)
            return RowLayout(elements, kinds, "input").batch(FixedPointVector(self.inputs, integers))
        values = [value_of(value, element) for value, element in zip(inputs, elements, strict=True)]
        return Batch.of([values], len(elements))

    def vector(self, batch: Batch, row: int, layout: RowLayout | None = None) -> FixedPointVector:
        """Return row ``row`` of ``batch`` as ports with ``layout`` carry it; None: as ``model_inp`` carries it."""
        layout = self.inputs if layout is None else layout
        raw = []
        for column, element, kind in zip(batch.columns, layout.elements, layout.types, strict=True):
            one = Column(column.mantissa[row : row + 1], column.exponent)
            value = int(floor_to_grid(one, -element.lo)[0]) & (1 << element.width) - 1
            raw.append(value - (1 << element.width) if kind.k and value >> (element.width - 1) else value)
        return FixedPointVector(layout, tuple(raw))
