"""Synthesizable Verilog for programs, combinational or pipelined."""

from __future__ import annotations

from dais_verif.hardware.emitter.delays import DelayModel, read_delay_model
from dais_verif.hardware.emitter.pipeline import Pipeline, PipelineOptions, Place, emit_pipeline
from dais_verif.hardware.emitter.verilog import emit_verilog

__all__ = ["DelayModel", "Pipeline", "PipelineOptions", "Place", "emit_pipeline", "emit_verilog", "read_delay_model"]
