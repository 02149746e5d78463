"""An instance of a kernel: its block, and the mapping of the tensors that the block reads and writes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dais_verif.base.errors import InputError, KernelError
from dais_verif.base.text import counted
from dais_verif.compile.kernels.block_inputs import behind_tensors, join
from dais_verif.compile.kernels.mapping import Mapping, mapping_of
from dais_verif.compile.kernels.printf import PrintfTap, require_taps
from dais_verif.compile.kernels.structures import HabanaKernelInstantiation, HabanaKernelParams, Tensor
from dais_verif.spec.program import FixedType, Program, read_binary

__all__ = ["KernelInstance", "fitted", "instance_of", "require_ports"]


@dataclass(frozen=True)
class KernelInstance:
    """A block and its mapping. ``pads``: for each input, the raw integer that is read outside of it.

    The block's inputs are the elements that a member reads of input 0, then those of input 1, and so on; its outputs
    likewise. Inputs with constant content are part of the block, and not of ``mapping``. ``taps``: the text that each
    member prints, if requested.
    """

    name: str
    block: Program
    mapping: Mapping
    input_types: tuple[FixedType, ...]
    output_types: tuple[FixedType, ...]
    pads: tuple[int, ...]
    taps: tuple[PrintfTap, ...] = ()


def instance_of(params: HabanaKernelParams, answer: HabanaKernelInstantiation) -> KernelInstance:
    """Return the instance in an answer of glue code to a request.

    Raises ``InputError`` if its program is not a DAIS binary with a port for each element, or a tensor's type is not
    one of DAIS; ``ProgramError`` if the binary is invalid.
    """
    whole = mapping_of(params, answer)
    read = [at for at, tensor in enumerate(params.input_tensors) if tensor.data is None]
    mapping = replace(whole, inputs=tuple(whole.inputs[at] for at in read))
    pads = answer.input_pad_values
    instance = KernelInstance(
        params.node_name,
        read_binary(answer.kernel_elf, "v1"),
        mapping,
        tuple(_fixed(params.input_tensors[at]) for at in read),
        tuple(map(_fixed, params.output_tensors)),
        tuple(pads[at].bits if at < len(pads) else 0 for at in read),
        answer.taps,
    )
    return fitted(instance)


def fitted(instance: KernelInstance) -> KernelInstance:
    """Return ``instance``, whose block may read other types, with a block whose inputs have the types of its tensors.

    Raises the errors of ``require_ports``.
    """
    require_ports(instance)
    block, mapping = instance.block, instance.mapping
    reads = [mapping.addressing(tensor).count for tensor in mapping.inputs]
    behind = behind_tensors(block, [k for k, n in zip(instance.input_types, reads, strict=True) for _ in range(n)])
    taps = tuple(tap if tap.op is None else replace(tap, op=behind.moved[tap.op]) for tap in instance.taps)
    return replace(instance, block=behind.block, taps=taps)


def require_ports(instance: KernelInstance) -> None:
    """Raise ``InputError`` unless a block has a port for each element of a member, and types hold its outputs.

    The block must also have the values that members print.
    """
    block, mapping = instance.block, instance.mapping
    reads = [mapping.addressing(tensor).count for tensor in mapping.inputs]
    counts = [mapping.addressing(tensor).count for tensor in mapping.outputs]
    for name, has, tensors, each in (
        ("input", block.n_in, mapping.inputs, reads),
        ("output", block.n_out, mapping.outputs, counts),
    ):
        if has != sum(each):
            parts = ", ".join(f"{count} of {tensor.name}" for tensor, count in zip(tensors, each, strict=True))
            raise KernelError(
                f"{instance.name}: the block has {counted(has, name)}, and a member {counted(sum(each), 'element')}"
                + (f": {parts}" if parts else "")
            )
    kinds = [kind for kind, count in zip(instance.output_types, counts, strict=True) for _ in range(count)]
    for port, (found, kind) in enumerate(zip(block.output_types, kinds, strict=True)):
        if found.width and (found.f > kind.f or found.i > kind.i or found.k > kind.k):
            raise KernelError(
                f"{instance.name}: output {port} of the block has type {found}, which {kind} does not hold; "
                f"{join(block.output_types)} holds all outputs"
            )
    try:
        require_taps(block, instance.taps)
    except InputError as error:
        raise KernelError.of("{name}: {error}", name=instance.name, error=error) from None


def _fixed(tensor: Tensor) -> FixedType:
    if not isinstance(tensor.data_type, FixedType):
        raise KernelError(
            f"elements of {tensor.data_type} are not in DAIS: a tensor of an instance must have a fixed-point type"
        )
    return tensor.data_type
