"""The second front end: Yosys elaborates the RTL, and ``walk`` collects drivers from its JSON."""

from dais_verif.prover.yosys.walk import elaborate

__all__ = ["elaborate"]
