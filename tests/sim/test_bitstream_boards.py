"""A board simulated from a bitstream answers like a real one: same vectors, frames and protocol."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from support.bitstreams import BOARD, DESIGNS, chip_of, repacked, require_icestorm, stored
from support.door import command
from support.said import raises

from dais_verif.base.errors import BoardError
from dais_verif.simulation.boards.link import LoadedBitstream, parse_target

pytestmark = pytest.mark.usefixtures("icestorm")


@pytest.fixture
def icestorm() -> None:
    require_icestorm()


def hil(bitstream: Path, *options: object) -> dict[str, Any]:
    target = f"sim://bitstream?file={bitstream}&pins={BOARD.pins}"
    done = command("hil", BOARD.program, "--target", target, "--vectors", "30", "--json", *options)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_a_board_that_is_right(tmp_path: Path) -> None:
    found = hil(BOARD.write(tmp_path))
    assert found["verdict"] == "PASS", found["message"]
    assert "if a board with this bitstream fails, the cause is electrical or timing" in found["message"]
    assert found["simulators"][0]["vectors_compared"] == 30
    sha256 = hashlib.sha256((tmp_path / f"{BOARD.name}.bin").read_bytes()).hexdigest()
    assert found["rtl"]["bitstream"]["sha256"] == sha256


@pytest.mark.slow
def test_a_fault_in_a_table_is_found(tmp_path: Path) -> None:
    """One flipped bit in a table that computes the square gives wrong results; the protocol is not affected."""
    logic = BOARD.read(stored(BOARD.name, tmp_path))
    bitstream = BOARD.write(tmp_path)
    lut = next(lut for lut in logic.luts if bin(lut.table).count("1") in range(3, 14) and "1'b0" not in lut.inputs)
    verdicts = []
    for entry in range(20):
        bit = chip_of("1k").functions("logic")[f"LC_{lut.cell.number}"][entry]
        if entry in (8, 9, 18, 19):
            continue
        wrong = repacked(bitstream, (lut.cell.x, lut.cell.y), bit, tmp_path / "wrong.bin")
        verdicts.append(hil(wrong, "--timeout", 2).get("verdict"))
        if verdicts[-1] != "PASS":
            return
    pytest.fail(f"no bit of the table of {lut.cell} is of any effect: {verdicts}")


@pytest.mark.slow
def test_a_bare_core_is_no_board(tmp_path: Path) -> None:
    design = DESIGNS["quantised_mac"]
    target = f"sim://bitstream?file={design.write(tmp_path)}&pins={design.pins}"
    done = command("hil", design.program, "--target", target)
    assert done.returncode == 2
    assert "has no link that `hil` talks over (uart_rx or" in done.stderr


def test_what_a_target_says() -> None:
    found = parse_target("sim://bitstream?file=a/model.bin&pins=p.pcf&device=ice40-hx1k-tq144&clocks_per_bit=434")
    assert found.bitstream == LoadedBitstream("a/model.bin", "p.pcf", "ice40-hx1k-tq144", 434)
    usual = parse_target("sim://bitstream?file=a&pins=p").bitstream
    assert usual is not None
    assert (usual.device, usual.clocks_per_bit) == (None, 104)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sim://bitstream", "="),
        ("sim://bitstream?file=a", "pins="),
        ("sim://bitstream?file=a&pins=p&clocks_per_bit=3", "4 to 100000"),
        ("sim://bitstream?file=a&pins=p&baud=9600", r"unknown.*'baud'"),
        ("sim://uart?file=a", r"unknown.*'file'"),
    ],
    ids=["nothing", "no pins", "fast", "baud", "uart"],
)
def test_targets_that_are_refused(text: str, said: str) -> None:
    with raises(BoardError, match=said):
        parse_target(text)
