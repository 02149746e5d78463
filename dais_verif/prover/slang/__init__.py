"""The first front end: pyslang elaborates the RTL, and ``walk`` collects drivers."""

from dais_verif.prover.slang.for_yosys.simulated import refuse_events
from dais_verif.prover.slang.for_yosys.untrusted import refuse_misread
from dais_verif.prover.slang.walk import elaborate

__all__ = ["elaborate", "refuse_events", "refuse_misread"]
