"""The kernels of this package: fixed-point types, blocks without overflow, mappings that obey the laws."""

from __future__ import annotations

from dais_verif.kernels.library import Library
from dais_verif.kernels.shipped.activation import ACTIVATION_KERNELS
from dais_verif.kernels.shipped.batch_norm import BATCH_NORM
from dais_verif.kernels.shipped.conv2d import CONV2D
from dais_verif.kernels.shipped.dense import DENSE
from dais_verif.kernels.shipped.elementwise import ELEMENTWISE
from dais_verif.kernels.shipped.moves import CONCAT, TRANSPOSE
from dais_verif.kernels.shipped.pooling import POOLING
from dais_verif.kernels.shipped.softmax import SOFTMAX

__all__ = ["LIBRARY"]

LIBRARY = Library(
    "dais", (*ELEMENTWISE, *ACTIVATION_KERNELS, BATCH_NORM, DENSE, CONV2D, *POOLING, SOFTMAX, TRANSPOSE, CONCAT)
)
