"""What a program becomes: synthesizable Verilog, combinational or pipelined."""

from __future__ import annotations

from dais_verif.emit.delays import DelayModel, read_delay_model
from dais_verif.emit.pipeline import Pipeline, PipelineOptions, Place, emit_pipeline
from dais_verif.emit.verilog import emit_verilog

__all__ = ["DelayModel", "Pipeline", "PipelineOptions", "Place", "emit_pipeline", "emit_verilog", "read_delay_model"]
