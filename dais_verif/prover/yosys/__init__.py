"""The second front end: Yosys elaborates, ``walk`` collects drivers from the JSON that it writes."""

from dais_verif.prover.yosys.walk import elaborate

__all__ = ["elaborate"]
