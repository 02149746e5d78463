"""Simulate many refuted mutants at once in Icarus, each on its vector, and find those that are wrong there.

Beside each mutant is the original, which must be right; otherwise the testbench would confirm anything.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from prove.soundness.subjects import TOP, Subject, renamed, write

from dais_verif.base.toolchain.tools import icarus
from dais_verif.golden import run_raw
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import batch_of_raw
from dais_verif.verbs.vectors import signed_inputs

__all__ = ["Witness", "confirmed"]

_SECONDS = 600


class Witness(NamedTuple):
    """A design (``files``) that is said to be wrong on ``vector``, which has the bits of each input."""

    files: Mapping[str, str]
    vector: Sequence[int]


def confirmed(subject: Subject, witnesses: Sequence[Witness], folder: Path) -> list[bool]:
    """Return which designs differ from the oracle on their vectors in a simulator; X is a difference, too."""
    program = subject.program
    ports = ports_of(program)
    rows = np.array([signed_inputs(program, w.vector) for w in witnesses], dtype=object)
    batch = batch_of_raw(Batch.of(rows.reshape(len(witnesses), program.n_in), program.n_in), ports)
    expected = pack_outputs(run_raw(program, batch, engine="exact", check=False), ports, batch.rows)
    driven = pack_inputs(batch, ports)
    inp, out = max(ports.input_bits, 1), max(ports.output_bits, 1)
    sources = write(renamed(subject.files, "_right"), folder)[0]
    instances, drives, checks = [], [], []
    for n, witness in enumerate(witnesses):
        sources += write(renamed(witness.files, f"_{n}"), folder)[0]
        value, wanted = (int(bits_of_row(words, n, bits), 2) for words, bits in ((driven, inp), (expected, out)))
        instances.append(f"  reg [{inp - 1}:0] inp_{n}; wire [{out - 1}:0] out_{n}, right_{n};")
        instances.append(f"  {TOP}_{n} dut_{n} (.model_inp(inp_{n}), .model_out(out_{n}));")
        instances.append(f"  {TOP}_right control_{n} (.model_inp(inp_{n}), .model_out(right_{n}));")
        drives.append(f"    inp_{n} = {inp}'h{value:x};")
        checks.append(f'    if (out_{n} !== {out}\'h{wanted:x}) $display("wrong {n}");')
        checks.append(f'    if (right_{n} === {out}\'h{wanted:x}) $display("control {n}");')
    bench = folder / "bench.v"
    text = ["`timescale 1ns/1ps", "module bench;", *instances, "  initial begin", *drives, "    #1;", *checks]
    bench.write_text("\n".join([*text, '    $display("done");', "    $finish;", "  end", "endmodule", ""]))
    tools = icarus()
    compiled = folder / "bench.vvp"
    _run([str(tools.iverilog), "-g2012", "-s", "bench", "-o", str(compiled), str(bench), *map(str, sources)], folder)
    printed = _run([str(tools.vvp), str(compiled)], folder).split("\n")
    assert "done" in printed, "the simulation did not come to its end"
    lost = [n for n in range(len(witnesses)) if f"control {n}" not in printed]
    assert not lost, f"the original is not right on the vectors {lost}: the bench is wrong"
    return [f"wrong {n}" in printed for n in range(len(witnesses))]


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS)
    assert done.returncode == 0, (command[0], done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout
