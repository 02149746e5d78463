"""An instance of a kernel: its block, and the mapping of the tensors that the block reads and writes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dais_verif.errors import InputError
from dais_verif.kernels.mapping import Mapping, mapping_of
from dais_verif.kernels.structures import HabanaKernelInstantiation, HabanaKernelParams, Tensor
from dais_verif.program import FixedType, Program, read_binary

__all__ = ["KernelInstance", "instance_of"]


@dataclass(frozen=True)
class KernelInstance:
    """A block and its mapping. ``pads``: of each input, the raw integer that is read outside of it.

    The block's inputs are the elements that a member reads of input 0, then those of input 1, and so on; its outputs
    likewise. Inputs with constant content are part of the block, and none of ``mapping``.
    """

    name: str
    block: Program
    mapping: Mapping
    input_types: tuple[FixedType, ...]
    output_types: tuple[FixedType, ...]
    pads: tuple[int, ...]


def instance_of(params: HabanaKernelParams, answer: HabanaKernelInstantiation) -> KernelInstance:
    """Return the instance that glue code answered to a request.

    Raises ``InputError`` if its program is no DAIS binary with a port for each element, or a tensor's type is none of
    DAIS, and ``ProgramError`` if the binary is not valid.
    """
    whole = mapping_of(params, answer)
    read = [at for at, tensor in enumerate(params.input_tensors) if tensor.data is None]
    mapping = replace(whole, inputs=tuple(whole.inputs[at] for at in read))
    block = read_binary(answer.kernel_elf, "v1")
    ports = [
        (name, has, sum(len(mapping.addressing(tensor).offsets) for tensor in tensors))
        for name, has, tensors in (("inputs", block.n_in, mapping.inputs), ("outputs", block.n_out, mapping.outputs))
    ]
    for name, has, needs in ports:
        if has != needs:
            raise InputError(f"{params.node_name}: the block has {has} {name}, and a member {needs} elements of them")
    pads = answer.input_pad_values
    return KernelInstance(
        params.node_name,
        block,
        mapping,
        tuple(_fixed(params.input_tensors[at]) for at in read),
        tuple(map(_fixed, params.output_tensors)),
        tuple(pads[at].bits if at < len(pads) else 0 for at in read),
    )


def _fixed(tensor: Tensor) -> FixedType:
    if not isinstance(tensor.data_type, FixedType):
        raise InputError(
            f"elements of {tensor.data_type} are none of DAIS: a tensor of an instance has a fixed-point type"
        )
    return tensor.data_type
