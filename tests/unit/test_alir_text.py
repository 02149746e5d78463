"""ALIR as text: the text that ``show`` prints reads back as the same program, and ``convert`` turns it into JSON."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from support.places import ALIR
from support.said import raises

from dais_verif.base.errors import LayoutError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.doors.cli import main
from dais_verif.spec.program import Origin, Program, assemble, load, write_binary
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.listing import listing

MODELS = sorted([*ALIR.glob("a*/alir.json*"), *ALIR.glob("legacy/*.json.gz")])
TEXT = """input x
a = s4.0 input x
b = s9.2 sum(a<<2, -a, a>>2, 5>>2)
c = u4.0 quant(b>>1)
d = s6.0 sum(-a)
output 0 = c
"""


def assert_comes_back(program: Program) -> None:
    text = listing(program)
    back = assemble(text)
    assert (back.hash, back.origin.layout) == (program.hash, "alir")
    assert listing(back) == text


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.parent.name + path.name[:2])
def test_real_models(path: Path) -> None:
    assert_comes_back(load(path))


def test_random_programs() -> None:
    for seed in range(60):
        program = random_program(random.Random(seed), 20, alir=True)
        for each in (replace(program, origin=Origin("alir", spec_version=4)), to_alir(program)):
            assert_comes_back(each)


def test_a_sum_makes_a_text_alir_unless_it_says_that_it_is_not() -> None:
    program = assemble(TEXT)
    assert program.origin.layout == "alir" and assemble(f"layout alir\n{TEXT}").hash == program.hash
    assert [op.spec.number for op in program.ops] == [-1, 11, 3, -2]
    assert assemble("input x\nsum = s4.0 input x\nb = s5.0 sum + sum\noutput 0 = b").origin.layout == "v1"


def test_asm_writes_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.dais").write_text(TEXT)
    assert main._run(["convert", "a.dais", "-o", "a.json"]) == 0
    assert load("a.json").origin.layout == "alir"
    assert main._run(["diff", "a.dais", "a.json", "--prove", "--vectors", "9"]) == 0
    assert main._run(["show", "a.json", "-o", "b.dais"]) == 0
    assert assemble(Path("b.dais").read_text()).hash == load("a.json").hash


def test_asm_writes_json_of_dais_if_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.dais").write_text("input x\na = s4.0 input x\nb = u4.0 relu(-a)\noutput 0 = b\n")
    assert main._run(["convert", "a.dais", "-o", "a.json", "--to", "alir"]) == 0
    assert [op.spec.number for op in load("a.json").ops] == [-1, -2, 2]


@pytest.mark.parametrize("layout", ["v1", "published", "headerless"])
def test_no_binary_holds_it(layout: str) -> None:
    with raises(LayoutError):
        write_binary(assemble(TEXT), layout)
