"""Glue code: upstream's kernels give upstream's answers, and every return code is provoked, read and corrected."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kernel_cases import evaluate_glue, glue_cases
from support.said import as_recorded, raises
from support.upstream_kernels import upstream

from dais_verif.base.errors import InputError
from dais_verif.compile.kernels.caller import GlueError, instantiate
from dais_verif.compile.kernels.codes import GlueCode, TpcLibCode, code_from_tpc, code_to_tpc
from dais_verif.compile.kernels.data_types import DataType, PadValue
from dais_verif.compile.kernels.glue import Answer, Kernel, Patterns, Request
from dais_verif.compile.kernels.library import Library
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.rules import access, expect_output_sizes, expect_types, point, refuse
from dais_verif.compile.kernels.structures import (
    API_VERSION,
    NO_BUFFERS,
    AuxTensor,
    HabanaKernelInstantiation,
    HabanaKernelParams,
    PrivateStructure,
    QuantizationParams,
    Tensor,
    TensorGeometry,
    WrittenBack,
    apply_written,
)
from dais_verif.compile.kernels.tpc_lib import (
    GuidInfo,
    TpcInstantiation,
    TpcKernelParams,
    TpcTensor,
    get_kernel_guids,
    get_shape_inference,
    instantiate_tpc_kernel,
    instantiation_from_tpc,
    instantiation_to_tpc,
    params_from_tpc,
    params_to_tpc,
    pattern_from_tpc,
    pattern_to_tpc,
)
from dais_verif.spec.program.types import FixedType

F32, I8 = DataType.F32, DataType.I8
X = Tensor.of(F32, 8, 3)


def as_binary32(tree: Any) -> Any:
    """Round real numbers to binary32, as the C structures hold them."""
    if isinstance(tree, dict):
        return {name: as_binary32(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [as_binary32(value) for value in tree]
    return struct.unpack("<f", struct.pack("<f", tree))[0] if isinstance(tree, float) else tree


class TestUpstream:
    def test_every_case_is_met(self) -> None:
        cases = glue_cases()
        assert len(cases) > 250
        assert not [case["id"] for case in cases if evaluate_glue(case) != as_binary32(case["expect"])]

    def test_a_corrected_request_gets_past_the_check(self) -> None:
        """A caller that adopts what was written back, as long as anything is, gets past the check that refused."""
        mended = 0
        for case in glue_cases():
            request, codes = dict(case["request"]), list[tuple[int, ...]]()
            while (answer := evaluate_glue({**case, "request": request}))["code"] and answer["written_back"]:
                codes.append((answer["code"], *answer["written_back"]))
                request = corrected(request, answer["written_back"])
            assert len(codes) == len(set(codes)), f"{case['id']}: {codes}"
            mended += bool(codes)
        assert mended > 100


def corrected(request: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    said = {**request, "inputs": list(request["inputs"]), "outputs": list(request["outputs"])}
    blank = {"dims": 4, "sizes": [100, 8, 8, 1], "dtype": "i8"}
    for side in ("input", "output"):
        tensors = said[f"{side}s"]
        count = written.get(f"{side}_count", len(tensors))
        tensors = [dict(tensor) for tensor in [*tensors, *[blank] * count][:count]]
        for field, name in (("sizes", "sizes"), ("dtypes", "dtype")):
            for at, value in written.get(f"{side}_{field}", {}).items():
                tensors[int(at)][name] = value
        said[f"{side}s"] = tensors
    aux = written.get("aux_buffer_sizes", {})
    said["aux_buffers"] = [aux.get(str(at), size) for at, size in enumerate(request["aux_buffers"])]
    said["elf_buffer"] = written.get("elf_size", request["elf_buffer"])
    return said


def kernel(name: str = "k", **more: Any) -> Kernel:
    """Return a kernel with one input, one output, and one element per member."""
    declared = {
        "inputs": 1,
        "outputs": 1,
        "index_space": lambda r: r.outputs[0].geometry.shape,
        "patterns": lambda r: Patterns([access(point(0), point(1))], [access(point(0), point(1))]),
        "program": lambda r: b"block",
    }
    return Kernel(name, **{**declared, **more})


def library(*kernels: Kernel) -> Library:
    return Library("mine", kernels)


def request(**more: Any) -> HabanaKernelParams:
    return replace(HabanaKernelParams("k", (X,), (X,)), **more)


ROOM = HabanaKernelInstantiation(elf_size=100, auxiliary_tensors=(AuxTensor(buffer_size=100),))

#: How a caller changes a refused request after it has read what was written back.
Mend = Callable[[HabanaKernelParams, WrittenBack], HabanaKernelParams]


def given_is(name: str, value: float) -> Callable[[Request], bool]:
    return lambda r: getattr(r.given, name) == value


def first_scale(r: Request) -> WrittenBack:
    return WrittenBack(input_quantization={0: QuantizationParams(0.5, 0)})


STEP = PrivateStructure.of("step:i")
CODES: dict[GlueCode, tuple[Kernel, HabanaKernelParams, WrittenBack, Mend | None]] = {
    GlueCode.NODE_NOT_FOUND: (
        kernel(),
        request(node_name="K"),
        WrittenBack(),
        lambda p, _: replace(p, node_name=library(kernel()).get_kernel_names(1, 1).names[0]),
    ),
    GlueCode.INCOMPATIBLE_INPUT_COUNT: (kernel(), request(input_tensors=(X, X)), WrittenBack(input_count=1), None),
    GlueCode.INCOMPATIBLE_OUTPUT_COUNT: (kernel(), request(output_tensors=(X, X)), WrittenBack(output_count=1), None),
    GlueCode.INCOMPATIBLE_INPUT_SIZE: (
        kernel(
            checks=(
                refuse(
                    GlueCode.INCOMPATIBLE_INPUT_SIZE,
                    lambda r: r.inputs[0].sizes[0] % 4 != 0,
                    lambda r: WrittenBack(input_sizes={0: (8, 3)}),
                ),
            )
        ),
        request(input_tensors=(Tensor.of(F32, 7, 3),)),
        WrittenBack(input_sizes={0: (8, 3)}),
        None,
    ),
    GlueCode.INCOMPATIBLE_OUTPUT_SIZE: (
        kernel(checks=(expect_output_sizes(lambda r: r.inputs[0].sizes),)),
        request(output_tensors=(Tensor.of(F32, 7, 3),)),
        WrittenBack(output_sizes={0: (8, 3, 1, 1, 1)}),
        None,
    ),
    GlueCode.INCOMPATIBLE_DATA_TYPE: (
        kernel(checks=(expect_types([F32], [I8]),)),
        request(),
        WrittenBack(input_types={0: F32}, output_types={0: I8}),
        None,
    ),
    GlueCode.UNSUPPORTED_LAYER_CONFIGURATION: (
        kernel(structure=STEP, checks=(refuse(GlueCode.UNSUPPORTED_LAYER_CONFIGURATION, given_is("step", 0)),)),
        request(node_params=STEP.pack({"step": 0})),
        WrittenBack(),
        lambda p, _: replace(p, node_params=STEP.pack({"step": 1})),
    ),
    GlueCode.UNSUPPORTED_QUANT_PARAMS: (
        kernel(
            checks=(
                refuse(GlueCode.UNSUPPORTED_QUANT_PARAMS, lambda r: r.inputs[0].quantization.scale != 0.5, first_scale),
            )
        ),
        request(),
        WrittenBack(input_quantization={0: QuantizationParams(0.5, 0)}),
        None,
    ),
    GlueCode.UNSUPPORTED_BROADCAST_MODE: (
        kernel(
            checks=(
                refuse(
                    GlueCode.UNSUPPORTED_BROADCAST_MODE,
                    lambda r: r.inputs[0].sizes != r.outputs[0].sizes,
                    lambda r: WrittenBack(input_sizes={0: r.outputs[0].sizes}),
                ),
            )
        ),
        request(input_tensors=(Tensor.of(F32, 8, 1),)),
        WrittenBack(input_sizes={0: (8, 3, 1, 1, 1)}),
        None,
    ),
    GlueCode.UNSUPPORTED_API_VERSION: (
        kernel(checks=(refuse(GlueCode.UNSUPPORTED_API_VERSION, lambda r: r.params.api_version != API_VERSION),)),
        request(api_version=99),
        WrittenBack(),
        lambda p, _: replace(p, api_version=API_VERSION),
    ),
    GlueCode.NON_STATIC_INPUT_TENSOR: (
        kernel(checks=(refuse(GlueCode.NON_STATIC_INPUT_TENSOR, lambda r: r.inputs[0].data is None),)),
        request(),
        WrittenBack(),
        lambda p, _: replace(p, input_tensors=(replace(X, data=bytes(96)),)),
    ),
    GlueCode.KERNEL_REQUIRE_REDUCIBLE_TENSOR: (
        kernel(
            checks=(
                refuse(
                    GlueCode.KERNEL_REQUIRE_REDUCIBLE_TENSOR,
                    lambda r: not r.inputs[0].reducible,
                    lambda r: WrittenBack(require_reducible=frozenset([0])),
                ),
            )
        ),
        request(),
        WrittenBack(require_reducible=frozenset([0])),
        None,
    ),
    GlueCode.KERNEL_REQUIRE_CONTIGUOUS_TENSOR: (
        kernel(
            checks=(
                refuse(
                    GlueCode.KERNEL_REQUIRE_CONTIGUOUS_TENSOR,
                    lambda r: not r.inputs[0].contiguous,
                    lambda r: WrittenBack(require_contiguous=frozenset([0])),
                ),
            )
        ),
        request(input_tensors=(replace(X, contiguous=False),)),
        WrittenBack(require_contiguous=frozenset([0])),
        None,
    ),
    GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT: (
        kernel(structure=STEP, scalars=lambda r: bytes(4 * (33 if r.given.step else 32))),
        request(node_params=STEP.pack({"step": 1})),
        WrittenBack(),
        lambda p, _: replace(p, node_params=STEP.pack({"step": 0})),
    ),
    GlueCode.UNSUPPORTED_LOW_FCD_INPUT: (
        kernel(
            checks=(
                refuse(
                    GlueCode.UNSUPPORTED_LOW_FCD_INPUT,
                    lambda r: r.inputs[0].sizes[0] < 4,
                    lambda r: WrittenBack(input_sizes={0: (4, 3)}),
                ),
            )
        ),
        request(input_tensors=(Tensor.of(F32, 2, 3),)),
        WrittenBack(input_sizes={0: (4, 3)}),
        None,
    ),
    GlueCode.MISSING_PRIVATE_STRUCTURE: (
        kernel(structure=STEP),
        request(),
        WrittenBack(),
        lambda p, _: replace(p, node_params=STEP.pack({})),
    ),
    GlueCode.UNSUPPORTED_5D_TENSORS: (
        kernel(checks=(refuse(GlueCode.UNSUPPORTED_5D_TENSORS, lambda r: r.inputs[0].dims == 5),)),
        request(input_tensors=(Tensor.of(F32, 8, 3, 1, 1, 1),)),
        WrittenBack(),
        lambda p, _: replace(p, input_tensors=(X,)),
    ),
    GlueCode.FAILED: (
        kernel(structure=STEP, program=lambda r: bytes(1 // r.given.step)),
        request(node_params=STEP.pack({"step": 0})),
        WrittenBack(),
        lambda p, _: replace(p, node_params=STEP.pack({"step": 1})),
    ),
}


class TestCodes:
    @pytest.mark.parametrize("code", CODES, ids=lambda code: code.name.lower())
    def test_it_is_provoked_read_and_mended(self, code: GlueCode) -> None:
        declared, asked, written, mend = CODES[code]
        library = Library("mine", (declared,))
        found, answer = library.habana_kernel(asked, ROOM)
        assert (found, answer.written_back) == (code, written)
        assert not answer.kernel_elf and not answer.index_space_geometry.dims
        again = mend(asked, written) if mend else apply_written(asked, answer.written_back)
        found, answer = library.habana_kernel(again, ROOM)
        assert found is GlueCode.SUCCESS and answer.kernel_elf

    def test_no_code_is_left_out(self) -> None:
        buffers = {
            GlueCode.INSUFICIENT_ISA_BUFFER,
            GlueCode.INSUFICIENT_AUX_BUFFER_SIZE,
            GlueCode.INSUFICIENT_ELF_BUFFER,
        }
        assert set(CODES) | buffers | {GlueCode.SUCCESS} == set(GlueCode)

    def test_numbers_and_names_are_the_published_ones(self) -> None:
        assert GlueCode.INSUFICIENT_ELF_BUFFER.title == "GLUE_INSUFICIENT_ELF_BUFFER"
        assert TpcLibCode.INSUFFICIENT_ELF_BUFFER.title == "GLUE_INSUFFICIENT_ELF_BUFFER"
        assert [*range(21), 400] == sorted(GlueCode)
        assert [*range(25), 400] == sorted(TpcLibCode)

    def test_a_failure_says_where_and_what(self) -> None:
        declared, asked, *_ = CODES[GlueCode.FAILED]
        with pytest.raises(GlueError, match=r"GLUE_FAILED \(400\): mine/k: ZeroDivisionError"):
            instantiate(library(declared), asked)


class TestBuffers:
    AUX = AuxTensor(TensorGeometry.of([3]), F32, bytes(range(12)))

    def test_the_program_needs_two_calls(self) -> None:
        mine = library(kernel())
        code, first = mine.habana_kernel(request())
        assert (code, first.elf_size, first.kernel_elf) == (GlueCode.INSUFICIENT_ELF_BUFFER, 5, b"")
        assert first.written_back == WrittenBack(elf_size=5)
        code, second = mine.habana_kernel(request(), first)
        assert (code, second.kernel_elf, second.written_back) == (GlueCode.SUCCESS, b"block", WrittenBack(elf_size=5))

    def test_a_byte_less_is_too_small(self) -> None:
        mine = library(kernel())
        codes = [mine.habana_kernel(request(), replace(NO_BUFFERS, elf_size=n))[0] for n in (4, 5, 6)]
        assert codes == [GlueCode.INSUFICIENT_ELF_BUFFER, GlueCode.SUCCESS, GlueCode.SUCCESS]

    def test_the_older_place_of_the_program(self) -> None:
        mine = library(kernel(isa_buffer=True))
        code, first = mine.habana_kernel(request())
        assert (code, first.written_back) == (GlueCode.INSUFICIENT_ISA_BUFFER, WrittenBack(isa_size=5))
        code, second = mine.habana_kernel(request(), first)
        assert (code, second.kernel.kernel_binary) == (GlueCode.SUCCESS, b"block")
        assert instantiate(mine, request()).kernel.kernel_binary == b"block"

    def test_auxiliary_tensors_come_before_the_program(self) -> None:
        mine = library(kernel(aux=lambda r: [self.AUX]))
        code, first = mine.habana_kernel(request())
        assert (code, first.elf_size) == (GlueCode.INSUFICIENT_AUX_BUFFER_SIZE, 0)
        assert first.written_back == WrittenBack(aux_count=1, aux_buffer_sizes={0: 12})
        code, second = mine.habana_kernel(request(), first)
        assert code is GlueCode.INSUFICIENT_ELF_BUFFER
        code, third = mine.habana_kernel(request(), second)
        assert code is GlueCode.SUCCESS and third.auxiliary_tensors[0].data == bytes(range(12))

    def test_the_caller_makes_room(self) -> None:
        answer = instantiate(library(kernel(aux=lambda r: [self.AUX])), request())
        assert answer.kernel_elf == b"block" and answer.auxiliary_tensors[0].buffer_size == 12

    def test_a_buffer_that_is_never_large_enough(self) -> None:
        class Greedy:
            def get_kernel_names(self, device: int, max_count: int) -> Any: ...

            def habana_kernel(self, params: HabanaKernelParams, instance: Any = NO_BUFFERS, /) -> Answer:
                return GlueCode.INSUFICIENT_ELF_BUFFER, replace(NO_BUFFERS, elf_size=instance.elf_size + self.more)

            more = 1

        greedy = Greedy()
        with raises(InputError):
            instantiate(greedy, request())
        greedy.more = 0
        with raises(InputError):
            instantiate(greedy, request())

    def test_a_table_of_the_wrong_size(self) -> None:
        wrong = replace(self.AUX, geometry=TensorGeometry.of([4]))
        with pytest.raises(InputError, match=r"tensor 0 of \[4\] x f32.*12 bytes.*16"):
            instantiate(library(kernel(aux=lambda r: [wrong])), request())

    def test_a_refusal_says_what_is_wanted(self) -> None:
        with pytest.raises(GlueError, match=r"answers GLUE_INCOMPATIBLE_INPUT_COUNT \(3\).*input_count 1"):
            instantiate(library(kernel()), request(input_tensors=(X, X)))


class TestNames:
    def test_two_calls(self) -> None:
        mine = library(kernel("a"), kernel("b"))
        assert mine.get_kernel_names(1, 0) == (GlueCode.SUCCESS, 2, ())
        assert mine.get_kernel_names(1, 1) == (GlueCode.SUCCESS, 2, ())
        assert mine.get_kernel_names(1, 2) == (GlueCode.SUCCESS, 2, ("a", "b"))

    def test_a_device_without_kernels_is_no_error(self) -> None:
        assert library(kernel()).get_kernel_names(7, 10) == (GlueCode.SUCCESS, 0, ())

    def test_a_name_may_be_there_without_being_listed_and_for_any_device(self) -> None:
        mine = library(kernel(listed=False))
        assert mine.get_kernel_names(1, 9).names == ()
        assert mine.habana_kernel(request(device_id=7), ROOM)[0] is GlueCode.SUCCESS

    @pytest.mark.parametrize("name", ["", "K", "k ", " k", "kk"])
    def test_names_match_exactly(self, name: str) -> None:
        code, answer = library(kernel()).habana_kernel(request(node_name=name))
        assert (code, answer) == (GlueCode.NODE_NOT_FOUND, NO_BUFFERS)

    def test_63_bytes_are_the_most(self) -> None:
        assert kernel("k" * 63).name
        for name in ("k" * 64, "ü" * 32, "", "a/b", "a\n"):
            with pytest.raises(InputError, match="1 to 63 bytes"):
                kernel(name)

    def test_names_are_unique(self) -> None:
        with raises(InputError):
            library(kernel(), kernel())

    def test_upstream_counts(self) -> None:
        assert upstream("f544ed3").get_kernel_names(0, 0).number == 8


class TestLimits:
    def test_tensors_a_side(self) -> None:
        request(input_tensors=(X,) * 16)
        with pytest.raises(InputError, match=r"up to 16 inputs.*17"):
            request(input_tensors=(X,) * 17)

    def test_dimensions(self) -> None:
        with pytest.raises(InputError, match=r"up to 5.*6"):
            Tensor.of(F32, 1, 2, 3, 4, 5, 6)
        with raises(InputError):
            Tensor.of(F32, 1 << 32)

    @pytest.mark.parametrize("kind", [FixedType(0, 0, -1), FixedType(1, 5000, 0), FixedType(0, -5000, 5001)], ids=str)
    def test_types_of_dais(self, kind: FixedType) -> None:
        with raises(InputError):
            Tensor.of(kind, 1)

    def test_an_index_space_has_a_dimension(self) -> None:
        code, answer = library(kernel(index_space=lambda r: [])).habana_kernel(request(), ROOM)
        assert code is GlueCode.FAILED and "1 to 5" in answer.failure
        as_recorded(answer.failure)

    def test_32_scalars_are_taken(self) -> None:
        mine = library(kernel(scalars=lambda r: b"".join(n.to_bytes(4, "little") for n in range(32))))
        assert instantiate(mine, request()).kernel.scalar_params == tuple(range(32))

    def test_a_negative_scalar_is_twos_complement_and_a_real_one_its_bits(self) -> None:
        structure = PrivateStructure.of("a:i b:f")
        mine = library(kernel(structure=structure))
        answer = instantiate(mine, request(node_params=structure.pack({"a": -1, "b": 0.1})))
        assert answer.kernel.scalar_params == (0xFFFFFFFF, 1036831949)

    def test_structures_are_read_strictly(self) -> None:
        structure = PrivateStructure.of("a:i b:u")
        for values, said in (({"c": 1}, ""), ({"b": -1}, "")):
            with raises(InputError, match=said):
                structure.pack(values)
        with raises(InputError):
            PrivateStructure.of("a:x")


class TestPads:
    @pytest.mark.parametrize(
        ("kind", "value", "dword"),
        [
            (I8, -128, 0x80808080),
            (DataType.U8, 255, 0xFFFFFFFF),
            (DataType.I16, -32768, 0x80008000),
            (DataType.F32, float("-inf"), 0xFF800000),
            (DataType.BF16, 46.25, 0x42394239),
            (DataType.I32, -(2**31), 0x80000000),
        ],
    )
    def test_hardware_repeats_it(self, kind: DataType, value: float, dword: int) -> None:
        assert PadValue.of(kind, value).dword(kind) == dword

    def test_extremes(self) -> None:
        assert PadValue.lowest(I8).dword(I8) == 0x80808080 and PadValue.highest(I8).bits == 127
        assert PadValue.lowest(DataType.U8).bits == 0 and PadValue.highest(DataType.U16).bits == 0xFFFF
        assert PadValue.lowest(F32).bits == 0xFF800000 and PadValue.highest(DataType.BF16).bits == 0x7F80
        kind = FixedType(1, 3, 2)
        assert PadValue.lowest(kind).bits == -32 and PadValue.highest(kind).bits == 31

    def test_a_value_that_the_type_does_not_hold(self) -> None:
        assert PadValue.of(FixedType(1, 3, 2), -1.25).bits == -5
        for kind, value in ((I8, 128), (FixedType(1, 3, 2), 0.125), (FixedType(0, 3, 2), -1), (DataType.I64, 0)):
            with pytest.raises(InputError, match="pad value"):
                PadValue.of(kind, value)


coefficients = st.integers(-64, 64).map(lambda n: n / 8)
dims = st.builds(
    DimPattern.affine, st.integers(0, 4), coefficients, coefficients, coefficients, all_required=st.booleans()
)
access_patterns = st.builds(
    AccessPattern,
    st.lists(dims, max_size=5).map(tuple),
    st.booleans(),
    st.booleans(),
    st.integers(0, 0xFFFF),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
tensors = st.builds(
    Tensor,
    st.lists(st.integers(0, 9), max_size=5).map(TensorGeometry.of),
    st.sampled_from(DataType),
    st.builds(QuantizationParams, coefficients, st.integers(-128, 127)),
    reducible=st.booleans(),
    data=st.none() | st.binary(max_size=3),
)
requests = st.builds(
    HabanaKernelParams,
    st.text("abc_", min_size=1, max_size=9),
    st.lists(tensors, max_size=3).map(tuple),
    st.lists(tensors, max_size=3).map(tuple),
    st.none() | st.binary(max_size=8),
    st.integers(0, 4),
)


class TestNewerGeneration:
    @given(access_patterns)
    def test_patterns_there_and_back(self, pattern: AccessPattern) -> None:
        assert pattern_from_tpc(pattern_to_tpc(pattern)) == pattern

    @given(requests)
    def test_requests_there_and_back(self, params: HabanaKernelParams) -> None:
        assert params_from_tpc(params_to_tpc(params)) == params

    @given(st.lists(access_patterns, max_size=3).map(tuple), st.lists(access_patterns, max_size=3).map(tuple))
    def test_answers_there_and_back_lose_pad_values_alone(self, inputs: Any, outputs: Any) -> None:
        answer = HabanaKernelInstantiation(
            TensorGeometry.of([2, 3]),
            inputs,
            outputs,
            (PadValue(7),) * len(inputs),
            (AuxTensor(TensorGeometry.of([3]), F32, bytes(12), 12),),
            kernel_elf=b"block",
            elf_size=5,
            output_memset_values=(PadValue(3),) * len(outputs),
            aux_not_requiring_init=1,
        )
        back = instantiation_from_tpc(instantiation_to_tpc(answer))
        assert back == replace(answer, input_pad_values=(PadValue(0),) * len(inputs))

    def test_two_slopes_have_no_form_there(self) -> None:
        with raises(InputError):
            pattern_to_tpc(AccessPattern((DimPattern(0, 1, 2, 0, 1),)))

    def test_codes_there_and_back(self) -> None:
        lost = {code for code in GlueCode if code_from_tpc(code_to_tpc(code)) is not code}
        assert lost == {GlueCode.KERNEL_REQUIRE_CONTIGUOUS_TENSOR}
        lost = {code for code in TpcLibCode if code_to_tpc(code_from_tpc(code)) is not code}
        assert lost == {TpcLibCode.INVALID_SHAPE_INFERENCE_ID, *(TpcLibCode(n) for n in range(21, 25))}

    def test_guids(self) -> None:
        found = get_kernel_guids(library(kernel("a"), kernel("b")), 3, 2)
        assert (found.code, found.number) == (TpcLibCode.SUCCESS, 2)
        assert [guid.name for guid in found.guids] == ["a", "b"]
        assert len({guid.name_hash for guid in found.guids}) == 2
        assert all(guid.name_hash < 1 << 64 and guid.name_hash % 256 == 0 for guid in found.guids)
        assert get_kernel_guids(library(kernel()), 3).guids == ()
        assert get_kernel_guids(library(kernel()), 9).number == 0

    @pytest.mark.parametrize("code", CODES, ids=lambda code: code.name.lower())
    def test_codes_of_both_are_provoked_read_and_mended(self, code: GlueCode) -> None:
        """Every code of both interfaces is provoked, read and corrected, except code 15.

        It has another meaning in the newer interface, where a kernel cannot ask for contiguous tensors.
        """
        declared, asked, written, mend = CODES[code]
        mine, room = library(declared), instantiation_to_tpc(ROOM)
        found, answer = instantiate_tpc_kernel(mine, params_to_tpc(asked), room)
        if code is GlueCode.KERNEL_REQUIRE_CONTIGUOUS_TENSOR:
            assert found is TpcLibCode.SUCCESS
            return
        assert (found, answer.written_back) == (TpcLibCode(code), written)
        again = mend(asked, written) if mend else apply_written(asked, answer.written_back)
        found, answer = instantiate_tpc_kernel(mine, params_to_tpc(again), room)
        assert found is TpcLibCode.SUCCESS and answer.kernel_elf

    def test_its_buffers_need_two_calls_each(self) -> None:
        mine, asked = library(kernel(aux=lambda r: [TestBuffers.AUX])), params_to_tpc(request())
        code, first = instantiate_tpc_kernel(mine, asked)
        assert code is TpcLibCode.INSUFFICIENT_AUX_BUFFER_SIZE
        assert first.written_back == WrittenBack(aux_count=1, aux_buffer_sizes={0: 12})
        code, second = instantiate_tpc_kernel(mine, asked, first)
        assert code is TpcLibCode.INSUFFICIENT_ELF_BUFFER and second.written_back.elf_size == 5
        code, third = instantiate_tpc_kernel(mine, asked, second)
        assert code is TpcLibCode.SUCCESS and third.kernel_elf == b"block"

    def test_the_older_place_of_the_program_is_gone(self) -> None:
        """Code 2 exists in the newer interface, but the buffer does not: only the older interface can correct it."""
        mine, asked = library(kernel(isa_buffer=True)), params_to_tpc(request())
        code, first = instantiate_tpc_kernel(mine, asked)
        assert (code, first.written_back) == (TpcLibCode.INSUFFICIENT_ISA_BUFFER, WrittenBack(isa_size=5))
        older = params_from_tpc(asked)
        room = replace(NO_BUFFERS, kernel=replace(NO_BUFFERS.kernel, binary_size=first.written_back.isa_size or 0))
        assert mine.habana_kernel(older, room)[0] is GlueCode.SUCCESS

    def test_no_code_is_left_out(self) -> None:
        buffers = {TpcLibCode.INSUFFICIENT_AUX_BUFFER_SIZE, TpcLibCode.INSUFFICIENT_ELF_BUFFER}
        its_own = {TpcLibCode(n) for n in (2, 15, 21, 22, 23, 24)}
        both = {TpcLibCode(code) for code in CODES}
        assert both | buffers | its_own | {TpcLibCode.SUCCESS} == set(TpcLibCode)

    def test_a_graph_that_is_left_as_it_is(self) -> None:
        """No shipped kernel answers for graphs; if a third-party one does, its caller uses the plain kernel."""

        class Graphs:
            plain = library(kernel())

            def get_kernel_names(self, device: int, max_count: int) -> Any:
                return self.plain.get_kernel_names(device, max_count)

            def habana_kernel(self, params: HabanaKernelParams, instance: Any = NO_BUFFERS, /) -> Answer:
                return self.plain.habana_kernel(params, instance)

            def instantiate_tpc_kernel(self, params: TpcKernelParams, instance: TpcInstantiation, /) -> Any:
                if params.guid.name == "k_graph":
                    return TpcLibCode.CGUID_GRAPH_UNCHANGED, TpcInstantiation()
                return instantiate_tpc_kernel(self.plain, params, instance)

        asked, room = params_to_tpc(request(node_name="k_graph")), instantiation_to_tpc(ROOM)
        code, answer = instantiate_tpc_kernel(Graphs(), asked, room)
        assert code == 21 and answer == TpcInstantiation()
        code, answer = instantiate_tpc_kernel(Graphs(), replace(asked, guid=GuidInfo.of("k")), room)
        assert code is TpcLibCode.SUCCESS and answer.kernel_elf == b"block"

    def test_codes_of_its_own_are_provoked_and_mended(self) -> None:
        mine = library(kernel(checks=(expect_output_sizes(lambda r: r.inputs[0].sizes),)))
        good = params_to_tpc(request())
        room = instantiation_to_tpc(ROOM)
        assert instantiate_tpc_kernel(mine, good, room)[0] is TpcLibCode.SUCCESS

        def of(tensor: TpcTensor) -> TpcLibCode:
            return instantiate_tpc_kernel(mine, replace(good, input_tensors=(tensor,)), room)[0]

        x = good.input_tensors[0]
        assert of(replace(x, min_sizes=(1,) * 5)) is TpcLibCode.UNSUPPORTED_DYNAMIC_SHAPE
        assert of(replace(x, max_sizes=(1 << 32, 3), min_sizes=())) is TpcLibCode.UNSUPPORTED_HUGE_TENSORS
        assert of(replace(x, dims=6, max_sizes=(1,) * 6, min_sizes=())) is TpcLibCode.UNSUPPORTED_LAYER_CONFIGURATION
        assert of(x) is TpcLibCode.SUCCESS

    def test_shape_inference(self) -> None:
        mine = library(kernel(checks=(expect_output_sizes(lambda r: r.inputs[0].sizes),)))
        good = params_to_tpc(request())
        assert get_shape_inference(mine, good) == (TpcLibCode.SUCCESS, {0: (8, 3, 1, 1, 1)})
        unknown = replace(good, guid=GuidInfo.of("none"))
        assert get_shape_inference(mine, unknown)[0] is TpcLibCode.INVALID_SHAPE_INFERENCE_ID
        assert get_shape_inference(mine, replace(good, input_tensors=()))[0] is TpcLibCode.SIF_NULL_PTR
        assert get_shape_inference(library(kernel()), good) == (TpcLibCode.SUCCESS, {})

    def test_absent_tensors(self) -> None:
        mine, good = library(kernel()), params_to_tpc(request())
        absent = TpcTensor(null=True)
        padded = replace(good, input_tensors=(*good.input_tensors, absent))
        assert (padded.valid_input_tensors, padded.valid_output_tensors) == (1, 1)
        assert instantiate_tpc_kernel(mine, padded, instantiation_to_tpc(ROOM))[0] is TpcLibCode.SUCCESS
        with raises(InputError):
            params_from_tpc(replace(good, input_tensors=(absent, *good.input_tensors)))
