"""Networks: read from ONNX, with exact fixed-point types, and lowered to one program.

``read`` a file, and ``Network.program`` is its program, equal to ONNX's own meaning as long as that one does not round.
"""

from __future__ import annotations

from dais_verif.networks.graph import FusedNode, FusedOp, fuse
from dais_verif.networks.model import Network, Node, Tensor
from dais_verif.networks.onnx_file import looks_like_onnx
from dais_verif.networks.problems import NetworkError, Problem
from dais_verif.networks.reading import parse, read

__all__ = [
    # files
    "looks_like_onnx",
    "parse",
    "read",
    # what they hold
    "Network",
    "Node",
    "Tensor",
    # as HPVM has them
    "FusedNode",
    "FusedOp",
    "fuse",
    # what can go wrong
    "NetworkError",
    "Problem",
]
