"""Return codes of glue code, for both generations of the interface."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["GlueCode", "TpcLibCode", "code_from_tpc", "code_to_tpc"]


class GlueCode(IntEnum):
    """Return codes of ``HabanaKernel``, in the published spelling, without the prefix ``GLUE_``."""

    SUCCESS = 0
    #: No kernel has that name.
    NODE_NOT_FOUND = 1
    #: The buffer for the program (its older form) is too small; its size is written back.
    INSUFICIENT_ISA_BUFFER = 2
    #: The expected count is written back.
    INCOMPATIBLE_INPUT_COUNT = 3
    #: Sizes that fit are written back, where the kernel knows such sizes.
    INCOMPATIBLE_INPUT_SIZE = 4
    #: The expected count is written back.
    INCOMPATIBLE_OUTPUT_COUNT = 5
    #: The expected sizes are written back.
    INCOMPATIBLE_OUTPUT_SIZE = 6
    #: The expected types are written back.
    INCOMPATIBLE_DATA_TYPE = 7
    UNSUPPORTED_LAYER_CONFIGURATION = 8
    #: The buffer of an auxiliary tensor is too small; its size in bytes is written back.
    INSUFICIENT_AUX_BUFFER_SIZE = 9
    #: Accepted scale and zero point are written back.
    UNSUPPORTED_QUANT_PARAMS = 10
    #: Sizes that need no broadcast, or an accepted one, are written back.
    UNSUPPORTED_BROADCAST_MODE = 11
    #: The request was made for another version of the interface.
    UNSUPPORTED_API_VERSION = 12
    #: The content of an input must be known when the kernel is made.
    NON_STATIC_INPUT_TENSOR = 13
    #: The flag that a tensor needs is written back.
    KERNEL_REQUIRE_REDUCIBLE_TENSOR = 14
    #: The flag that a tensor needs is written back.
    KERNEL_REQUIRE_CONTIGUOUS_TENSOR = 15
    KERNEL_INVALID_SCALAR_ARGUMENT = 16
    #: The fastest dimension is too short; accepted sizes are written back.
    UNSUPPORTED_LOW_FCD_INPUT = 17
    #: The buffer for the program is too small; its size is written back.
    INSUFICIENT_ELF_BUFFER = 18
    #: The kernel needs its private parameters.
    MISSING_PRIVATE_STRUCTURE = 19
    UNSUPPORTED_5D_TENSORS = 20
    #: Glue code failed: a bug of the library.
    FAILED = 400

    @property
    def title(self) -> str:
        """The name of the code in C."""
        return f"GLUE_{self.name}"


class TpcLibCode(IntEnum):
    """Return codes of ``InstantiateTpcKernel``; codes up to 20, except 15, have the same meaning as in ``GlueCode``."""

    SUCCESS = 0
    NODE_NOT_FOUND = 1
    INSUFFICIENT_ISA_BUFFER = 2
    INCOMPATIBLE_INPUT_COUNT = 3
    INCOMPATIBLE_INPUT_SIZE = 4
    INCOMPATIBLE_OUTPUT_COUNT = 5
    INCOMPATIBLE_OUTPUT_SIZE = 6
    INCOMPATIBLE_DATA_TYPE = 7
    UNSUPPORTED_LAYER_CONFIGURATION = 8
    INSUFFICIENT_AUX_BUFFER_SIZE = 9
    UNSUPPORTED_QUANT_PARAMS = 10
    UNSUPPORTED_BROADCAST_MODE = 11
    UNSUPPORTED_API_VERSION = 12
    NON_STATIC_INPUT_TENSOR = 13
    KERNEL_REQUIRE_REDUCIBLE_TENSOR = 14
    #: Shape inference was requested for a kernel that does not exist.
    INVALID_SHAPE_INFERENCE_ID = 15
    KERNEL_INVALID_SCALAR_ARGUMENT = 16
    UNSUPPORTED_LOW_FCD_INPUT = 17
    INSUFFICIENT_ELF_BUFFER = 18
    MISSING_PRIVATE_STRUCTURE = 19
    UNSUPPORTED_5D_TENSORS = 20
    #: A kernel that represents a graph has nothing to replace.
    CGUID_GRAPH_UNCHANGED = 21
    #: Shape inference was given no inputs to infer from.
    SIF_NULL_PTR = 22
    #: Smallest and largest sizes of a tensor differ.
    UNSUPPORTED_DYNAMIC_SHAPE = 23
    #: A size does not fit 32 bits.
    UNSUPPORTED_HUGE_TENSORS = 24
    FAILED = 400

    @property
    def title(self) -> str:
        """The name of the code in C."""
        return f"GLUE_{self.name}"


def code_to_tpc(code: GlueCode) -> TpcLibCode:
    """Return the code in the newer generation; FAILED for the code about contiguous tensors, which it lacks."""
    return TpcLibCode.FAILED if code is GlueCode.KERNEL_REQUIRE_CONTIGUOUS_TENSOR else TpcLibCode(code.value)


def code_from_tpc(code: TpcLibCode) -> GlueCode:
    """Return the code in the older generation; FAILED for codes that the older generation lacks."""
    newer = (TpcLibCode.INVALID_SHAPE_INFERENCE_ID, *(TpcLibCode(n) for n in range(21, 25)))
    return GlueCode.FAILED if code in newer else GlueCode(code.value)
