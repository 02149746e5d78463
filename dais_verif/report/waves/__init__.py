"""Files with which a waveform viewer shows the signals that matter, grouped, as the numbers that they stand for."""

from dais_verif.report.waves.gtkwave import gtkwave
from dais_verif.report.waves.surfer import surfer
from dais_verif.report.waves.view import Group, Signal, Trace, View

__all__ = ["Group", "Signal", "Trace", "View", "gtkwave", "surfer"]
