"""Each shipped kernel computes what JAX does, on integers; convolutions, windows and products are functions of JAX."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

from dais_verif.campaigns.fuzzing.generate.random_kernels import SHIPPED, Asked, Ints, asked, quantised
from dais_verif.golden.members import run_instance


@pytest.fixture(scope="module")
def jax() -> Any:
    """Return JAX with 64-bit integers enabled."""
    try:
        import jax
    except ImportError:
        message = "jax is not installed; pip install jax"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    jax.config.update("jax_enable_x64", True)
    return jax


#: The exact results of a kernel: integers, and their number of fractional bits.
Exact = tuple[Any, int]


def aligned(jnp: Any, xs: Any, fractions: list[int]) -> Exact:
    f = max(fractions)
    return [jnp.asarray(x) << (f - own) for x, own in zip(xs, fractions, strict=True)], f


def activated(jax: Any, y: Any, f: int, given: Any) -> Exact:
    if given is None or given.activation == 0:
        return y, f
    y = jax.lax.max(y, jax.numpy.zeros_like(y))
    if given.activation == 1:
        return y, f
    up = max(given.fraction - f, 0)
    return jax.numpy.minimum(y << up, given.most << (f + up - given.fraction)), f + up


def with_bias(jnp: Any, y: Any, f: int, bias: Ints | None, bias_f: int, shape: tuple[int, ...]) -> Exact:
    if bias is None:
        return y, f
    up = max(bias_f - f, 0)
    return (y << up) + (jnp.asarray(bias) << (f + up - bias_f)).reshape(shape), f + up


def pixelwise(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Asked], Exact]:
    def exact(jax: Any, one: Asked) -> Exact:
        xs, f = aligned(jax.numpy, one.raw, one.fractions)
        return compute(jax, xs), f

    return exact


def mul(jax: Any, one: Asked) -> Exact:
    x, y = map(jax.numpy.asarray, one.raw)
    return jax.lax.mul(x, y), sum(one.fractions)


def leaky_relu(jax: Any, one: Asked) -> Exact:
    alpha, fraction = one.given.alpha, one.given.fraction
    x = jax.numpy.asarray(one.raw[0])
    return jax.numpy.where(x < 0, x * alpha, x << fraction), one.fractions[0] + fraction


def clipped_relu(jax: Any, one: Asked) -> Exact:
    up = max(one.given.fraction - one.fractions[0], 0)
    f = one.fractions[0] + up
    return jax.numpy.clip(jax.numpy.asarray(one.raw[0]) << up, 0, one.given.most << (f - one.given.fraction)), f


def table(function: Callable[[Any], Callable[[Any], Any]]) -> Callable[[Any, Asked], Exact]:
    """Return a reference that rounds results to the nearest number of the output's type, saturating at its ends."""

    def exact(jax: Any, one: Asked) -> Exact:
        kind = one.instance.output_types[0]
        real = function(jax)(jax.numpy.asarray(one.raw[0]) * 2.0 ** -one.fractions[0])
        return jax.numpy.clip(jax.numpy.rint(real * 2.0**kind.f), kind.raw_min, kind.raw_max).astype(int), kind.f

    return exact


def batch_norm(jax: Any, one: Asked) -> Exact:
    x, scale, shift = one.raw
    f, scale_f, shift_f = one.fractions
    y = jax.numpy.asarray(x) * scale[:, None, None]
    return with_bias(jax.numpy, y, f + scale_f, shift, shift_f, (-1, 1, 1))


def dense(jax: Any, one: Asked) -> Exact:
    x, weights, *bias = one.raw
    y = jax.numpy.dot(jax.numpy.asarray(x), weights.T)
    f = one.fractions[0] + one.fractions[1]
    y, f = with_bias(jax.numpy, y, f, bias[0] if bias else None, one.fractions[-1], (-1,))
    return activated(jax, y, f, one.given)


def conv2d(jax: Any, one: Asked) -> Exact:
    (x, weights, *bias), g = one.raw, one.given
    images = x.reshape(-1, *x.shape[-3:])
    y = jax.lax.conv_general_dilated(
        jax.numpy.asarray(images),
        jax.numpy.asarray(weights),
        (g.stride_h, g.stride_w),
        [(g.pad_h, g.pad_h), (g.pad_w, g.pad_w)],
        rhs_dilation=(g.dilation_h, g.dilation_w),
        dimension_numbers=("NCHW", "OIHW", "NCHW"),
        feature_group_count=g.groups,
    )
    y = y.reshape(*x.shape[:-3], *y.shape[1:])
    f = one.fractions[0] + one.fractions[1]
    y, f = with_bias(jax.numpy, y, f, bias[0] if bias else None, one.fractions[-1], (-1, 1, 1))
    return activated(jax, y, f, g)


def pool(jax: Any, one: Asked) -> Exact:
    (x,), g, name = one.raw, one.given, one.params.node_name
    kind = one.instance.input_types[0]
    combine, start = {
        "max_pool": (jax.lax.max, kind.raw_min),
        "min_pool": (jax.lax.min, kind.raw_max),
        "avg_pool": (jax.lax.add, 0),
    }[name]
    ones, window = (1,) * (x.ndim - 2), (g.kernel_h, g.kernel_w)
    y = jax.lax.reduce_window(
        jax.numpy.asarray(x),
        start,
        combine,
        (*ones, *window),
        (*ones, g.stride_h, g.stride_w),
        [(0, 0)] * len(ones) + [(g.pad_h, g.pad_h), (g.pad_w, g.pad_w)],
        window_dilation=(*ones, g.dilation_h, g.dilation_w),
    )
    if name != "avg_pool":
        return y, kind.f
    return y * round(2**g.reciprocal_bits / prod(window)), kind.f + g.reciprocal_bits


def softmax(jax: Any, one: Asked) -> Exact:
    """Compute softmax in integers, step by step as in docs/kernels.md, and assert that ``jax.nn.softmax`` is near."""
    (x,), g, jnp = one.raw, one.given, jax.numpy
    axis, kind = x.ndim - 1 - g.axis, one.instance.output_types[0]
    lacks = jnp.max(x, axis=axis, keepdims=True) - x
    e = jnp.rint(jnp.exp(lacks * -(2.0 ** -one.fractions[0])) * 2.0**g.exp_bits).astype(int)
    total = jnp.sum(e, axis=axis, keepdims=True) >> (g.exp_bits - g.sum_bits)
    reciprocal = jnp.floor(2.0 ** (g.reciprocal_bits + g.sum_bits) / total + 0.5).astype(int)
    y, f = e * reciprocal, g.exp_bits + g.reciprocal_bits
    real = jax.nn.softmax(jnp.asarray(x) * 2.0 ** -one.fractions[0], axis=axis)
    error = jnp.abs(y * 2.0**-f - real).max()
    count = x.shape[axis]
    assert error <= (count + 1) * 2.0 ** -(g.exp_bits + 1) + 2.0**-g.sum_bits + 2.0 ** -(g.reciprocal_bits + 1)
    end = kind.raw_max * 2 ** max(f - kind.f, 0)
    up = max(kind.f - f, 0)
    return jnp.minimum(y << up, end), f + up


def transpose(jax: Any, one: Asked) -> Exact:
    (x,), g = one.raw, one.given
    rank = x.ndim - 1
    axes = [rank - getattr(g, f"source_{rank - 1 - at}") for at in range(rank)]
    return jax.lax.transpose(jax.numpy.asarray(x), (0, *axes)), one.fractions[0]


def concat(jax: Any, one: Asked) -> Exact:
    xs, f = aligned(jax.numpy, one.raw, one.fractions)
    return jax.lax.concatenate(xs, one.raw[0].ndim - 1 - one.given.axis), f


REFERENCES: dict[str, Callable[[Any, Asked], Exact]] = {
    "abs": pixelwise(lambda jax, x: jax.lax.abs(x[0])),
    "add": pixelwise(lambda jax, x: jax.lax.add(*x)),
    "sub": pixelwise(lambda jax, x: jax.lax.sub(*x)),
    "mul": mul,
    "relu": pixelwise(lambda jax, x: jax.nn.relu(x[0])),
    "cast": pixelwise(lambda jax, x: x[0]),
    "leaky_relu": leaky_relu,
    "clipped_relu": clipped_relu,
    "tanh": table(lambda jax: jax.numpy.tanh),
    "sigmoid": table(lambda jax: jax.nn.sigmoid),
    "batch_norm": batch_norm,
    "dense": dense,
    "conv2d": conv2d,
    "max_pool": pool,
    "min_pool": pool,
    "avg_pool": pool,
    "softmax": softmax,
    "transpose": transpose,
    "concat": concat,
}


def check(jax: Any, name: str, seed: int) -> None:
    one = asked(name, seed)
    (found,) = run_instance(one.instance, one.samples)
    exact, f = REFERENCES[name](jax, one)
    assert (found == quantised(np.asarray(exact), f, one.instance.output_types[0])).all(), (seed, one.params)


def test_every_kernel_has_one() -> None:
    assert set(REFERENCES) == set(SHIPPED)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["dense", "conv2d", "avg_pool"])
def test_a_kernel_is_what_jax_computes(jax: Any, name: str) -> None:
    """These functions exist in JAX; the tests of the shipped kernels compare all kernels with NumPy."""
    for seed in range(3):
        check(jax, name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_a_kernel_is_what_jax_computes_on_50_shapes(jax: Any, name: str) -> None:
    for seed in range(50):
        check(jax, name, seed)


def test_it_can_fail(jax: Any) -> None:
    one = asked("conv2d", 1)
    exact, f = conv2d(jax, one)
    (found,) = run_instance(one.instance, one.samples)
    kind = one.instance.output_types[0]
    assert (found != quantised(np.asarray(exact) + (1 << max(f - kind.f, 0)), f, kind)).any()
