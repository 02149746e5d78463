"""Any program as a kernel: a TOML file, read strictly, maps its ports to tensors; a filter runs over a signal."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.places import ALIR, CORPUS
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError, ProgramError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.data_types import pattern_text, read_pattern, read_type, text_of_dims
from dais_verif.compile.kernels.forms.frame import memory_frame
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping_laws import Law, check_mapping
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.program_kernel import read_own_kernel
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.golden import run, run_raw
from dais_verif.golden.members import run_instance
from dais_verif.spec.program import FixedType, Program, load, write_binary
from dais_verif.spec.program.numbers import Batch, Column

#: A filter with 16 taps that gives 16 outputs from 31 samples.
FIR = f"""
program = "{CORPUS / "p03_fir16" / "prog.v1.bin"}"
index_space = [7]

[[inputs]]
name = "x"
shape = [100]
type = "s12.11"
map = ["16*[0] - 15..15"]

[[outputs]]
name = "y"
shape = [100]
type = "s14.12"
map = ["16*[0] + 0..15"]
"""


def read(folder: Path, text: str) -> KernelInstance:
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return read_own_kernel(path)


class TestFilter:
    def test_it_filters_a_whole_signal(self, tmp_path: Path) -> None:
        path = tmp_path / "fir.toml"
        path.write_text(FIR, encoding="utf-8")
        instance = read_own_kernel(path)
        assert check_mapping(instance.mapping).verdict is Verdict.PASS and instance.name == "fir"
        x = np.random.default_rng(8).integers(-2048, 2048, size=(3, 100))
        (y,) = run_instance(instance, [x])
        padded = np.pad(x, [(0, 0), (15, 12 + 15)]) / 2048
        windows = [run(instance.block, padded[:, at : at + 31]) for at in range(0, 112, 16)]
        assert (y / 4096 == np.concatenate(windows, axis=1)[:, :100]).all()

    def test_a_member_too_few(self, tmp_path: Path) -> None:
        path = tmp_path / "fir.toml"
        path.write_text(FIR.replace("[7]", "[6]"), encoding="utf-8")
        (finding,) = check_mapping(read_own_kernel(path).mapping).findings
        assert (finding.law, finding.element, finding.count) == (Law.WRITTEN, (96,), 4)

    def test_a_window_wider_than_its_output_leaves_elements_out(self, tmp_path: Path) -> None:
        path = tmp_path / "fir.toml"
        late = FIR.replace("[7]", "[1]").replace('shape = [100]\ntype = "s14.12"', 'shape = [4]\ntype = "s14.12"')
        path.write_text(late.replace("16*[0] + 0..15", "[0] + 2..17"), encoding="utf-8")
        (finding,) = check_mapping(read_own_kernel(path).mapping).failures
        assert (finding.law, finding.element, finding.count) == (Law.WRITTEN, (0,), 2)
        with raises(InputError):
            dais_verif.build_kernel(str(path), output=tmp_path / "out")

    def test_what_an_earlier_build_left_is_no_output_while_it_is_the_program(self, tmp_path: Path) -> None:
        path = tmp_path / "fir.toml"
        path.write_text(FIR, encoding="utf-8")
        dais_verif.build_kernel(str(path), output=tmp_path / "out")
        path.write_text(re.sub("program = .*", 'program = "out/core.bin"', FIR), encoding="utf-8")
        with raises(RequestError):
            dais_verif.build_kernel(str(path), output=tmp_path / "out")


#: Third-party programs that are applied to several vectors, their numbers of inputs and outputs; no types are stated.
BATCHES = {
    "jet_tagger": (CORPUS / "p02_mlp_jet" / "prog.v1.bin", 16, 5),
    "shifted_inputs": (CORPUS / "p11_cmvm_raw" / "prog.v1.bin", 12, 10),
    "alir_convolution": (ALIR / "a03_conv_pool" / "alir.json", 64, 4),
    "alir_tables": (ALIR / "a06_softmax_lut" / "alir.json", 6, 6),
}


def batch(name: str, members: int) -> str:
    program, n_in, n_out = BATCHES[name]
    tensors = [
        f'[[{side}puts]]\nname = "{side}"\nshape = [{members}, {n}]\nmap = ["[0]", "all"]\n'
        for side, n in (("in", n_in), ("out", n_out))
    ]
    return "\n".join([f'program = "{program}"\nindex_space = [{members}]', *tensors])


class TestBatches:
    @pytest.mark.parametrize("name", BATCHES)
    def test_members_are_rows_of_the_program(self, name: str, tmp_path: Path) -> None:
        program = load(BATCHES[name][0])
        instance = read(tmp_path, batch(name, 3))
        assert check_mapping(instance.mapping).verdict is Verdict.PASS
        (kind,), (out,) = instance.input_types, instance.output_types
        rng = random.Random(9)  # a type may have more than 64 bits
        numbers = [rng.randint(kind.raw_min, kind.raw_max) for _ in range(12 * program.n_in)]
        x = np.array(numbers, dtype=object).reshape(4, 3, -1)
        (y,) = run_instance(instance, [x])
        expected = run_raw(program, Batch(12, tuple(Column(one, -kind.f) for one in x.reshape(12, -1).T)))
        for at, (raw, own) in enumerate(zip(expected, program.output_types, strict=True)):
            assert (y.reshape(12, -1)[:, at] == raw.astype(object) << out.f - own.f).all()

    @pytest.mark.parametrize("name", [pytest.param("shifted_inputs", marks=pytest.mark.slow), "alir_tables"])
    def test_a_machine_is_its_unfolded_program(self, name: str, tmp_path: Path) -> None:
        """A machine equals its unfolded program, also if a tensor's type has fewer bits than the program reads.

        Both read the same bits.
        """
        text = batch(name, 2).replace('name = "in"', 'name = "in"\ntype = "s5.2"')
        instance = read(tmp_path, text)
        form = memory_form(instance)
        (tmp_path / "frame.toml").write_text(memory_frame(instance, form.facts))
        found = dais_verif.diff(form.machine, unfold(instance), frame=tmp_path / "frame.toml", prove=True)
        assert found.verdict is Verdict.PASS

    def test_ops_of_alir_are_others(self, tmp_path: Path) -> None:
        tap = '[[printf]]\nmessage = "%d"\nop = 3\nraw = true\n'
        with raises(InputError):
            read(tmp_path, batch("alir_tables", 2) + tap)
        assert read(tmp_path, batch("jet_tagger", 2) + tap).taps[0].op == 3
        # Inputs 3 and 2 are shifted: in the block, op 3 comes after the ops that read them, and has another index.
        moved = read(tmp_path, batch("shifted_inputs", 2) + tap)
        assert moved.taps[0].op != 3 and not moved.block.inp_shift.any()


ONE = """
program = "one.bin"
index_space = [2, 3]
[[inputs]]
name = "x"
shape = [3, 2]
type = "s4.1"
pad = -1.5
map = ["[1]", "[0] + 1"]
[[outputs]]
name = "y"
shape = [3, 2]
type = "s4.1"
map = ["[1]", "[0]"]
"""


#: The text that is replaced, its replacement, and words of the error.
WRONG = [
    ('program = "one.bin"', "", r"None.*path of a"),
    ('program = "one.bin"', 'program = "none.bin"', "none.bin"),
    ("index_space = [2, 3]", "index_space = [2, 0]", r"index_space is .2, 0.*1 to 5.*1"),
    ("index_space = [2, 3]", "index_space = [1, 1, 1, 1, 1, 1]", "1 to 5"),
    (
        "index_space = [2, 3]",
        "index_space = [3]",
        r"own.toml': x.*1.*1.*index.*1",
    ),
    ("index_space", "indexspace", r"'indexspace'.*key; known.*layout, index_space"),
    ('name = "x"', "", r"inputs\[0\]: name is None"),
    ('name = "x"', 'name = "y"', r"tensors.*'y'"),
    ('type = "s4.1"', 'type = "f32"', r"inputs\[0\]: 'f32'.*type"),
    ('type = "s4.1"', 'type = "u5000.1"', "type u5000.1"),
    ("pad = -1.5", "pad = 0.3", r"inputs\[0\]: s4.1.*pad value 0.3"),
    ("pad = -1.5", "pad = nan", r"pad.*number"),
    ("pad = -1.5", "pads = 0", r"'pads'.*key; known.*shape, type.*pad"),
    ('map = ["[1]", "[0] + 1"]', 'map = ["[1]"]', r"pattern.*2"),
    ('map = ["[1]", "[0] + 1"]', 'map = ["[1]", "0.5*[0]"]', r"'0.5.*pattern"),
    ('map = ["[1]", "[0] + 1"]', 'map = ["[1]", "[0] + 2..1"]', r"element.*last"),
    ('map = ["[1]", "[0] + 1"]', 'map = ["[1]", "[0] + 16777217"]', "binary32"),
    (
        'map = ["[1]", "[0] + 1"]',
        'map = ["[1]", "[0] + 0..1"]',
        "member 2 elements: 2",
    ),
    ("shape = [3, 2]", "shape = [3, 2, 1]", r"pattern.*3"),
    ("[[inputs]]", "[inputs]", r"inputs.*tables"),
    ("[[outputs]]", "outputs = 3\n[[more]]", r"'more'.*key"),
    ("program", "= 3\nprogram", "valid TOML"),
]


class TestFile:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        kind = FixedType(1, 2, 1)
        program = Program.build([(-1, 0, -1, 0, kind)], [(0, 0, 0)], inp_shift=[0])
        (tmp_path / "one.bin").write_bytes(write_binary(program, "v1"))
        return tmp_path

    def test_shapes_are_those_of_numpy_and_pads_are_real(self, folder: Path) -> None:
        (folder / "own.toml").write_text(ONE)
        instance = read_own_kernel(folder / "own.toml")
        (found,) = run_instance(instance, [np.array([[[1, 2], [3, 4], [5, 6]]])])
        assert found.tolist() == [[[2, -3], [4, -3], [6, -3]]]

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        WRONG,
        ids=range(len(WRONG)),
    )
    def test_what_is_wrong_is_named(self, folder: Path, old: str, new: str, said: str) -> None:
        assert old in ONE
        as_recorded(ONE)
        with raises((InputError, ProgramError), match=said) as refused:
            read(folder, ONE.replace(old, new, 1))
        assert "\n" not in str(refused.value)

    def test_an_output_that_its_type_does_not_hold(self, folder: Path) -> None:
        before, after = ONE.rsplit("s4.1", 1)
        with raises(InputError):
            read(folder, f"{before}s4.0{after}")

    def test_more_elements_than_a_block_has_ports(self, folder: Path) -> None:
        with raises(InputError):
            read(folder, ONE.replace("shape = [3, 2]", "shape = [1, 4000000000]", 1).replace('"[0] + 1"', '"all"'))


class TestSpelling:
    @given(st.integers(0, 9), st.integers(1, 999), st.integers(-999, 999), st.integers(0, 999))
    def test_patterns_there_and_back(self, dim: int, a: int, start: int, more: int) -> None:
        pattern = DimPattern.affine(dim, a, start, start + more)
        assert read_pattern(pattern_text(pattern)) == pattern

    def test_patterns_in_words(self) -> None:
        patterns = (
            DimPattern.affine(0, 1, 0, 0),
            DimPattern.affine(1, 4, 0, 3),
            DimPattern.affine(2, 1, -1, 1),
            DimPattern.affine(0, 1, 2, 2),
            DimPattern(0, 1, 2, 0, 1),
            DimPattern(),
        )
        text = "[0], 4*[1] + 0..3, [2] - 1..1, [0] + 2, [0] + 0..2*[0] + 1, all"
        assert text_of_dims(AccessPattern(patterns)) == text
        assert text_of_dims(AccessPattern(all_required=True)) == "all" == pattern_text(read_pattern("all"))

    @pytest.mark.parametrize(
        "text", ["", "[]", "[10]", "0*[0]", "-1*[0]", "[0] + x", "[0] 1", "[0]+1...2", "all ", "[0] + \u0661"]
    )
    def test_what_is_no_pattern(self, text: str) -> None:
        with raises(InputError):
            read_pattern(text)

    def test_types(self) -> None:
        assert read_type("s6.2") == FixedType(1, 3, 2) and read_type("u4.-1") == FixedType(0, 5, -1)
        for text in ("", "6.2", "s6", "s-1.0", "s6.2.", "S6.2", "s\u0661.0"):
            with raises(InputError):
                read_type(text)
