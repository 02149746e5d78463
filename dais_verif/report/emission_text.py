"""What was emitted, as text: of a pipeline its shape, of one with a wrapper its folder."""

from __future__ import annotations

from rich.console import Console

from dais_verif.record.emission import PipelineInfo, WrapperFolderInfo

__all__ = ["print_pipeline", "wrapper_line"]

#: Up to so many stages each one's depth is shown.
_SHOWN = 16


def print_pipeline(pipeline: PipelineInfo, out: Console) -> None:
    """Print three lines for a person."""
    depths = pipeline.depths
    shown = ", ".join(f"{depth:g}" for depth in depths)
    if len(depths) > _SHOWN:
        shown = f"{min(depths):g} to {max(depths):g}"
    stages = "1 stage" if pipeline.stages == 1 else f"{pipeline.stages} stages"
    out.print(f"pipeline   {stages}, latency {pipeline.latency}, a vector every clock edge", markup=False)
    out.print(f"registers  {pipeline.registers}, {pipeline.register_bits} bits", markup=False)
    out.print(f"depth      {shown} {pipeline.unit} (estimated, by stage)", markup=False)


def wrapper_line(folder: WrapperFolderInfo) -> str:
    """Return where a module with a wrapper was written."""
    return f"top module {folder.top}, in {folder.folder}: {len(folder.files)} files, which README.md explains"
