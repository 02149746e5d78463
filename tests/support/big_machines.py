"""Machines of any size, which the benches make."""

from __future__ import annotations

from bench.big_machines import big_machine

__all__ = ["big_machine"]
