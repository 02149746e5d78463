"""Files that make a waveform viewer show the relevant signals, grouped, as the numbers that they represent."""

from dais_verif.report.waves.gtkwave import gtkwave
from dais_verif.report.waves.surfer import surfer
from dais_verif.report.waves.view import Group, Signal, Trace, View

__all__ = ["Group", "Signal", "Trace", "View", "gtkwave", "surfer"]
