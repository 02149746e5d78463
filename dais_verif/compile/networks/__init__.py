"""Neural networks, read from ONNX with exact fixed-point types and lowered to one program.

``read`` reads a file; ``Network.program`` returns its program. The program computes exactly what ONNX
specifies, except where ONNX rounds.
"""

from __future__ import annotations

from dais_verif.compile.networks.graph import FusedNode, FusedOp, fuse
from dais_verif.compile.networks.model import Network, Node, Tensor
from dais_verif.compile.networks.onnx_file import looks_like_onnx
from dais_verif.compile.networks.problems import NetworkError, Problem
from dais_verif.compile.networks.reading import parse, read

__all__ = [
    # files
    "looks_like_onnx",
    "parse",
    "read",
    # contents
    "Network",
    "Node",
    "Tensor",
    # fused nodes, as in HPVM
    "FusedNode",
    "FusedOp",
    "fuse",
    # errors
    "NetworkError",
    "Problem",
]
