"""Approximation configurations of HPVM: the approximation of each op of a network.

``read`` and ``write`` are for files of the tuner, ``pareto`` and ``choose`` select the best of their configurations,
and ``convolve`` defines exactly what a convolution computes under each knob.
"""

from __future__ import annotations

from dais_verif.compile.approximation.choice import Accuracy, Choice, choose, choose_within, pareto
from dais_verif.compile.approximation.columns import predicted_speedup, require_fit, rewrite_columns
from dais_verif.compile.approximation.configuration import Configuration, ConfigurationFile, Node, Notice, Number, Op
from dais_verif.compile.approximation.convolution import convolve
from dais_verif.compile.approximation.knob_file import read_knobs
from dais_verif.compile.approximation.knobs import KNOBS, Knob
from dais_verif.compile.approximation.problems import ConfigurationError
from dais_verif.compile.approximation.reader import parse, read
from dais_verif.compile.approximation.writer import normal, text_of, write

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
