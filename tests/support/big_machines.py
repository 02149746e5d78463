"""Machines of any size, as the benchmarks make them."""

from __future__ import annotations

from bench.big_machines import big_machine

__all__ = ["big_machine"]
