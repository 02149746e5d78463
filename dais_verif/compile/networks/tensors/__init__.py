"""The golden model of networks on tensors: exact, in batches, and independent of the lowering to ops."""

from dais_verif.compile.networks.tensors.model import Outputs, TensorModel

__all__ = ["Outputs", "TensorModel"]
