"""The kernels of this package: fixed-point types, blocks without overflow, mappings that obey the laws."""

from __future__ import annotations

from dais_verif.compile.kernels.library import Library
from dais_verif.compile.kernels.shipped.conv2d import CONV2D
from dais_verif.compile.kernels.shipped.dense import DENSE
from dais_verif.compile.kernels.shipped.elementwise import ACTIVATION_KERNELS, BATCH_NORM, ELEMENTWISE
from dais_verif.compile.kernels.shipped.moves import CONCAT, TRANSPOSE
from dais_verif.compile.kernels.shipped.pooling import POOLING
from dais_verif.compile.kernels.shipped.softmax import SOFTMAX

__all__ = ["LIBRARY"]

LIBRARY = Library(
    "dais", (*ELEMENTWISE, *ACTIVATION_KERNELS, BATCH_NORM, DENSE, CONV2D, *POOLING, SOFTMAX, TRANSPOSE, CONCAT)
)
