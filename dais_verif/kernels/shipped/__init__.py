"""The kernels that come with the package: fixed-point types, blocks without overflow, mappings that keep the laws."""

from __future__ import annotations

from dais_verif.kernels.library import Library
from dais_verif.kernels.shipped.conv2d import CONV2D
from dais_verif.kernels.shipped.dense import DENSE
from dais_verif.kernels.shipped.elementwise import ELEMENTWISE

__all__ = ["LIBRARY"]

LIBRARY = Library("dais", (*ELEMENTWISE, DENSE, CONV2D))
