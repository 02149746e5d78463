"""Emitted RTL as text: the shape of a pipeline, the folder of a wrapper."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dais_verif.counts import counted
from dais_verif.record.emission import PipelineInfo, WrapperFolderInfo
from dais_verif.record.network import FoldedNetwork

__all__ = ["print_folded", "print_pipeline", "wrapper_line"]

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
