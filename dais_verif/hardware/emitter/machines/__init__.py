"""Emit machines as Verilog: one module with the registers and memories, and one for each block of logic."""

from __future__ import annotations

from dais_verif.hardware.emitter.machines.machine import emit_machine

__all__ = ["emit_machine"]
