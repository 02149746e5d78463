"""A bitstream behind a link is proved to be the RTL of core, wrapper and link; with a fault in its logic it is not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.bitstreams import FIFO, MACHINE, Stored, chip_of, repacked, require_icestorm
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError, ProofError, RtlFileError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.bitstream.trace import TABLE
from dais_verif.hardware.bitstream.unpack import unpack
from dais_verif.hardware.emitter import PipelineOptions
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.proof.links import core_request
from dais_verif.verbs.prove import ProveRequest, prove

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def icestorm() -> None:
    require_icestorm()


@pytest.mark.slow
def test_a_bitstream_behind_a_fifo(tmp_path: Path) -> None:
    record = dais_verif.prove(FIFO.program, bitstream=FIFO.write(tmp_path), pins=FIFO.pins, output=tmp_path / "out")
    assert record.verdict is Verdict.PASS, record.message
    link = record.link
    assert link is not None and link.proved and link.board is Verdict.PASS and link.core is Verdict.PASS
    assert (link.link, link.columns) == ("fifo", 144) and link.claims > 700
    kept = json.loads((tmp_path / "out" / "result.json").read_text())
    assert kept["link"]["claims"] == link.claims and kept["verdict"] == "PASS"


@pytest.mark.slow
def test_the_bitstream_of_another_program_is_wrong(tmp_path: Path) -> None:
    """The bitstream of another program with outputs of the same widths is not proved."""
    other = EXAMPLES / "sort_two.bin"
    record = dais_verif.prove(other, bitstream=FIFO.write(tmp_path), pins=FIFO.pins)
    assert record.verdict is not Verdict.PASS
    assert record.link is not None and not record.link.proved


@pytest.mark.slow
def test_of_a_fifo_the_period_does_not_matter(tmp_path: Path) -> None:
    record = dais_verif.prove(FIFO.program, bitstream=FIFO.write(tmp_path), pins=FIFO.pins, period=5.0, confirm=False)
    assert record.verdict is Verdict.PASS


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_table_upside_down_is_not_proved(share: float, tmp_path: Path) -> None:
    path = FIFO.write(tmp_path)
    logic = FIFO.read(unpack(path, tmp_path / "tools"))
    lut = logic.luts[int(share * len(logic.luts))]
    bits = chip_of("8k").functions("logic")[f"LC_{lut.cell.number}"]
    for entry in TABLE:
        path = repacked(path, (lut.cell.x, lut.cell.y), bits[entry], tmp_path / "bad.bin")
    record = dais_verif.prove(FIFO.program, bitstream=path, pins=FIFO.pins, confirm=False)
    assert record.verdict is Verdict.UNKNOWN and "not proved to be the RTL" in record.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "bit", "said"),
    [((4, 11), (0, 40), "answers|wrong"), ((11, 2), (2, 18), "silent|answer"), ((1, 4), (14, 32), "answers|differ")],
    ids=["byte", "ready", "length"],
)
def test_a_fault_that_only_shows_while_the_host_waits(
    place: tuple[int, int], bit: tuple[int, int], said: str, tmp_path: Path
) -> None:
    """Flipped bits that no vector shows while the link is always ready are found when the host waits."""
    path = repacked(FIFO.write(tmp_path), place, bit, tmp_path / "bad.bin")
    record = dais_verif.prove(FIFO.program, bitstream=path, pins=FIFO.pins)
    assert record.verdict is not Verdict.PASS and record.verdict is not Verdict.UNKNOWN, record.message
    assert re.search(said, record.message), record.message


def test_a_core_in_stages_has_an_enable_and_no_other_pins() -> None:
    """A core in stages has only an enable, as ``build`` writes it for a wrapper; ``--stages`` alone means all pins."""
    stages = PipelineOptions(stages=2, reset=True, enable=True, valid=True)
    asked = core_request(ProveRequest(program=FIFO.program, design=DesignRequest(pipeline=stages), cache=False))
    record = prove(asked).record
    assert record.verdict is Verdict.PASS, record.message
    assert record.timing is not None and record.timing.latency == 2


def test_a_machine_behind_a_link_is_simulated(tmp_path: Path) -> None:
    """A machine behind a link is refused, with the command that simulates it, with or without the name of its clock."""
    bits = {"bitstream": FIFO.write(tmp_path), "pins": FIFO.pins}
    for clock in (None, "aclk"):
        with pytest.raises(RtlFileError, match=r"board.* `hil --target 'sim://bitstream"):
            dais_verif.prove(MACHINE.program, clock=clock, **bits)
    with raises(RtlFileError, match="board"):
        dais_verif.simulate(FIFO.program, **bits)


def test_an_input_that_a_machine_lacks(tmp_path: Path) -> None:
    """RTL without an input of the machine is refused, even if no register is named as in the machine."""
    rtl = tmp_path / "model.v"
    rtl.write_text(
        "module model(input clk, input [7:0] w, input [0:0] en, output [19:0] y);\n"
        "reg [22:0] q; initial q = 0; assign y = q[19:0];\n"
        "always @(posedge clk) if (en) q <= {q[22:20] + 3'd1, q[19:0] + {12'd0, w}};\nendmodule\n"
    )
    with pytest.raises(ProofError, match="'x'"):
        dais_verif.prove(MACHINE.program, rtl=[rtl])


def test_what_has_no_meaning_behind_a_link_is_refused(tmp_path: Path) -> None:
    bitstream = FIFO.write(tmp_path)
    for options, said in (
        ({"clock": "clk"}, "pins"),
        ({"dump_smt": tmp_path / "smt"}, r"prove.*RTL.*core"),
    ):
        with raises(ProofError, match=said):
            dais_verif.prove(FIFO.program, bitstream=bitstream, pins=FIFO.pins, **options)
    bare = Stored("quantised_mac", EXAMPLES / "quantised_mac.bin")
    with raises(InputError):
        dais_verif.prove(bare.program, bitstream=bare.write(tmp_path), pins=bare.pins, period=5.0)
