"""Each kernel of the library, folded into a machine, is proved to compute what its unfolded members compute."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_kernels import SHIPPED, asked
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.constants import constant_tensor
from dais_verif.compile.kernels.forms.frame import memory_frame
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.compile.kernels.instance import KernelInstance, instance_of
from dais_verif.compile.kernels.shipped import LIBRARY
from dais_verif.compile.kernels.shipped.conv2d import STRUCTURE
from dais_verif.compile.kernels.structures import HabanaKernelParams, Tensor
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import FixedType


@cache
def sizes(name: str) -> tuple[int, int]:
    """Return two seeds of requests with 4 to 24 members, whose index spaces are therefore larger than a point."""
    found: list[int] = []
    seen = set()
    for seed in range(1000):
        mapping = asked(name, seed).instance.mapping
        if 4 <= mapping.members <= 24 and (key := (mapping.geometry, mapping.inputs[0].sizes)) not in seen:
            seen.add(key)
            found.append(seed)
        if len(found) == 2:
            return found[0], found[1]
    raise AssertionError(name)


def folded(one: KernelInstance, form: str) -> tuple[Machine, str]:
    """Return the machine and the text of its frame."""
    if form == "stream":
        stream = stream_form(one)
        return stream.machine, stream.frame
    memory = memory_form(one)
    return memory.machine, memory_frame(one, memory.facts)


def proved(one: KernelInstance, form: str, folder: Path) -> Verdict:
    machine, frame = folded(one, form)
    (folder / "frame.toml").write_text(frame)
    return dais_verif.diff(machine, unfold(one), frame=folder / "frame.toml", prove=True).verdict


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("name", SHIPPED)
def test_folded_is_unfolded(name: str, size: int, tmp_path: Path) -> None:
    """The folded kernel equals the unfolded one, in memories and, where it has a stream form, as a stream."""
    one = asked(name, sizes(name)[size]).instance
    assert proved(one, "memory", tmp_path) is Verdict.PASS
    try:
        stream_form(one)
    except InputError:
        return
    assert proved(one, "stream", tmp_path) is Verdict.PASS


@pytest.mark.slow
def test_a_convolution_of_16_by_16_pixels(tmp_path: Path) -> None:
    """A 3 x 3 convolution of 16 x 16 pixels with padding, 8 input and 8 output channels, is proved."""
    s4, out = FixedType(1, 3, 0), FixedType(1, 13, 0)
    weights = np.random.default_rng(5).integers(-8, 8, size=(8, 8, 3, 3))
    ones = dict.fromkeys(("pad_w", "pad_h", "stride_w", "stride_h", "dilation_w", "dilation_h", "groups"), 1)
    params = HabanaKernelParams(
        "conv2d",
        (Tensor.of(s4, 16, 16, 8), constant_tensor(s4, weights)),
        (Tensor.of(out, 16, 16, 8),),
        STRUCTURE.pack(ones),
    )
    assert proved(instance_of(params, instantiate(LIBRARY, params)), "stream", tmp_path) is Verdict.PASS
