"""``show`` of a bitstream: which resources of the device it uses, and where they are."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.bitstreams import DESIGNS, require_icestorm
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.doors.cli.main import cli
from dais_verif.hardware.bitstream.recognition import is_bitstream
from dais_verif.verbs.read_back.show import find_floor_plan

MAC = DESIGNS["quantised_mac"]


@pytest.fixture(autouse=True)
def icestorm() -> None:
    require_icestorm()


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Write a bitstream and the file of its pins, as ``build`` does."""
    shutil.copy(MAC.pins, tmp_path / "pins.pcf")
    return MAC.write(tmp_path)


def test_what_is_used_and_where(built: Path) -> None:
    plan = find_floor_plan(built)
    assert plan is not None
    assert (plan.luts, plan.carries, plan.registers, plan.rams) == (42, 14, 0, 0)
    assert (plan.chip, plan.cells, plan.block_rams, plan.inputs, plan.outputs) == ("1k", 1280, 16, 18, 6)
    cells = sum(tile.cells for tile in plan.tiles)
    assert 42 <= cells <= 56
    rows = plan.text().splitlines()[-plan.rows :]
    assert sum(int(mark) for row in rows for mark in row[4:] if mark.isdigit()) == cells
    assert {bit for tile in plan.tiles for bit in tile.pads} >= {"model_inp[0]", "model_out[5]"}


def test_the_command_shows_it_as_text_and_as_a_page(built: Path, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    done = CliRunner().invoke(cli, ["show", str(built), "--html", str(page)])
    assert done.exit_code == 0, done.output
    assert "LUTs       42" in done.output
    text = page.read_text()
    assert len(re.findall("<g><title>tile", text)) > 20
    assert "model_out[5]" in text


def test_a_bitstream_without_pins_is_refused(tmp_path: Path) -> None:
    with raises(InputError):
        find_floor_plan(MAC.write(tmp_path))


def test_programs_are_not_taken_for_bitstreams() -> None:
    assert not is_bitstream(MAC.program)
    assert find_floor_plan(MAC.program) is None
