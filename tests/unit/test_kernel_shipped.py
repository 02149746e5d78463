"""The shipped kernels: all members together compute what NumPy computes independently, for random shapes and types."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.caller import GlueError, instantiate
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.constants import constant_tensor, content_of
from dais_verif.compile.kernels.data_types import DataType
from dais_verif.compile.kernels.instance import KernelInstance, instance_of
from dais_verif.compile.kernels.mapping import MappedTensor, Mapping
from dais_verif.compile.kernels.mapping_laws import check_mapping
from dais_verif.compile.kernels.rules import access, block, steps
from dais_verif.compile.kernels.shipped import LIBRARY
from dais_verif.compile.kernels.shipped.conv2d import STRUCTURE
from dais_verif.compile.kernels.shipped.dense import STRUCTURE as DENSE
from dais_verif.compile.kernels.shipped.moves import AXIS, PERMUTATION
from dais_verif.compile.kernels.shipped.pooling import STRUCTURE as POOL
from dais_verif.compile.kernels.shipped.softmax import STRUCTURE as SOFTMAX
from dais_verif.compile.kernels.structures import NO_BUFFERS, HabanaKernelParams, Tensor, apply_written
from dais_verif.golden import members
from dais_verif.golden.members import run_instance
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.ranges import PromiseStatus, analyse

Array = NDArray[np.int64]
F32 = DataType.F32
ROOM = replace(NO_BUFFERS, elf_size=1 << 20)


def random_type(rng: np.random.Generator, most: int = 6) -> FixedType:
    k, i = int(rng.integers(2)), int(rng.integers(0, most))
    return FixedType(k, i, max(int(rng.integers(-1, 4)), -k - i))


def random_raw(rng: np.random.Generator, kind: FixedType, shape: Sequence[int]) -> Array:
    return rng.integers(kind.raw_min, kind.raw_max + 1, size=tuple(shape))


def quantised(raw: NDArray[np.object_], f: int, kind: FixedType) -> NDArray[np.object_]:
    """Return exact numbers ``raw * 2**-f`` in another type: floored, and high bits cut off."""
    shift = kind.f - f
    moved = raw * (1 << shift) if shift >= 0 else raw >> -shift
    low = moved % (1 << kind.width)
    return np.where(low > kind.raw_max, low - (1 << kind.width), low)


def made(params: HabanaKernelParams) -> KernelInstance:
    """Return the instance; assert that its mapping obeys the laws and that nothing can overflow in its block."""
    instance = instance_of(params, instantiate(LIBRARY, params))
    explicit = [
        replace(tensor, addressing=instance.mapping.addressing(tensor))
        for tensor in (*instance.mapping.inputs, *instance.mapping.outputs)
    ]
    inputs = len(instance.mapping.inputs)
    mapping = replace(instance.mapping, inputs=tuple(explicit[:inputs]), outputs=tuple(explicit[inputs:]))
    report = check_mapping(mapping, inside=True)
    assert report.verdict is Verdict.PASS and not report.findings
    assert analyse(instance.block).worst is PromiseStatus.SAFE
    return instance


ELEMENTWISE: dict[str, tuple[int, Callable[..., NDArray[np.object_]]]] = {
    "abs": (1, abs),
    "add": (2, lambda x, y: x + y),
    "sub": (2, lambda x, y: x - y),
    "mul": (2, lambda x, y: x * y),
    "relu": (1, lambda x: np.maximum(x, 0)),
    "cast": (1, lambda x: x),
}


class TestElementwise:
    @pytest.mark.parametrize("name", ELEMENTWISE)
    def test_it_equals_numpy(self, name: str) -> None:
        n, compute = ELEMENTWISE[name]
        rng = np.random.default_rng(5)
        for _ in range(50):
            shape = tuple(int(size) for size in rng.integers(1, 5, size=rng.integers(1, 6)))
            kinds, out = [random_type(rng) for _ in range(n)], random_type(rng, 9)
            inputs = tuple(Tensor.of(kind, *shape) for kind in kinds)
            instance = made(HabanaKernelParams(name, inputs, (Tensor.of(out, *shape),)))
            raw = [random_raw(rng, kind, (3, *shape[::-1])) for kind in kinds]
            (found,) = run_instance(instance, raw)
            # Both operands get the fractional bits of the finer one; their product has twice as many.
            f = max(kind.f for kind in kinds)
            aligned = [x.astype(object) * (1 << (f - kind.f)) for x, kind in zip(raw, kinds, strict=True)]
            expected = quantised(compute(*aligned), 2 * f if name == "mul" else f, out)
            assert found.shape == (3, *shape[::-1]) and (found == expected).all()

    def test_the_exact_type_is_written_back(self) -> None:
        x = Tensor.of(FixedType(1, 3, 2), 4)
        asked = HabanaKernelParams("mul", (x, x), (Tensor.of(F32, 4),))
        with pytest.raises(GlueError, match="output_types") as refused:
            instantiate(LIBRARY, asked)
        assert refused.value.glue_code is GlueCode.INCOMPATIBLE_DATA_TYPE
        again = apply_written(asked, refused.value.instance.written_back)
        assert again.output_tensors[0].data_type == FixedType(1, 7, 4)
        raw = np.array([[-32, -32, 31, 31]]), np.array([[-32, 31, -32, 31]])
        (found,) = run_instance(made(again), raw)
        assert found.tolist() == [[1024, -992, -992, 961]]

    def test_refusals(self) -> None:
        s4 = FixedType(1, 3, 0)

        def code(inputs: Sequence[Tensor], output: Tensor) -> GlueCode:
            return LIBRARY.habana_kernel(HabanaKernelParams("add", tuple(inputs), (output,)))[0]

        x = Tensor.of(s4, 4, 3)
        assert code([x, Tensor.of(s4, 4, 2)], x) is GlueCode.INCOMPATIBLE_INPUT_SIZE
        assert code([x, x], Tensor.of(s4, 4, 2)) is GlueCode.INCOMPATIBLE_OUTPUT_SIZE
        assert code([x, x], Tensor.of(s4, 4)) is GlueCode.INCOMPATIBLE_OUTPUT_SIZE
        assert code([x, Tensor.of(F32, 4, 3)], x) is GlueCode.INCOMPATIBLE_DATA_TYPE
        assert code([Tensor.of(s4)] * 2, Tensor.of(s4)) is GlueCode.UNSUPPORTED_LAYER_CONFIGURATION


class TestDense:
    def test_it_equals_numpy(self) -> None:
        rng = np.random.default_rng(6)
        for at in range(50):
            n_in, n_out = (int(n) for n in rng.integers(1, 7, size=2))
            rest = tuple(int(size) for size in rng.integers(1, 4, size=rng.integers(0, 4)))
            kind, w_kind, b_kind, out = (random_type(rng) for _ in range(4))
            weights, bias = random_raw(rng, w_kind, (n_out, n_in)), random_raw(rng, b_kind, (n_out,))
            constants = (constant_tensor(w_kind, weights), constant_tensor(b_kind, bias))[: 1 + at % 2]
            x, y = Tensor.of(kind, n_in, *rest), Tensor.of(out, n_out, *rest)
            instance = made(HabanaKernelParams("dense", (x, *constants), (y,)))
            raw = random_raw(rng, kind, (2, *rest[::-1], n_in))
            (found,) = run_instance(instance, [raw])
            f = max(kind.f + w_kind.f, b_kind.f)
            products = (raw.astype(object) @ weights.T.astype(object)) * (1 << (f - kind.f - w_kind.f))
            exact = products + (bias.astype(object) * (1 << (f - b_kind.f)) if at % 2 else 0)
            assert (found == quantised(exact, f, out)).all()

    @pytest.mark.parametrize(("activation", "least", "most"), [(0, -99, 99), (1, 0, 99), (2, 0, 5)])
    def test_activations(self, activation: int, least: int, most: int) -> None:
        s6, out = FixedType(1, 5, 0), FixedType(1, 7, 1)
        given = DENSE.pack({"activation": activation, "most": 11, "fraction": 1})
        inputs = Tensor.of(s6, 2), constant_tensor(s6, [[1, 1]])
        x = np.array([[a, b] for a in (-9, -1, 0, 3) for b in (-4, 0, 2, 20)])
        (found,) = run_instance(made(HabanaKernelParams("dense", inputs, (Tensor.of(out, 1),), given)), [x])
        assert (found[:, 0] / 2 == np.clip(x.sum(axis=1), least, most + (activation == 2) / 2)).all()

    def test_refusals_are_mended(self) -> None:
        s4 = FixedType(1, 3, 0)
        x, y = Tensor.of(s4, 3), Tensor.of(s4, 2)
        weights = constant_tensor(s4, [[1, 2, 3], [4, 5, 6]])

        def code(*inputs: Tensor, output: Tensor = y, given: bytes | None = None) -> GlueCode:
            return LIBRARY.habana_kernel(HabanaKernelParams("dense", inputs, (output,), given), ROOM)[0]

        assert code(x, weights) is GlueCode.SUCCESS
        assert code(x, weights, given=DENSE.pack({"activation": 3})) is GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT
        assert code(x, weights, given=DENSE.pack({"most": -1})) is GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT
        assert code(x, weights, given=b"") is GlueCode.MISSING_PRIVATE_STRUCTURE
        assert code(x) is GlueCode.INCOMPATIBLE_INPUT_COUNT
        assert code(x, Tensor.of(s4, 3, 2)) is GlueCode.NON_STATIC_INPUT_TENSOR
        assert code(x, replace(weights, data=bytes(8))) is GlueCode.NON_STATIC_INPUT_TENSOR
        assert code(Tensor.of(s4, 4), weights) is GlueCode.INCOMPATIBLE_INPUT_SIZE
        assert code(x, weights, constant_tensor(s4, [1, 2, 3])) is GlueCode.INCOMPATIBLE_INPUT_SIZE
        assert code(x, weights, output=Tensor.of(s4, 3)) is GlueCode.INCOMPATIBLE_OUTPUT_SIZE


def convolved(x: Array, w: Array, stride: int, pad: int, dilation: int, groups: int) -> NDArray[np.object_]:
    """Compute a convolution by definition: for each offset in the window, a shifted image times a weight."""
    samples, channels, height, width = x.shape
    outputs, per_group, k_h, k_w = w.shape
    padded = np.zeros((samples, channels, height + 2 * pad, width + 2 * pad), dtype=object)
    padded[:, :, pad : pad + height, pad : pad + width] = x
    high, wide = ((n + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for n, k in ((height, k_h), (width, k_w)))
    y = np.zeros((samples, outputs, high, wide), dtype=object)
    for k in range(outputs):
        first = (k // (outputs // groups)) * per_group
        for c in range(per_group):
            for i in range(k_h):
                for j in range(k_w):
                    rows = slice(i * dilation, i * dilation + stride * (high - 1) + 1, stride)
                    columns = slice(j * dilation, j * dilation + stride * (wide - 1) + 1, stride)
                    y[:, k] += padded[:, first + c, rows, columns] * int(w[k, c, i, j])
    return y


class TestConv2d:
    def test_it_equals_numpy(self) -> None:
        rng = np.random.default_rng(7)
        windows = 0
        while windows < 50:
            groups, per_group, per_output = (int(n) for n in rng.integers(1, 3, size=3))
            k_h, k_w, stride, dilation = (int(n) for n in rng.integers(1, 4, size=4))
            pad, height, width = (int(n) for n in (rng.integers(0, 3), *rng.integers(1, 9, size=2)))
            if min(height - dilation * (k_h - 1), width - dilation * (k_w - 1)) + 2 * pad < 1:
                continue
            windows += 1
            kind, w_kind, b_kind, out = (random_type(rng, 4) for _ in range(4))
            w = random_raw(rng, w_kind, (groups * per_output, per_group, k_h, k_w))
            b = random_raw(rng, b_kind, (len(w),))
            x = random_raw(rng, kind, (2, groups * per_group, height, width))
            exact = convolved(x, w, stride, pad, dilation, groups)
            f = max(kind.f + w_kind.f, b_kind.f)
            exact = exact * (1 << (f - kind.f - w_kind.f)) + b.astype(object)[:, None, None] * (1 << (f - b_kind.f))
            activation = windows % 3
            exact = np.maximum(exact, 0) if activation else exact
            most, fraction = 3, max(min(f, 1), 0)
            if activation == 2:
                up = max(fraction - f, 0)
                exact, f = np.minimum(exact * (1 << up), most << (f + up - fraction)), f + up
            given = {
                **dict.fromkeys(("pad_w", "pad_h"), pad),
                **dict.fromkeys(("stride_w", "stride_h"), stride),
                **dict.fromkeys(("dilation_w", "dilation_h"), dilation),
                "groups": groups,
                "activation": activation,
                "most": most,
                "fraction": fraction,
            }
            image, output = (Tensor.of(t, *shape[:0:-1]) for t, shape in ((kind, x.shape), (out, exact.shape)))
            inputs = (image, constant_tensor(w_kind, w), constant_tensor(b_kind, b))
            params = HabanaKernelParams("conv2d", inputs, (output,), STRUCTURE.pack(given))
            (found,) = run_instance(made(params), [x])
            assert (found == quantised(exact, f, out)).all(), given

    def request(self, **given: int) -> HabanaKernelParams:
        s4 = FixedType(1, 3, 0)
        options = {"stride_w": 1, "stride_h": 1, "dilation_w": 1, "dilation_h": 1, "groups": 1, **given}
        weights = constant_tensor(s4, np.ones((2, 1, 3, 3), dtype=np.int64))
        return HabanaKernelParams(
            "conv2d", (Tensor.of(s4, 5, 4, 1), weights), (Tensor.of(s4, 3, 2, 2),), STRUCTURE.pack(options)
        )

    @pytest.mark.parametrize(
        ("given", "code"),
        [
            ({}, GlueCode.SUCCESS),
            ({"stride_w": 0}, GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT),
            ({"pad_h": -1}, GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT),
            ({"activation": 3}, GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT),
            ({"dilation_w": 3}, GlueCode.UNSUPPORTED_LAYER_CONFIGURATION),
            ({"groups": 2}, GlueCode.INCOMPATIBLE_INPUT_SIZE),
            ({"pad_w": 1}, GlueCode.INCOMPATIBLE_OUTPUT_SIZE),
        ],
        ids=lambda value: value.name.lower() if isinstance(value, GlueCode) else "-".join(value) or "none",
    )
    def test_options(self, given: dict[str, int], code: GlueCode) -> None:
        assert LIBRARY.habana_kernel(self.request(**given), ROOM)[0] is code

    def test_samples_may_be_a_dimension(self) -> None:
        plain = self.request()
        deep = replace(
            plain,
            input_tensors=(Tensor.of(FixedType(1, 3, 0), 5, 4, 1, 3), plain.input_tensors[1]),
            output_tensors=(Tensor.of(FixedType(1, 3, 0), 3, 2, 2, 3),),
        )
        x = random_raw(np.random.default_rng(1), FixedType(1, 3, 0), (3, 1, 4, 5))
        (one_by_one,), (together,) = run_instance(made(plain), [x]), run_instance(made(deep), [x[None]])
        assert (together[0] == one_by_one).all()

    def test_a_window_wider_than_the_image(self) -> None:
        """A 5x5 window on a 3x3 image is right: its pattern is the whole image, but members read their own windows."""
        s4 = FixedType(1, 3, 0)
        w = np.arange(25).reshape(1, 1, 5, 5) % 8
        given = {"pad_w": 2, "pad_h": 2, "stride_w": 1, "stride_h": 1, "dilation_w": 1, "dilation_h": 1, "groups": 1}
        out = FixedType(1, 12, 0)
        params = HabanaKernelParams(
            "conv2d",
            (Tensor.of(s4, 3, 3, 1), constant_tensor(s4, w)),
            (Tensor.of(out, 3, 3, 1),),
            STRUCTURE.pack(given),
        )
        x = random_raw(np.random.default_rng(2), s4, (4, 1, 3, 3))
        (found,) = run_instance(made(params), [x])
        assert (found == convolved(x, w, 1, 2, 1, 1)).all()


def image_request(
    name: str, kind: FixedType, out: FixedType, shape: Sequence[int], y_shape: Sequence[int], given: bytes
) -> HabanaKernelParams:
    return HabanaKernelParams(name, (Tensor.of(kind, *shape[::-1]),), (Tensor.of(out, *y_shape[::-1]),), given)


class TestPooling:
    @pytest.mark.parametrize("name", ["max_pool", "min_pool", "avg_pool"])
    def test_it_equals_numpy(self, name: str) -> None:
        rng = np.random.default_rng(9)
        done = 0
        while done < 50:
            k_h, k_w, stride, dilation = (int(n) for n in rng.integers(1, 4, size=4))
            pad, channels, height, width = (int(n) for n in (rng.integers(0, 3), *rng.integers(1, 8, size=3)))
            if min(height - dilation * (k_h - 1), width - dilation * (k_w - 1)) + 2 * pad < 1:
                continue
            done += 1
            kind, out, bits = random_type(rng), random_type(rng), int(rng.integers(0, 9))
            x = random_raw(rng, kind, (2, channels, height, width))
            outside = {"max_pool": kind.raw_min, "min_pool": kind.raw_max, "avg_pool": 0}[name]
            padded = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=outside)
            spans = [(k - 1) * dilation + 1 for k in (k_h, k_w)]
            windows = np.lib.stride_tricks.sliding_window_view(padded, spans, (2, 3))
            windows = windows[:, :, ::stride, ::stride, ::dilation, ::dilation].astype(object)
            exact, f = windows.max((4, 5)) if name == "max_pool" else windows.min((4, 5)), kind.f
            if name == "avg_pool":
                exact, f = windows.sum((4, 5)) * round(2**bits / (k_h * k_w)), kind.f + bits
            values = [pad, pad, k_w, k_h, stride, stride, dilation, dilation, bits, 0]
            given = POOL.pack(dict(zip((field for field, _ in POOL.fields), values, strict=True)))
            (found,) = run_instance(made(image_request(name, kind, out, x.shape[1:], exact.shape[1:], given)), [x])
            assert (found == quantised(exact, f, out)).all()

    def test_refusals(self) -> None:
        s4 = FixedType(1, 3, 0)

        def code(**given: int) -> GlueCode:
            options = {
                "kernel_w": 2,
                "kernel_h": 2,
                "stride_w": 1,
                "stride_h": 1,
                "dilation_w": 1,
                "dilation_h": 1,
                **given,
            }
            asked = image_request("max_pool", s4, s4, (3, 4), (2, 3), POOL.pack(options))
            return LIBRARY.habana_kernel(asked, ROOM)[0]

        assert code() is GlueCode.SUCCESS
        assert code(kernel_w=0) is GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT
        assert code(kernel_w=5) is GlueCode.UNSUPPORTED_LAYER_CONFIGURATION
        assert code(kernel_w=1 << 20, pad_w=1 << 20) is GlueCode.UNSUPPORTED_LAYER_CONFIGURATION
        assert code(stride_w=2) is GlueCode.INCOMPATIBLE_OUTPUT_SIZE
        assert code(exclude_pads=2) is GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT

    def test_pads_that_do_not_count(self) -> None:
        """``exclude_pads`` is refused for averages with pads, and changes nothing without pads.

        With pads, windows at the border would have to divide by a smaller number.
        """
        s4, ones = FixedType(1, 3, 0), dict.fromkeys(("stride_w", "stride_h", "dilation_w", "dilation_h"), 1)
        given = {**ones, "kernel_w": 2, "kernel_h": 2, "reciprocal_bits": 4}

        def asked(name: str, high: int, **more: int) -> HabanaKernelParams:
            return image_request(name, s4, FixedType(1, 5, 2), (3, 4), (high, 3), POOL.pack({**given, **more}))

        with raises(GlueError) as refused:
            instantiate(LIBRARY, asked("avg_pool", 4, pad_h=1, exclude_pads=1))
        assert refused.value.glue_code is GlueCode.UNSUPPORTED_LAYER_CONFIGURATION
        x = random_raw(np.random.default_rng(3), s4, (2, 3, 4))
        with_pads, without = (made(asked("avg_pool", 2, exclude_pads=n)) for n in (0, 1))
        assert (run_instance(with_pads, [x])[0] == run_instance(without, [x])[0]).all()
        assert made(asked("max_pool", 4, pad_h=1, exclude_pads=1))


class TestActivations:
    def evaluated(self, name: str, kind: FixedType, out: FixedType, given: bytes | None) -> tuple[Array, Array]:
        """Return all raw integers of a type, and the results of the kernel for them."""
        x = np.arange(kind.raw_min, kind.raw_max + 1)[None]
        params = HabanaKernelParams(name, (Tensor.of(kind, x.size),), (Tensor.of(out, x.size),), given)
        return x[0], run_instance(made(params), [x])[0][0]

    def test_leaky_and_clipped_relu(self) -> None:
        rng = np.random.default_rng(10)
        for _ in range(50):
            kind, out, f = random_type(rng), random_type(rng, 9), int(rng.integers(0, 5))
            alpha, most = int(rng.integers(-20, 21)), int(rng.integers(0, 99))
            x, y = self.evaluated("leaky_relu", kind, out, struct.pack("<2i", alpha, f))
            exact = np.where(x < 0, x * alpha, x << f).astype(object)
            assert (y == quantised(exact, kind.f + f, out)).all()
            x, y = self.evaluated("clipped_relu", kind, out, struct.pack("<2i", most, f))
            up = max(kind.f, f)
            exact = np.minimum(np.maximum(x, 0) << (up - kind.f), most << (up - f)).astype(object)
            assert (y == quantised(exact, up, out)).all()

    @pytest.mark.parametrize("name", ["tanh", "sigmoid"])
    def test_tables_are_rounded_to_the_nearest(self, name: str) -> None:
        for kind, out in ((FixedType(1, 3, 4), FixedType(1, 0, 7)), (FixedType(0, 3, 2), FixedType(0, 1, 9))):
            x, y = self.evaluated(name, kind, out, None)
            real = np.longdouble(x) * np.longdouble(2.0**-kind.f)
            exact = (np.tanh(real) if name == "tanh" else 1 / (1 + np.exp(-real))) * 2**out.f
            inside = np.clip(exact, out.raw_min, out.raw_max)
            assert np.abs(y - inside).max() <= 0.5

    def test_refusals(self) -> None:
        s4 = FixedType(1, 3, 0)

        def code(name: str, kind: FixedType = s4, out: object = s4, given: bytes | None = None) -> GlueCode:
            asked = HabanaKernelParams(name, (Tensor.of(kind, 3),), (Tensor.of(out, 3),), given)  # type: ignore[arg-type]
            return LIBRARY.habana_kernel(asked, ROOM)[0]

        assert code("tanh", FixedType(1, 14, 0)) is GlueCode.UNSUPPORTED_LAYER_CONFIGURATION
        assert code("tanh", out=F32) is GlueCode.INCOMPATIBLE_DATA_TYPE
        assert code("leaky_relu") is GlueCode.MISSING_PRIVATE_STRUCTURE
        assert code("leaky_relu", given=struct.pack("<2i", 1, 65)) is GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT
        assert code("clipped_relu", given=struct.pack("<2i", -1, 0)) is GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT


def softmax(x: Array, f: int, axis: int, exp_bits: int, sum_bits: int, reciprocal_bits: int) -> NDArray[np.object_]:
    """Compute softmax in integers: exponentials times the reciprocal of their sum, with given fractional bits."""
    lacks = np.longdouble(x.max(axis=axis, keepdims=True) - x) * np.longdouble(2.0**-f)
    e = np.rint(np.exp(-lacks) * 2**exp_bits).astype(np.int64).astype(object)
    total = e.sum(axis=axis, keepdims=True) // (1 << exp_bits - sum_bits)
    one = 1 << reciprocal_bits + sum_bits
    return e * ((2 * one + total) // (2 * total))


class TestSoftmax:
    def test_it_equals_numpy(self) -> None:
        rng = np.random.default_rng(14)
        for _ in range(50):
            shape = [int(n) for n in rng.integers(1, 6, size=rng.integers(1, 4))]
            axis, kind, out = int(rng.integers(len(shape))), random_type(rng), random_type(rng, 3)
            bits = [int(rng.integers(4, 13)), int(rng.integers(0, 5)), int(rng.integers(0, 13))]
            names = ("axis", "exp_bits", "sum_bits", "reciprocal_bits")
            given = SOFTMAX.pack(dict(zip(names, [len(shape) - 1 - axis, *bits], strict=True)))
            x = random_raw(rng, kind, (3, *shape))
            instance = made(image_request("softmax", kind, out, shape, shape, given))
            exact, f = softmax(x, kind.f, 1 + axis, *bits), bits[0] + bits[2]
            end = out.raw_max << max(f - out.f, 0)
            exact, f = exact << max(out.f - f, 0), max(out.f, f)
            assert (run_instance(instance, [x])[0] == quantised(np.minimum(exact, end), f, out)).all()

    def made(self, kind: FixedType, out: object, size: int, **more: int) -> KernelInstance:
        given = SOFTMAX.pack({"exp_bits": 10, "sum_bits": 6, "reciprocal_bits": 10, **more})
        return made(image_request("softmax", kind, out, (size,), (size,), given))  # type: ignore[arg-type]

    def test_it_is_as_near_as_the_page_says(self) -> None:
        """The error is at most half a step of each table plus the loss from cutting the sum and the result.

        All inputs of three 5-bit numbers are tried.
        """
        kind, out = FixedType(1, 2, 2), FixedType(0, 1, 12)
        x = np.stack(np.meshgrid(*[np.arange(-16, 16)] * 3), axis=-1).reshape(-1, 3)
        (y,) = run_instance(self.made(kind, out, 3), [x])
        e = np.exp(x / 4)
        error = abs(y / 4096 - e / e.sum(axis=1, keepdims=True)).max()
        assert error <= 4 * 2.0**-11 + 2.0**-6 + 2.0**-11 + 2.0**-12

    def test_one_is_the_end_of_a_type_that_does_not_hold_it(self) -> None:
        x = np.array([[63, -64], [0, 0]])
        (y,) = run_instance(self.made(FixedType(1, 4, 2), FixedType(0, 0, 8), 2), [x])
        assert y.tolist() == [[255, 0], [128, 128]]

    def test_types_without_bits(self) -> None:
        (y,) = run_instance(self.made(FixedType(0, 0, 0), FixedType(0, 1, 4), 2), [np.zeros((1, 2), dtype=int)])
        assert y.tolist() == [[8, 8]]

    @pytest.mark.parametrize(
        ("kind", "size", "given", "code"),
        [
            (FixedType(1, 13, 0), 4, {}, GlueCode.SUCCESS),
            (FixedType(1, 14, 0), 4, {}, GlueCode.UNSUPPORTED_LAYER_CONFIGURATION),
            (FixedType(1, 3, 0), 0, {}, GlueCode.UNSUPPORTED_LAYER_CONFIGURATION),
            (FixedType(1, 3, 0), 1 << 6, {"sum_bits": 8}, GlueCode.UNSUPPORTED_LAYER_CONFIGURATION),
            (FixedType(1, 3, 0), 4, {"sum_bits": 11}, GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT),
            (FixedType(1, 3, 0), 4, {"exp_bits": 25}, GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT),
            (FixedType(1, 3, 0), 4, {"reciprocal_bits": -1}, GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT),
            (FixedType(1, 3, 0), 4, {"axis": 1}, GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT),
            (F32, 4, {}, GlueCode.INCOMPATIBLE_DATA_TYPE),
        ],
        ids=range(9),
    )
    def test_refusals_say_why(self, kind: FixedType, size: int, given: dict[str, int], code: GlueCode) -> None:
        options = SOFTMAX.pack({"exp_bits": 10, "sum_bits": 6, "reciprocal_bits": 10, **given})
        asked = image_request("softmax", kind, FixedType(0, 1, 8), (size,), (size,), options)
        found, answer = LIBRARY.habana_kernel(asked, replace(ROOM, elf_size=1 << 24))
        assert found is code and bool(answer.failure) is (code is not GlueCode.SUCCESS)

    def test_the_exact_type_is_written_back(self) -> None:
        given = SOFTMAX.pack({"exp_bits": 10, "sum_bits": 6, "reciprocal_bits": 12})
        code, answer = LIBRARY.habana_kernel(image_request("softmax", FixedType(1, 2, 0), F32, (3,), (3,), given))  # type: ignore[arg-type]
        assert (code, answer.written_back.output_types) == (7, {0: FixedType(0, 1, 22)})


class TestBatchNorm:
    def test_it_equals_numpy(self) -> None:
        rng = np.random.default_rng(11)
        for _ in range(50):
            shape = tuple(int(n) for n in rng.integers(1, 5, size=3))
            kind, s_kind, b_kind, out = (random_type(rng) for _ in range(4))
            scale, shift = (random_raw(rng, one, shape[:1]) for one in (s_kind, b_kind))
            x = random_raw(rng, kind, (2, *shape))
            image, output = Tensor.of(kind, *shape[::-1]), Tensor.of(out, *shape[::-1])
            constants = constant_tensor(s_kind, scale), constant_tensor(b_kind, shift)
            (found,) = run_instance(made(HabanaKernelParams("batch_norm", (image, *constants), (output,))), [x])
            f = max(kind.f + s_kind.f, b_kind.f)
            exact = x.astype(object) * scale[:, None, None] * (1 << (f - kind.f - s_kind.f))
            exact = exact + shift.astype(object)[:, None, None] * (1 << (f - b_kind.f))
            assert (found == quantised(exact, f, out)).all()


class TestMoves:
    def test_transpose_equals_numpy(self) -> None:
        rng, kind = np.random.default_rng(12), FixedType(1, 3, 2)
        for _ in range(50):
            shape = tuple(int(n) for n in rng.integers(1, 5, size=rng.integers(1, 6)))
            axes = rng.permutation(len(shape)).tolist()
            x = random_raw(rng, kind, (2, *shape))
            expected = x.transpose(0, *(1 + axis for axis in axes))
            # Axes count from the slowest dimension, ``source_`` options from the fastest.
            sources = {f"source_{d}": len(shape) - 1 - axes[len(shape) - 1 - d] for d in range(len(shape))}
            asked = image_request("transpose", kind, kind, shape, expected.shape[1:], PERMUTATION.pack(sources))
            (found,) = run_instance(made(asked), [x])
            assert (found == expected).all()

    def test_concat_equals_numpy(self) -> None:
        rng = np.random.default_rng(13)
        for _ in range(50):
            shape = [int(n) for n in rng.integers(1, 5, size=rng.integers(1, 5))]
            axis, kinds = int(rng.integers(len(shape))), [random_type(rng) for _ in range(2)]
            shapes = [[*shape[:axis], int(rng.integers(1, 5)), *shape[axis + 1 :]] for _ in range(2)]
            raw = [random_raw(rng, kind, (2, *one)) for kind, one in zip(kinds, shapes, strict=True)]
            f, out = max(kind.f for kind in kinds), random_type(rng, 9)
            exact = [x.astype(object) * (1 << (f - kind.f)) for x, kind in zip(raw, kinds, strict=True)]
            expected = quantised(np.concatenate(exact, axis=1 + axis), f, out)
            inputs = tuple(Tensor.of(kind, *one[::-1]) for kind, one in zip(kinds, shapes, strict=True))
            output = Tensor.of(out, *expected.shape[:0:-1])
            given = AXIS.pack({"axis": len(shape) - 1 - axis})
            (found,) = run_instance(made(HabanaKernelParams("concat", inputs, (output,), given)), raw)
            assert (found == expected).all()

    def test_refusals(self) -> None:
        s4 = FixedType(1, 3, 0)
        x = Tensor.of(s4, 3, 2)

        def code(name: str, inputs: tuple[Tensor, ...], output: Tensor, given: bytes) -> GlueCode:
            return LIBRARY.habana_kernel(HabanaKernelParams(name, inputs, (output,), given), ROOM)[0]

        twice = PERMUTATION.pack({"source_0": 1, "source_1": 1})
        assert code("transpose", (x,), x, twice) is GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT
        swapped = PERMUTATION.pack({"source_0": 1})
        assert code("transpose", (x,), x, swapped) is GlueCode.INCOMPATIBLE_OUTPUT_SIZE
        assert code("transpose", (x,), Tensor.of(s4, 2, 3), swapped) is GlueCode.SUCCESS
        assert code("concat", (x, x), x, AXIS.pack({"axis": 2})) is GlueCode.KERNEL_INVALID_SCALAR_ARGUMENT
        assert code("concat", (x, Tensor.of(s4, 2, 3)), x, AXIS.pack({})) is GlueCode.INCOMPATIBLE_INPUT_SIZE
        assert code("concat", (x, x), x, AXIS.pack({})) is GlueCode.INCOMPATIBLE_OUTPUT_SIZE


class TestMembers:
    X = Tensor.of(FixedType(1, 3, 0), 5, 4)

    def instance(self) -> KernelInstance:
        return made(HabanaKernelParams("relu", (self.X,), (Tensor.of(FixedType(0, 3, 0), 5, 4),)))

    def test_stretches_make_no_difference(self, monkeypatch: pytest.MonkeyPatch) -> None:
        instance = self.instance()
        x = random_raw(np.random.default_rng(3), FixedType(1, 3, 0), (7, 4, 5))
        (whole,) = run_instance(instance, [x])
        monkeypatch.setattr(members, "STRETCH", 21)
        (stretched,) = run_instance(instance, [x])
        assert (whole == stretched).all() and (whole == np.maximum(x, 0)).all()

    def test_what_is_given_is_looked_at(self) -> None:
        instance = self.instance()
        for x, said in (
            ([np.zeros((1, 5, 4), dtype=np.int64)], "shape"),
            ([np.full((1, 4, 5), 8)], "s4.0"),
            ([], "reads 1 tensors"),
        ):
            with raises(InputError, match=said):
                run_instance(instance, x)

    def test_pads_are_read_outside_and_writes_outside_are_dropped(self) -> None:
        """Pads are read and writes outside are dropped if each of 5 members reads its right neighbour.

        The last one reads a pad, and its result is dropped if the output only has 4 elements.
        """
        instance = self.instance()
        shifted = access(steps(0, 1, 1, 1))
        mapping = Mapping((5,), (MappedTensor("x", (5,), shifted),), (MappedTensor("y", (4,), access(block(0, 1))),))
        moved = replace(instance, mapping=mapping, pads=(6,))
        (found,) = run_instance(moved, [np.array([[1, -2, 3, -4, 5]])])
        assert found.tolist() == [[0, 3, 0, 5]]
        longer = replace(mapping, outputs=(MappedTensor("y", (5,), access(block(0, 1))),))
        (found,) = run_instance(replace(moved, mapping=longer), [np.array([[1, -2, 3, -4, 5]])])
        assert found.tolist() == [[0, 3, 0, 5, 6]]

    def test_contents(self) -> None:
        tensor = constant_tensor(FixedType(1, 3, 0), np.arange(6).reshape(2, 3))
        assert tensor.geometry.shape == (3, 2) and content_of(tensor).tolist() == [[0, 1, 2], [3, 4, 5]]
        with pytest.raises(InputError, match=r"raw.*-8 to 7"):
            constant_tensor(FixedType(1, 3, 0), [8])
