"""Run the emitted RTL on given vectors, and compare the raw bits of model_out with the table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.simulation import launch
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.testbench.packed_rows import Words, bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs, unpack_element
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of

from .compose import Composition
from .row import Row

__all__ = ["expected_bits", "problems", "simulate"]

_TIMEOUT = 300


def simulate(program: Program, batch: Batch, simulator: str, folder: Path) -> list[str]:
    """Return the bits of model_out, most significant first, for each vector of ``batch``."""
    folder.mkdir(parents=True)
    source = folder / "model.v"
    source.write_text(emit_verilog(program))
    simulation = build(simulator, RtlDesign((source,), "model"), folder / "build", timeout=_TIMEOUT)
    ports = ports_of(program)
    vectors = _rows_of_bits(pack_inputs(batch, ports), ports.input_bits)
    (folder / "vectors.txt").write_text("\n".join(vectors) + "\n")
    package = (__package__ or "").split(".")
    env = {"PYTHONPATH": str(Path(__file__).parents[len(package)]), "DUMPED": str(folder.resolve())}
    results = launch.run(simulation, f"{__package__}.dump", folder, env=env, timeout=_TIMEOUT)
    assert not launch.failed_tests(results), (folder / "simulation.log").read_text()
    found = (folder / "outputs.txt").read_text().split()
    assert len(found) == batch.rows
    return found


def expected_bits(whole: Composition) -> list[str]:
    """Return the expected model_out for each vector, computed from the numbers of the table alone."""
    program = whole.program
    columns = []
    for j, kind in enumerate(program.output_types):
        scaled = [whole.gives(v)[j] * Fraction(2) ** kind.f for v in range(len(whole.vectors))]
        assert all(value.denominator == 1 for value in scaled), f"output {j} is not on the grid of {kind}"
        columns.append(np.array([value.numerator for value in scaled], dtype=object))
    ports = ports_of(program)
    return _rows_of_bits(pack_outputs(columns, ports, len(whole.vectors)), ports.output_bits)


def problems(whole: Composition, found: Sequence[str], expected: Sequence[str], row: Row) -> list[str]:
    """Return one line per output of ``row`` whose bits in ``found`` differ from those in ``expected``."""
    ports = ports_of(whole.program)
    first = whole.first_output[whole.rows.index(row)]
    lines = []
    for number, one in enumerate(row.cases):
        for j, value in enumerate(one.gives):
            element = ports.outputs[first + j]
            bits, wanted = (unpack_element(text[number], element) for text in (found, expected))
            if bits != wanted:
                inputs = ", ".join(map(str, one.inputs)) or "none"
                lines.append(
                    f"{row}, case {number}, inputs {inputs}, output {j}: {bits}, must be {wanted} (the value {value})"
                )
    return lines


def _rows_of_bits(packed: Words, bits: int) -> list[str]:
    """Return each packed row as a string."""
    return [bits_of_row(packed, row, bits) for row in range(len(packed))]
