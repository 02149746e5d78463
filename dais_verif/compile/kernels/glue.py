"""Declared glue code: a kernel's inputs, index space and access patterns, as plain values and short functions.

A ``Kernel`` answers requests as the interface requires: first its checks, in order, up to the first that fails; then
geometry, patterns and scalars; then the buffers, auxiliary tensors before the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.data_types import PadValue
from dais_verif.compile.kernels.patterns import AccessPattern
from dais_verif.compile.kernels.printf import PrintfTap
from dais_verif.compile.kernels.structures import (
    MAX_DIMS,
    MAX_NAME_BYTES,
    MAX_SCALARS,
    AuxTensor,
    DeviceKernel,
    HabanaKernelInstantiation,
    HabanaKernelParams,
    PrivateStructure,
    ProgramFlags,
    Tensor,
    TensorGeometry,
    WrittenBack,
)

__all__ = ["Answer", "Check", "Fault", "Kernel", "Patterns", "Request"]

#: Return codes of ``habana_kernel``.
Answer = tuple[GlueCode, HabanaKernelInstantiation]


@dataclass(frozen=True)
class Request:
    """A request, as the functions of a kernel receive it. ``given``: the fields of its private structure, by name."""

    params: HabanaKernelParams
    given: Any = None

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The inputs."""
        return self.params.input_tensors

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The outputs."""
        return self.params.output_tensors


@dataclass(frozen=True)
class Fault:
    """The refusal of a request, and the data written back. ``why``: the error and the remedy, for users."""

    code: GlueCode
    written: WrittenBack = field(default_factory=WrittenBack)
    why: str = ""


#: A check of a request whose numbers of tensors are right; it returns None if there is no fault.
Check = Callable[[Request], Fault | None]


@dataclass(frozen=True)
class Patterns:
    """The access pattern of every input and output."""

    inputs: Sequence[AccessPattern]
    outputs: Sequence[AccessPattern]


def _nothing(request: Request) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class Kernel:
    """A kernel: names, counts, checks in their order, and functions for requests that passed them.

    ``program`` returns the bytes of the block. ``structure``: the private parameters that it needs, if any; they are
    also its scalar parameters, unless ``scalars`` returns other bytes. ``listed``: its name is in the list of kernels.
    ``isa_buffer``: the caller provides the buffer for the program in its older form. ``optional_inputs``: how
    many of the last inputs may be left out. ``about``: what the kernel computes, in one line. ``taps``: the messages of
    each member.

    For users and their files: ``input_names``; ``defaults`` of private parameters, which otherwise are 0; ``words``:
    for each parameter, words that may be given instead of values.
    """

    name: str
    inputs: int
    outputs: int
    index_space: Callable[[Request], Sequence[int]]
    patterns: Callable[[Request], Patterns]
    program: Callable[[Request], bytes]
    checks: tuple[Check, ...] = ()
    structure: PrivateStructure | None = None
    optional_structure: bool = False
    scalars: Callable[[Request], bytes] | None = None
    aux: Callable[[Request], Sequence[AuxTensor]] = _nothing
    pads: Callable[[Request], Sequence[PadValue]] = _nothing
    memsets: Callable[[Request], Sequence[PadValue]] = _nothing
    taps: Callable[[Request], Sequence[PrintfTap]] = _nothing
    flags: ProgramFlags = ProgramFlags.NONE
    devices: frozenset[int] | None = None
    listed: bool = True
    isa_buffer: bool = False
    optional_inputs: int = 0
    input_names: tuple[str, ...] = ()
    defaults: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    about: str = ""

    def __post_init__(self) -> None:
        size = len(self.name.encode())
        if not 0 < size <= MAX_NAME_BYTES or "/" in self.name or not self.name.isprintable():
            raise KernelError(
                f"the name of a kernel has 1 to {MAX_NAME_BYTES} bytes, all printable and none of them '/', which "
                f"stands between library and kernel: not {self.name!r} ({size} bytes)"
            )

    def instantiate(self, params: HabanaKernelParams, buffers: HabanaKernelInstantiation) -> Answer:
        """Answer a request. ``buffers``: the sizes of the caller's buffers; all other fields are replaced."""
        if not self.inputs - self.optional_inputs <= len(params.input_tensors) <= self.inputs:
            return _refused(Fault(GlueCode.INCOMPATIBLE_INPUT_COUNT, WrittenBack(input_count=self.inputs)))
        if len(params.output_tensors) != self.outputs:
            return _refused(Fault(GlueCode.INCOMPATIBLE_OUTPUT_COUNT, WrittenBack(output_count=self.outputs)))
        if self.structure is not None and self.optional_structure and params.node_params is None:
            params = replace(params, node_params=bytes(self.structure.size))
        request = Request(params)
        if self.structure is not None:
            if params.node_params is None or len(params.node_params) < self.structure.size:
                return _refused(Fault(GlueCode.MISSING_PRIVATE_STRUCTURE))
            request = Request(params, self.structure.unpack(params.node_params))
        for check in self.checks:
            fault = check(request)
            if fault is not None:
                return _refused(fault)
        scalars = self._scalars(request)
        if len(scalars) > MAX_SCALARS:
            return _refused(Fault(GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT))
        return self._with_buffers(request, self._defined(request, scalars), buffers)

    def _scalars(self, request: Request) -> tuple[int, ...]:
        own = (request.params.node_params or b"")[: self.structure.size if self.structure else 0]
        data = own if self.scalars is None else self.scalars(request)
        return tuple(int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))

    def _defined(self, request: Request, scalars: tuple[int, ...]) -> HabanaKernelInstantiation:
        """Return the part of the answer that does not depend on buffers."""
        geometry, patterns, pads = tuple(self.index_space(request)), self.patterns(request), self.pads(request)
        taps = tuple(self.taps(request))
        if not 1 <= len(geometry) <= MAX_DIMS:
            raise KernelError(f"{self.name}: an index space has 1 to {MAX_DIMS} dimensions, not {len(geometry)}")
        return HabanaKernelInstantiation(
            index_space_geometry=TensorGeometry.of(geometry),
            input_tensor_access_pattern=tuple(patterns.inputs),
            output_tensor_access_pattern=tuple(patterns.outputs),
            input_pad_values=(*pads, *(PadValue() for _ in request.inputs[len(pads) :])),
            kernel=DeviceKernel(scalars),
            flags=self.flags | (ProgramFlags.PRINTF_USED if taps else ProgramFlags.NONE),
            taps=taps,
            output_memset_values=tuple(self.memsets(request)),
        )

    def _with_buffers(
        self, request: Request, answer: HabanaKernelInstantiation, buffers: HabanaKernelInstantiation
    ) -> Answer:
        aux = tuple(replace(one, buffer_size=len(one.data)) for one in self.aux(request))
        written = WrittenBack()
        if aux:
            sizes = {at: one.buffer_size for at, one in enumerate(aux)}
            written = WrittenBack(aux_count=len(aux), aux_buffer_sizes=sizes)
            answer = replace(answer, auxiliary_tensors=aux, written_back=written)
            had = [one.buffer_size for one in buffers.auxiliary_tensors] + [0] * len(aux)
            if any(size < one.buffer_size for size, one in zip(had, aux, strict=False)):
                return GlueCode.INSUFICIENT_AUX_BUFFER_SIZE, answer
        program = self.program(request)
        size = len(program)
        if self.isa_buffer:
            fits = buffers.kernel.binary_size >= size
            device = replace(answer.kernel, kernel_binary=program if fits else b"", binary_size=size)
            answer = replace(answer, kernel=device, written_back=replace(written, isa_size=size))
            return (GlueCode.SUCCESS if fits else GlueCode.INSUFICIENT_ISA_BUFFER), answer
        fits = buffers.elf_size >= size
        answer = replace(
            answer, kernel_elf=program if fits else b"", elf_size=size, written_back=replace(written, elf_size=size)
        )
        return (GlueCode.SUCCESS if fits else GlueCode.INSUFICIENT_ELF_BUFFER), answer


def _refused(fault: Fault) -> Answer:
    return fault.code, HabanaKernelInstantiation(written_back=fault.written, failure=fault.why)
