"""The cost of a program on an FPGA, as text."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dais_verif.counts import counted
from dais_verif.record.synthesis import PlaceAndRoute, SynthesisRecord
from dais_verif.report.console import program_line
from dais_verif.synthesis.targets import KINDS, TARGETS

__all__ = ["placed_lines", "print_synthesis"]


def print_synthesis(record: SynthesisRecord, out: Console) -> None:
    """Print ``record`` as text for users."""
    out.print(f"program    {program_line(record.program)}", markup=False)
    source = "emitted from the program" if record.rtl.emitted else ", ".join(record.rtl.files)
    out.print(f"rtl        module {record.top}, {source}", markup=False)
    target = TARGETS[record.target]
    out.print(f"target     {target.title}", markup=False)
    sums = "merged by alumacc, which has a known bug" if record.alumacc else "each its own adder"
    out.print(f"yosys      {record.tools['yosys']}, {record.seconds:.1f} s; sums: {sums}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("kind")
    table.add_column("cells", justify="right")
    table.add_column("of which")
    for kind in KINDS:
        cells = {cell: n for cell, n in record.cells.items() if target.kind_of(cell) == kind}
        if cells:
            which = ", ".join(f"{number} {cell}" for cell, number in sorted(cells.items()))
            table.add_row(kind, str(record.counts[kind]), which)
    out.print(table if record.cells else "no cells: outputs are inputs or constants")
    path = ", ".join(f"{number} {kind}" for kind, number in record.depth.kinds.items())
    out.print(f"depth      {counted(record.depth.cells, 'cell')}" + (f" ({path})" if path else ""), markup=False)
    for line in placed_lines(record.pnr):
        out.print(line, markup=False)
    if record.netlist:
        out.print(f"netlist    {record.netlist}", markup=False)
        out.print(f"verify     {record.verify}", markup=False)


def placed_lines(placed: PlaceAndRoute | None) -> list[str]:
    """Return the lines about place and route; none if it was not requested."""
    if placed is None:
        return []
    if placed.verdict is not None:
        return [f"Fmax       {placed.verdict.value}: {placed.message}"]
    used = ", ".join(f"{used} of {available} {name}" for name, (used, available) in (placed.used or {}).items())
    return [
        f"Fmax       {placed.fmax:.1f} MHz, estimated on {placed.device}, register to register",
        f"used       {used} (including the registers around it)",
    ]
