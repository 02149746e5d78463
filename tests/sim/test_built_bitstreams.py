"""The bitstream that `build` makes for each part passes when read back: in a simulator, and as a board on each link."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.bitstreams import require_icestorm

import dais_verif

MAC = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


@pytest.mark.slow
@pytest.mark.parametrize("device", ["ice40-hx1k-vq100", "ice40-hx8k-bg121", "ice40-up5k-sg48"])
def test_a_pipeline_on_each_part(device: str, tmp_path: Path) -> None:
    require_icestorm()
    out = tmp_path / "out"
    dais_verif.build_bitstream(MAC, device, out, stages=2)
    found = dais_verif.simulate(
        MAC,
        bitstream=out / "model.bin",
        pins=out / "pins.pcf",
        device=device,
        clock="clk",
        vectors=50,
        simulators="icarus",
        exhaustive_bits=0,
    )
    assert found.passed, found.message


@pytest.mark.slow
@pytest.mark.parametrize("link", ["uart", "spi", "fifo"])
def test_a_board_behind_each_link(link: str, tmp_path: Path) -> None:
    require_icestorm()
    device, out = "ice40-up5k-sg48", tmp_path / "out"
    dais_verif.build_bitstream(MAC, device, out, wrap=link)
    target = f"sim://bitstream?file={out / 'model.bin'}&pins={out / 'pins.pcf'}&device={device}"
    found = dais_verif.run_on_board(MAC, target, vectors=50)
    assert found.passed, found.message
