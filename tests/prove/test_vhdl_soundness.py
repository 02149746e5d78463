"""Random VHDL entities are proved against what GHDL's simulation computes, and not against a table with a wrong bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.soundness import vhdl
from prove.soundness.vhdl_entities import Entity
from support.tier import examples

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits
from dais_verif.verbs.proof import vhdl_probe


@pytest.fixture(autouse=True)
def ghdl() -> None:
    try:
        tools.ghdl()
    except ToolError as error:
        pytest.skip(str(error))


def test_random_entities(tmp_path: Path) -> None:
    count = examples(100)
    records = vhdl.judge(range(count), tmp_path)
    assert len(records) == count
    assert vhdl.exceptions(records) == []
    assert vhdl.share(records) >= 0.95
    assert sum(record.get("wrong") == vhdl.REFUTED for record in records.values()) >= 0.9 * count


HEAD = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;"

#: Expressions of ``model_inp``, of 6 bits, that GHDL's own reading gets wrong, with the number of bits of the result.
MISREAD = {
    "narrow": ("resize(signed(model_inp), 4)", 4),
    "constant shift": ("shift_right(signed(model_inp), 2)", 6),
    "shift by a signal": ("shift_right(signed(model_inp), to_integer(unsigned(model_inp(1 downto 0))))", 6),
    "sra": ("signed(model_inp) sra 3", 6),
    "quotient": ("signed(model_inp) / 3", 6),
    "modulus": ("signed(model_inp) mod 5", 6),
    "remainder": ("signed(model_inp) rem (-5)", 6),
    "integers": ("to_signed(to_integer(signed(model_inp)) mod 5, 6)", 6),
    "rotation": ("rotate_left(signed(model_inp), 8)", 6),
    "absolute": ("abs signed(model_inp)", 6),
    "maximum": ("maximum(signed(model_inp), -3)", 6),
    "least by greater": ("signed(model_inp) / 32", 6),
}


def test_what_ghdls_synthesis_misreads(tmp_path: Path) -> None:
    entities = []
    for number, (expression, width) in enumerate(MISREAD.values()):
        ports = f"model_inp : in std_logic_vector(5 downto 0); model_out : out std_logic_vector({width - 1} downto 0)"
        body = f"model_out <= std_logic_vector({expression});"
        text = f"{HEAD}\nentity e{number} is port ({ports}); end;\narchitecture rtl of e{number} is begin {body} end;\n"
        entities.append(Entity(f"e{number}", text, 6, width))
    records = vhdl.judged(entities, tmp_path)
    assert {name: record["right"] for name, record in records.items()} == dict.fromkeys(records, vhdl.PROVED)
    assert len(records) == len(MISREAD) and vhdl.exceptions(records) == []


def test_a_table_with_a_wrong_bit_is_another_table() -> None:
    table = ["000", "101", "111"]
    assert [sum(a != b for a, b in zip(table, vhdl.flipped(table, seed), strict=True)) for seed in range(9)] == [1] * 9


def wrapped(folder: Path, change: str) -> Path:
    """Return a GHDL whose netlists are changed by a command of sed."""
    script = folder / "ghdl"
    real = tools.ghdl().ghdl
    script.write_text(
        f'#!/bin/sh\ncase "$1" in\n--synth) "{real}" "$@" | sed \'{change}\';;\n*) exec "{real}" "$@";;\nesac\n'
    )
    script.chmod(0o755)
    return script


def test_the_installed_ghdl_reads_all_operators_as_it_simulates_them(tmp_path: Path) -> None:
    assert vhdl_probe.misread(tmp_path, Limits(600, 4096)) == []


def test_a_ghdl_that_misreads_operators_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DAIS_VERIF_GHDL", str(wrapped(tmp_path, r"s/: \$sdiv$/: $srem/")))
    for _ in range(2):
        with pytest.raises(ToolError, match="integer /, integer / by a number") as error:
            vhdl_probe.require_read(tmp_path / "work", Limits(600, 4096))
        monkeypatch.setattr(vhdl_probe, "misread", None)  # the answer is kept
    assert str(error.value).count("integer") == 2
