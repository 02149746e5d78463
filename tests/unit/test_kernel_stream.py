"""The stream form of a kernel gives the results of its members, with pauses, stalls, and images back to back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.constants import constant_tensor
from dais_verif.compile.kernels.forms.control import control_of
from dais_verif.compile.kernels.forms.raster import raster_of
from dais_verif.compile.kernels.forms.stream import stream_form, stream_machine
from dais_verif.compile.kernels.instance import KernelInstance, instance_of
from dais_verif.compile.kernels.shipped import LIBRARY
from dais_verif.compile.kernels.shipped.conv2d import STRUCTURE
from dais_verif.compile.kernels.shipped.moves import PERMUTATION
from dais_verif.compile.kernels.shipped.pooling import STRUCTURE as POOL
from dais_verif.compile.kernels.structures import HabanaKernelParams, Tensor
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.golden.machine_batch import run_machine
from dais_verif.golden.members import run_instance
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.text import machine_text
from dais_verif.spec.program import FixedType, write_binary

S5, OUT = FixedType(1, 2, 2), FixedType(1, 9, 4)


def instance(name: str, image: tuple[int, ...], output: tuple[int, ...], given: bytes | None = None) -> KernelInstance:
    inputs = [Tensor.of(S5, *image)]
    if name == "conv2d":
        weights = np.random.default_rng(21).integers(-16, 16, size=(output[2], image[2], 3, 3))
        inputs.append(constant_tensor(S5, weights))
    if name == "add":
        inputs *= 2
    params = HabanaKernelParams(name, tuple(inputs), (Tensor.of(OUT, *output),), given)
    return instance_of(params, instantiate(LIBRARY, params))


def options(stride: int = 1, pad: int = 1, dilation: int = 1) -> dict[str, int]:
    return {
        f"{word}_{d}": n for word, n in (("stride", stride), ("pad", pad), ("dilation", dilation)) for d in ("w", "h")
    }


def conv(image: tuple[int, ...], output: tuple[int, ...], **given: int) -> KernelInstance:
    return instance("conv2d", image, output, STRUCTURE.pack({**options(**given), "groups": 1}))


def pool(name: str, image: tuple[int, ...], output: tuple[int, ...], window: int, **given: int) -> KernelInstance:
    return instance(name, image, output, POOL.pack({**options(**given), "kernel_w": window, "kernel_h": window}))


def instances() -> dict[str, KernelInstance]:
    return {
        "padded": conv((5, 4, 2), (5, 4, 2)),
        "valid": conv((5, 4, 1), (3, 2, 2), pad=0),
        "stride": conv((6, 5, 1), (3, 3, 1), stride=2),
        "dilation": conv((6, 7, 1), (6, 7, 1), dilation=2, pad=2),
        "one_line": conv((3, 1, 1), (3, 1, 1)),
        "one_column": conv((1, 4, 1), (1, 4, 1)),
        "samples": conv((4, 3, 1, 2), (4, 3, 1, 2)),
        "max_pool": pool("max_pool", (6, 4, 3), (3, 2, 3), 2, stride=2, pad=0),
        "min_pool": pool("min_pool", (4, 4, 2), (4, 4, 2), 3),
        "avg_pool": pool("avg_pool", (5, 5, 2), (3, 3, 2), 3, stride=2),
        "relu": instance("relu", (4, 3, 2), (4, 3, 2)),
        "add": instance("add", (4, 3), (4, 3)),
    }


def beats(tensor: NDArray[Any], planes: tuple[int, ...], f: int) -> NDArray[Any]:
    """Return the pixels in scan order, (beats, channels); ``planes`` are width, height and, if any, channels."""
    channels = planes[2] if len(planes) > 2 else 1
    pixels: NDArray[Any] = tensor.reshape(-1, channels, planes[0] * planes[1]).transpose(0, 2, 1).reshape(-1, channels)
    scaled: NDArray[Any] = pixels / 2**f
    return scaled


@pytest.mark.parametrize("pauses", ["none", "stalls", "gaps"])
@pytest.mark.parametrize("name", list(instances()))
def test_a_stream_gives_what_members_give(name: str, pauses: str) -> None:
    made, rng, calm = instances()[name], np.random.default_rng(3), pauses == "none"
    form = stream_form(made)
    tensors = made.mapping.inputs
    given = [rng.integers(-16, 16, size=(5, *one.sizes[::-1])) for one in tensors]
    (found,) = run_instance(made, given)
    expected = beats(found, made.mapping.outputs[0].sizes, OUT.f)
    pixels = [beats(x, one.sizes, 2) for x, one in zip(given, tensors, strict=True)]
    cycles = len(pixels[0]) * (1 if calm else 4) + 5 * form.flush
    enable = np.ones(cycles) if calm else (rng.random(cycles) < 0.8).astype(float)
    valid, order, wait = np.zeros(cycles), np.zeros(cycles, dtype=int), 0
    come = 0
    for t in range(cycles):
        ready = wait == 0 and come < len(pixels[0]) and (calm or rng.random() < 0.7)
        valid[t], order[t] = ready, min(come, len(pixels[0]) - 1)
        if enable[t]:
            wait = max(wait - 1, 0)
            come += ready
            if ready and pauses == "gaps" and come % form.beats == 0:
                wait = int(rng.integers(0, form.flush + 3))  # the next image may begin before this one is out
    assert come == len(pixels[0])
    names = ["x"] if len(pixels) == 1 else [f"x{n}" for n in range(len(pixels))]
    inputs = {word: np.where(valid[:, None] == 1, one[order], 1) for word, one in zip(names, pixels, strict=True)}
    inputs |= {"valid_in": valid[:, None], "en": enable[:, None]}
    if any(signal.name == "rst" for signal in form.machine.inputs):
        inputs["rst"] = np.zeros((cycles, 1))
    outputs = run_machine(form.machine, inputs).outputs
    there = (outputs["valid_out"][0][:, 0] == 1) & (enable == 1)
    np.testing.assert_array_equal(outputs["y"][0][there], expected)
    if calm:
        assert np.flatnonzero(there)[0] == form.latency


def compared(tmp_path: Path, machine: Machine, made: KernelInstance) -> str:
    """Return the verdict of ``diff --frame --prove``."""
    (tmp_path / "m.mach").write_text(machine_text(machine))
    (tmp_path / "frame.toml").write_text(stream_form(made).frame)
    (tmp_path / "u.bin").write_bytes(write_binary(unfold(made), "v1"))
    record = dais_verif.diff(tmp_path / "m.mach", tmp_path / "u.bin", frame=tmp_path / "frame.toml", prove=True)
    return record.verdict.value


@pytest.mark.few(6)
@pytest.mark.parametrize("name", list(instances()))
def test_every_frame_of_a_stream_is_the_unfolded_instance(name: str, tmp_path: Path) -> None:
    made = instances()[name]
    assert compared(tmp_path, stream_form(made).machine, made) == "PASS"


@pytest.mark.parametrize("fault", ["window", "pad", "index", "wrap"])
def test_faults_of_a_stream_are_refuted(fault: str, tmp_path: Path) -> None:
    made = conv((5, 4, 2), (5, 4, 2))
    raster = raster_of(made)
    control = control_of(raster)
    wrong = made
    if fault == "window":
        control = control_of(replace(raster, x=replace(raster.x, anchor=raster.x.anchor + 1)))
    elif fault == "pad":
        wrong = replace(made, pads=(1,))
    elif fault == "index":
        ports = list(raster.taps[0])
        ports[0], ports[1] = ports[1], ports[0]
        raster = replace(raster, taps=(tuple(ports),))
    else:
        control = control_of(replace(raster, y=replace(raster.y, size=raster.y.size + 1)))
    assert compared(tmp_path, stream_machine(wrong, raster, control), made) == "PROGRAMS_DIFFER"


def test_what_does_not_fit_is_refused_by_name() -> None:
    with raises(InputError):
        stream_form(pool("max_pool", (4, 4), (6, 6), 1))
    swapped = PERMUTATION.pack({f"source_{d}": s for d, s in enumerate((1, 0, 2, 3, 4))})
    with raises(InputError):
        stream_form(instance("transpose", (4, 3), (3, 4), swapped))
