"""What a program becomes: synthesizable Verilog."""

from __future__ import annotations

from dais_verif.emit.verilog import emit_verilog

__all__ = ["emit_verilog"]
