"""Approximation configurations of HPVM: the approximation of each op of a network.

``read`` and ``write`` are for files of the tuner, ``pareto`` and ``choose`` select the best of their configurations,
and ``convolve`` defines exactly what a convolution computes under each knob.
"""

from __future__ import annotations

from dais_verif.approx.accuracy import Accuracy
from dais_verif.approx.budget import Choice, choose_within
from dais_verif.approx.columns import predicted_speedup, rewrite_columns
from dais_verif.approx.convolution import convolve
from dais_verif.approx.curve import choose, pareto
from dais_verif.approx.fitting import require_fit
from dais_verif.approx.knob_file import read_knobs
from dais_verif.approx.knobs import KNOBS, Knob
from dais_verif.approx.model import Configuration, ConfigurationFile, Node, Notice, Op
from dais_verif.approx.number import Number
from dais_verif.approx.problems import ConfigurationError
from dais_verif.approx.reader import parse, read
from dais_verif.approx.writer import normal, text_of, write

__all__ = [
    # files
    "parse",
    "read",
    "read_knobs",
    "text_of",
    "write",
    # their contents
    "Configuration",
    "ConfigurationFile",
    "Node",
    "Notice",
    "Number",
    "Op",
    # selection, and checks against a network
    "Choice",
    "choose",
    "choose_within",
    "normal",
    "pareto",
    "require_fit",
    # measurements
    "Accuracy",
    "predicted_speedup",
    "rewrite_columns",
    # semantics of convolutions
    "convolve",
    # knobs
    "KNOBS",
    "Knob",
    # errors
    "ConfigurationError",
]
