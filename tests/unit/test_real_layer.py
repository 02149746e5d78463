"""A kernel made from the first layer of a real network equals that layer in all forms that the page compares."""

from __future__ import annotations

from pathlib import Path

import pytest

import dais_verif
from bench.kernels import Layer, first_layer, instance_of
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.forms.frame import memory_frame
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.opcodes import Code


@pytest.fixture(scope="module")
def layer(corpus: Path) -> Layer:
    return first_layer(load(corpus / "p08_conv_tiny" / "prog.v1.bin"))


def test_its_window_is_a_kernel_of_the_layer(layer: Layer, tmp_path: Path) -> None:
    """The window, applied to 64 members, equals the layer for all inputs."""
    assert (layer.unrolled.n_in, layer.unrolled.n_out, layer.window.n_in, layer.window.n_out) == (100, 256, 9, 4)
    instance = instance_of(layer, tmp_path)
    assert instance.mapping.members == 64


@pytest.mark.slow
def test_a_window_with_other_biases_is_not(layer: Layer, tmp_path: Path) -> None:
    ops = [(op.code, op.id0, op.id1, op.data + (op.code == Code.ADD_CONST), op.type) for op in layer.window.ops]
    wrong = Program.build(ops, layer.window.outputs, inp_shift=layer.window.inp_shift.tolist())
    with pytest.raises(ValueError, match="the kernel is not equal to the layer"):
        instance_of(layer._replace(window=wrong), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["stream", "memory", "four"])
def test_its_forms_are_the_layer(layer: Layer, form: str, tmp_path: Path) -> None:
    """Each form is proved equal, frame by frame and for all inputs, to the layer's ops as in the corpus."""
    instance = instance_of(layer, tmp_path)
    if form == "stream":
        made = stream_form(instance)
        machine, frame = made.machine, made.frame
    else:
        machine, facts = memory_form(instance, 4 if form == "four" else 1)
        frame = memory_frame(instance, facts)
    (tmp_path / "frame.toml").write_text(frame)
    record = dais_verif.diff(machine, layer.unrolled, frame=tmp_path / "frame.toml", prove=True)
    assert record.verdict is Verdict.PASS, record.message
