"""Simulate many mutants that were proved equal at once in Verilator, and find those that differ on some vector.

The design under test contains the original and the mutants side by side. Its outputs are those of the original, with
each bit inverted that differs in any of the mutants; so they equal the golden model's outputs if all designs do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from prove.soundness.subjects import TOP, Subject, renamed, write

from dais_verif.base.toolchain.rtl_files import DataFile
from dais_verif.base.verdict import Verdict
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.verify import Finding, SimulationOptions, verify
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import Generated

__all__ = ["side_by_side", "told_apart"]


def side_by_side(subject: Subject, designs: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the files of the design that contains the original and all of ``designs``."""
    ports = ports_of(subject.program)
    files: dict[str, str] = {}
    inp, out = max(ports.input_bits, 1), max(ports.output_bits, 1)
    lines = [f"module {TOP} (input wire [{inp - 1}:0] model_inp, output wire [{out - 1}:0] model_out);"]
    for n, design in enumerate([subject.files, *designs]):
        files.update(renamed(design, f"_{n}"))
        lines.append(f"  wire [{out - 1}:0] out_{n};")
        lines.append(f"  {TOP}_{n} dut_{n} (.model_inp(model_inp), .model_out(out_{n}));")
    others = [f"(out_0 ^ out_{n + 1})" for n in range(len(designs))] or [f"{out}'d0"]
    lines += [f"  assign model_out = out_0 ^ ({' | '.join(others)});", "endmodule", ""]
    return {**files, f"{TOP}.v": "\n".join(lines)}


def told_apart(
    subject: Subject, designs: Sequence[Mapping[str, str]], vectors: int, seed: int, folder: Path
) -> list[int]:
    """Return the numbers of the designs that differ from the golden model on corners and ``vectors`` random vectors."""
    finding = _finding(subject, designs, vectors, seed, folder / "all")
    if finding.verdict is Verdict.PASS:
        return []
    alone = [
        n
        for n, design in enumerate(designs)
        if _finding(subject, [design], vectors, seed, folder / f"alone_{n}").verdict is not Verdict.PASS
    ]
    assert alone, f"together they differ, and none alone: {finding.message}"
    return alone


def _finding(subject: Subject, designs: Sequence[Mapping[str, str]], vectors: int, seed: int, folder: Path) -> Finding:
    sources, data = write(side_by_side(subject, designs), folder / "rtl")
    design = RtlDesign(tuple(sources), TOP, tuple(DataFile(name, path) for name, path in data.items()))
    program = replace(subject.program, intervals=None)  # also outside of the intervals that the source declares
    options = SimulationOptions(simulators=("verilator",), check=False, seed=seed, jobs=1)
    finding = verify(program, Generated([program], vectors, seed), design, folder, options)
    assert finding.verdict in (Verdict.PASS, Verdict.RTL_MISMATCH), finding.message
    compared = {result.vectors_compared for result in finding.simulators}
    assert finding.verdict is not Verdict.PASS or compared == {vectors}, compared
    return finding
