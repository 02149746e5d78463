"""A request as a TOML file: tensors and options have names, omitted parts are inferred, and errors name their cause."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.constants import content_of
from dais_verif.compile.kernels.discovery import find_libraries
from dais_verif.compile.kernels.instance import instance_of
from dais_verif.compile.kernels.request_file import read_params
from dais_verif.compile.kernels.shipped.conv2d import STRUCTURE
from dais_verif.compile.kernels.structures import HabanaKernelParams
from dais_verif.spec.program import FixedType

OURS = find_libraries(installed=True)

CONV = """
kernel = "conv2d"

[input]
shape = [3, 16, 12]
type = "s6.2"

[weights]
shape = [4, 3, 3, 2]
type = "s5.3"
seed = 5

[bias]
file = "b.npy"
type = "s7.1"

[options]
stride = [2, 1]
pad = [1, 0]
activation = "relu"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "b.npy", np.array([0.5, -1.0, 3.5, 31.5]))
    np.save(tmp_path / "thirds.npy", np.array([0.5, -1.0, 1 / 3, 31.5]))
    np.save(tmp_path / "large.npy", np.array([0.5, -1.0, 3.5, 32.0]))
    np.save(tmp_path / "words.npy", np.array(["a"]))
    (tmp_path / "no.npy").write_bytes(b"no array")
    return tmp_path


def read(folder: Path, text: str) -> HabanaKernelParams:
    path = folder / "params.toml"
    path.write_text(text, encoding="utf-8")
    return read_params(path, OURS)


class TestRead:
    def test_a_convolution(self, folder: Path) -> None:
        params = read(folder, CONV)
        image, weights, bias = params.input_tensors
        assert image.geometry.shape == (12, 16, 3) and image.data_type == FixedType(1, 3, 2)
        assert content_of(bias).tolist() == [1, -2, 7, 63]
        drawn = np.random.default_rng(5).integers(-16, 16, size=(4, 3, 3, 2))
        assert (content_of(weights) == drawn).all()
        given = vars(STRUCTURE.unpack(params.node_params or b""))
        assert given == {
            "pad_w": 0, "pad_h": 1, "stride_w": 1, "stride_h": 2, "dilation_w": 1, "dilation_h": 1,
            "groups": 1, "activation": 1, "most": 0, "fraction": 0,
        }  # fmt: skip
        (output,) = params.output_tensors
        assert output.geometry.shape == (11, 8, 4)
        exact = instance_of(params, instantiate(OURS, params)).block
        assert set(exact.output_types) == {output.data_type} and output.data_type.k == 0  # type: ignore[union-attr]

    def test_a_type_of_the_output(self, folder: Path) -> None:
        params = read(folder, CONV + '[output]\ntype = "u4.0"\n')
        assert params.output_tensors[0].data_type == FixedType(0, 4, 0)
        assert params.output_tensors[0].geometry.shape == (11, 8, 4)

    @pytest.mark.parametrize("name", ["relu", "abs", "cast", "max_pool", "tanh"])
    def test_one_input(self, folder: Path, name: str) -> None:
        options = "[options]\nkernel = [2, 2]\n" if "pool" in name else ""
        text = f'kernel = "{name}"\n[input]\nshape = [4, 5]\ntype = "s6.2"\n[output]\ntype = "s6.2"\n{options}'
        params = read(folder, text)
        assert params.output_tensors[0].geometry.shape == ((4, 3) if "pool" in name else (5, 4))
        assert instance_of(params, instantiate(OURS, params)).block.n_out == 1


WRONG = [
    ('kernel = "conv2d"', "kernel = 3", r"kernel is 3.*kernel"),
    ('kernel = "conv2d"', 'kernel = "conv3d"', r"library.*kernel 'conv3d'"),
    ("[input]", "[inputs]", r"'inputs'.*key; known.*kernel.*options"),
    ("[weights]", "[output]", ""),
    ("shape = [3, 16, 12]", "shape = [3, 16, -12]", r"\[input\]: shape is"),
    ("shape = [3, 16, 12]", "", r"\[input\]: shape is None"),
    ("shape = [3, 16, 12]", "shape = [3, 16, 2147483648]", r"\[input\]: shape .* 268,435,456 elements"),
    ("shape = [4,", "shape = [100000,", ""),
    ('type = "s6.2"', "", r"\[input\]: type is None"),
    ('type = "s6.2"', 'type = "int6"', r"\[input\]: 'int6'.*type"),
    ("seed = 5", "seed = -5", r"\[weights\]: seed is -5"),
    ("seed = 5", 'seed = 5\nfile = "b.npy"', r"\[weights\].*seed.*contents"),
    ("seed = 5", "sead = 5", r"'sead'.*key; known.*shape, type, seed"),
    ('file = "b.npy"', 'file = "none.npy"', "none.npy"),
    ('file = "b.npy"', 'file = "no.npy"', "no.npy"),
    ('file = "b.npy"', 'file = "words.npy"', ""),
    ('file = "b.npy"', 'file = "thirds.npy"', "s7.1"),
    ('file = "b.npy"', 'file = "large.npy"', r"\[bias\]: 'large.npy': s7.1.*raw.*-64 to 63"),
    ('file = "b.npy"', 'file = "b.npy"\nshape = [3]', r"'b.npy'.*shape \[4\].*\[3\]"),
    (
        "stride = [2, 1]",
        "stride = 2.5",
        r"= 2.5: options.*groups.*pad",
    ),
    ("stride = [2, 1]", "strides = [2, 1]", "= .2, 1.: options"),
    ("stride = [2, 1]", "stride = [2.5, 1]", r"stride = \[2.5, 1\]"),
    ("stride = [2, 1]", "groups = 5000000000", ""),
    ('activation = "relu"', 'activation = "gelu"', r"words.*clipped_relu"),
    ("kernel =", "= 3\nkernel =", "valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "said"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named(folder: Path, old: str, new: str, said: str) -> None:
    assert old in CONV
    with raises(InputError, match=said) as refused:
        read(folder, CONV.replace(old, new, 1))
    assert "\n" not in str(refused.value)


def test_a_kernel_that_names_no_inputs(folder: Path, tmp_path: Path) -> None:
    library = tmp_path / "bare.py"
    library.write_text(
        "from dais_verif.compile.kernels.shipped import LIBRARY as ours\n"
        "get_kernel_names, habana_kernel = ours.get_kernel_names, ours.habana_kernel\n"
    )
    path = folder / "params.toml"
    path.write_text('kernel = "bare/relu"\n')
    with raises(InputError):
        read_params(path, find_libraries([library]))
    library.write_text(
        "from dataclasses import replace\n"
        "from dais_verif.compile.kernels.library import Library\n"
        "from dais_verif.compile.kernels.shipped import LIBRARY as ours\n"
        "LIBRARY = Library('bare', (replace(ours.kernel('relu'), input_names=()),))\n"
    )
    with raises(InputError):
        read_params(path, find_libraries([library]))


def test_one_number_is_height_and_width(folder: Path) -> None:
    one, both = "stride = 1\npad = 1", "stride = [1, 1]\npad = [1, 1]"
    assert read(folder, CONV.replace("stride = [2, 1]\npad = [1, 0]", one)) == read(
        folder, CONV.replace("stride = [2, 1]\npad = [1, 0]", both)
    )
