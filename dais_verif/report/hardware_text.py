"""Build records as text."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dais_verif.base.text import counted
from dais_verif.hardware.synthesis.targets import KINDS, TARGETS
from dais_verif.record.build import BuildRecord
from dais_verif.record.emission import PipelineInfo, WrapperFolderInfo
from dais_verif.record.network import FoldedNetwork
from dais_verif.record.synthesis import PlaceAndRoute, SynthesisRecord
from dais_verif.report.console import program_line

__all__ = ["placed_lines", "print_build", "print_folded", "print_pipeline", "print_synthesis", "wrapper_line"]


_KINDS = {
    "ICESTORM_LC": "logic cells",
    "ICESTORM_RAM": "block RAMs",
    "ICESTORM_DSP": "DSPs",
    "ICESTORM_SPRAM": "single-port RAMs",
}


def print_build(record: BuildRecord, out: Console) -> None:
    """Print ``record`` as text for users."""
    timing = record.timing
    around = "bare" if record.wrap == "none" else f"behind a byte link ({record.wrap})"
    chosen = "chosen automatically" if record.pins_chosen else "as given"
    used = [f"{used} of {most} {_KINDS[name]}" for name, (used, most) in record.used.items() if used and name in _KINDS]
    lines = {
        "program": program_line(record.program),
        "device": f"{record.device}, seed {record.seed}",
        "tools": ", ".join(f"{name} {version}" for name, version in record.tools.items()),
        "rtl": f"module {record.top}, {around}",
        "pins": f"{len(record.pins)}, {chosen}",
        "used": ", ".join(used) or "nothing",
        "clock": _clock(record),
        "path": "none" if timing.path is None else f"{timing.path:.2f} ns, the longest in the bitstream, pins included",
        "bitstream": f"{record.folder}/model.bin, sha256 {record.files['model.bin']}",
    }
    for title, text in lines.items():
        out.print(f"{title:<11}{text}", markup=False)


def _clock(record: BuildRecord) -> str:
    timing = record.timing
    allowed = "any" if timing.allowed is None else f"up to {timing.allowed:.2f} MHz"
    if timing.required is None:
        return f"{allowed}; none was requested"
    return f"{allowed}; {timing.required:g} MHz requested"


# Emitted RTL as text: the shape of a pipeline, the folder of a wrapper.


#: Up to this number of stages, the depth of each stage is shown.
_SHOWN = 16


def print_pipeline(pipeline: PipelineInfo, out: Console) -> None:
    """Print three lines about the pipeline."""
    depths = pipeline.depths
    shown = ", ".join(f"{depth:g}" for depth in depths)
    if len(depths) > _SHOWN:
        shown = f"{min(depths):g} to {max(depths):g}"
    stages = counted(pipeline.stages, "stage")
    out.print(f"pipeline   {stages}, latency {pipeline.latency}, a vector every clock edge", markup=False)
    out.print(f"registers  {pipeline.registers}, {counted(pipeline.register_bits, 'bit')}", markup=False)
    out.print(f"depth      {shown} {pipeline.unit} (estimated, by stage)", markup=False)


def wrapper_line(folder: WrapperFolderInfo) -> str:
    """Return a line that names the folder of a module with a wrapper."""
    return (
        f"top module {folder.top}, in {folder.folder}: {counted(len(folder.files), 'file')}, which README.md explains"
    )


def print_folded(network: FoldedNetwork, out: Console) -> None:
    """Print the stages of a network as a machine, and the cost of each configuration."""
    several = len(network.configurations) > 1
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("stage", "node", "members", "ops", "cycles", *(["in"] if several else [])):
        table.add_column(name, justify="left" if name in ("stage", "in") else "right")
    for one in network.stages:
        every = len(one.configurations) == len(network.configurations)
        runs = ["all" if every else ", ".join(one.configurations)] if several else []
        fused = "-" if one.fused is None else str(one.fused)
        table.add_row(one.name, fused, str(one.members), str(one.ops), str(one.cycles), *runs)
    out.print(table)
    cycles = ", ".join(f"{name} {count}" for name, count in network.configurations.items())
    out.print(f"cycles     from start to done: {cycles}", markup=False)
    out.print(f"memories   {counted(network.words, 'word')}, {counted(network.bits, 'bit')}", markup=False)
    out.print(f"written    {network.folder}: {', '.join(network.files)}", markup=False)


# The cost of a program on an FPGA, as text.


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
