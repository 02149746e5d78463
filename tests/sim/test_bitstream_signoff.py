"""Sign-offs of bitstreams: which pass, which must not, and how deployed files are compared with them by content."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support.bitstreams import DESIGNS, chip_of, repacked, require_icestorm
from support.said import as_recorded
from support.signing import MACHINE, QUICK, Ending, machine_project, project, sign, verify

import dais_verif
from dais_verif.base.toolchain import tools
from dais_verif.hardware.bitstream.configuration import Bit, Place
from dais_verif.hardware.bitstream.pins_file import read_pins
from dais_verif.hardware.bitstream.trace import TABLE, read_back
from dais_verif.hardware.bitstream.unpack import unpack
from dais_verif.verbs.read_back.bitstreams import deployed_findings

DEVICE = "ice40-hx1k-tq144"
STAGES = 'stages = ["bitstream", "timing"]\n'
TABLES = f"""[bitstream]
file = "built/model.bin"
pins = "built/pins.pcf"
device = "{DEVICE}"
vectors = 200
"""


class Signed(NamedTuple):
    folder: Path
    ending: Ending


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Signed:
    require_icestorm()
    design = DESIGNS["quantised_mac"]
    program = dais_verif.load(design.program)
    folder = project(tmp_path_factory.mktemp("signed"), QUICK + STAGES + TABLES, program=program)
    (folder / "built").mkdir()
    design.write(folder).rename(folder / "built" / "model.bin")
    shutil.copyfile(design.pins, folder / "built" / "pins.pcf")
    return Signed(folder, sign(folder))


def text_of(bitstream: Path) -> str:
    return subprocess.run([tools.icestorm("iceunpack"), bitstream], capture_output=True, text=True, check=True).stdout


def test_a_bitstream_is_signed_off_with_its_faults_found(signed: Signed) -> None:
    assert signed.ending.verdict == "PASS", signed.ending.tree["message"]
    names = {stage["name"]: stage for stage in signed.ending.tree["stages"]}
    assert names["bitstream"]["passed"] and names["timing"]["passed"]
    bad = names["known-bad bitstream, simulated"]
    assert bad["must_fail"] and bad["passed"] and "found on 200 of 200 vectors" in bad["message"]
    held = verify(signed.folder)
    assert (held.exit_code, held.findings) == (0, [])
    assert "icestorm" in signed.ending.tree["tools"]


def test_what_is_deployed_is_compared_by_content(signed: Signed, tmp_path: Path) -> None:
    good = signed.folder / "built" / "model.bin"
    commented, text = tmp_path / "commented.bin", tmp_path / "model.asc"
    preamble = good.read_bytes().find(bytes.fromhex("7eaa997e"))
    commented.write_bytes(b"\xff\x00another comment\x00\x00\xff" + good.read_bytes()[preamble:])
    text.write_text(".comment of somebody\n" + text_of(good))
    for same in (good, commented, text):
        held = verify(signed.folder, "--bitstream", same)
        assert (held.exit_code, held.findings) == (0, []), same


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda data: data[:-40], "bitstream"),
        (lambda data: b"\x00" + data[:200] + bytes([data[200] ^ 4]) + data[201:], "bitstream"),
        (lambda data: b"no bitstream", "bitstream"),
    ],
    ids=["cut-short", "one-bit", "none"],
)
def test_what_is_not_deployed_as_it_was_certified_is_found(
    signed: Signed, tmp_path: Path, edit: Callable[[bytes], bytes], says: str
) -> None:
    other = tmp_path / "deployed.bin"
    other.write_bytes(edit((signed.folder / "built" / "model.bin").read_bytes()))
    held = verify(signed.folder, "--bitstream", other)
    assert held.exit_code == 7 and len(held.findings) == 1 and says in held.findings[0]
    as_recorded(held.findings[0])


def test_one_bit_with_a_check_sum_that_is_right_is_named(signed: Signed, tmp_path: Path) -> None:
    good = signed.folder / "built" / "model.bin"
    found = unpack(good, tmp_path / "tools")
    place = next(place for place, kind in found.kinds.items() if kind == "logic" and place in found.bits)
    other = repacked(good, place, (3, 10), tmp_path / "deployed.bin")
    held = verify(signed.folder, "--bitstream", other)
    assert held.exit_code == 7
    (found,) = held.findings
    assert "B3[10]" in found and f"({place[0]} {place[1]})" in found


def test_what_is_deployed_without_a_certificate_of_it_is_found(tmp_path: Path) -> None:
    (found,) = deployed_findings(tmp_path / "model.bin", None, tmp_path)
    assert "one without a bitstream" in found.found


@pytest.mark.slow
def test_a_certificate_of_no_bitstream_holds_for_none(tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK)
    assert sign(folder).verdict == "PASS"
    (tmp_path / "model.bin").write_bytes(b"")
    held = verify(folder, "--bitstream", tmp_path / "model.bin")
    assert held.exit_code == 7 and "one without a bitstream" in held.findings[0]


@pytest.mark.slow
def test_what_is_too_slow_is_not_signed_off_and_not_waived(signed: Signed) -> None:
    waived = '[[waivers]]\nwhat = "timing"\nreason = "later"\nexpires = 2999-01-01\n'
    policy = signed.folder / "fast.toml"
    policy.write_text(QUICK + STAGES + TABLES + "clock = 900.0\n" + waived)
    ended = sign_beside(signed, policy)
    assert ended.verdict == "NOT_SIGNED_OFF"
    assert not ended.stage("timing")["passed"] and not ended.stage("timing")["waived"]
    assert "990.00 MHz are required" in ended.stage("timing")["message"]


def sign_beside(signed: Signed, policy: Path, name: str = "other") -> Ending:
    return sign(signed.folder, "--policy", policy, "-o", signed.folder / name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (QUICK + 'stages = ["timing"]\n', "[bitstream] file, pins"),
        (QUICK + TABLES, "[bitstream]"),
        (QUICK + STAGES + TABLES.replace("ice40-hx1k-tq144", "hx1k"), "hx1k"),
        (QUICK + STAGES + TABLES + "clock = 0.0\n", "clock"),
        (QUICK + STAGES + TABLES + "margin = -1.0\n", "margin"),
    ],
    ids=["no-file", "no-stage", "device", "clock", "margin"],
)
def test_policies_that_are_refused(tmp_path: Path, text: str, says: str) -> None:
    ended = sign(project(tmp_path, text))
    assert ended.exit_code == 2 and says in ended.tree["message"]
    as_recorded(ended.tree["message"])


# faults seeded in the bitstream that is signed off


def planted(kind: str, folder: Path, bitstream: Path, pins: Path) -> tuple[Place, Bit]:
    """Return the place and the bit of a configuration bit of this kind that has an effect."""
    configuration = unpack(bitstream, folder / "tools")
    chip = chip_of("1k")
    found = read_back(chip, configuration, read_pins(pins), "tq144")
    if kind == "routing":
        places = sorted({place for place in found.used if configuration.kinds[place] == "logic"})
        for switch in chip.switches(places):
            ones = configuration.bits.get(switch.place, frozenset())
            if all(bit in ones for bit in switch.bits) and len(switch.bits) == 1:
                return switch.place, switch.bits[0]
        raise AssertionError("no switch of one bit")
    cells = {
        "table": [lut.cell for lut in found.luts],
        "carry": [carry.cell for carry in found.carries],
        "first value": [register.cell for register in found.registers],
    }[kind]
    cell = cells[0]
    bits = chip.functions("logic")[f"LC_{cell.number}"]
    ones = configuration.bits[cell.x, cell.y]
    number = {"carry": 8, "first value": 9}.get(kind)
    if number is None:
        table = next(lut for lut in found.luts if lut.cell == cell)
        number = TABLE[0 if table.inputs else 15]
    assert number in TABLE or bits[number] in ones
    return (cell.x, cell.y), bits[number]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table", "carry", "routing", "first value", "pins"])
def test_a_planted_fault_is_not_signed_off(kind: str, tmp_path: Path) -> None:
    """With the policy that signs off the fault-free bitstream, each fault is simulated or proved wrong, or refused."""
    require_icestorm()
    policy = QUICK.replace('proof = "off"', "") + STAGES + "[rtl]\npipeline = 1\n" + TABLES
    folder = project(tmp_path, policy)
    dais_verif.build_bitstream(
        folder / "prog.bin", DEVICE, folder / "built", stages=1, reset=True, enable=True, valid=True
    )
    bitstream, pins = folder / "built" / "model.bin", folder / "built" / "pins.pcf"
    if kind == "pins":
        text = pins.read_text()
        first, second = (line.split()[2] for line in text.splitlines() if "model_out" in line and "0]" in line)
        pins.write_text(
            text.replace(f" {first}\n", " \n").replace(f" {second}\n", f" {first}\n").replace(" \n", f" {second}\n")
        )
    else:
        repacked(bitstream, *planted(kind, tmp_path, bitstream, pins), bitstream)
    ended = sign(folder)
    assert ended.verdict == "NOT_SIGNED_OFF", ended.tree
    failed = [stage["name"] for stage in ended.tree["stages"] if not stage["passed"]]
    assert failed and failed[0].startswith("bitstream"), ended.tree["message"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", [None, "pins"], ids=["sound", "swapped-pins"])
def test_the_bitstream_of_a_machine(fault: str | None, tmp_path: Path) -> None:
    require_icestorm()
    policy = QUICK.replace('proof = "off"', "") + STAGES + TABLES
    folder = machine_project(tmp_path, policy, MACHINE)
    dais_verif.build_bitstream(folder / "prog.mach", DEVICE, folder / "built")
    pins = folder / "built" / "pins.pcf"
    if fault is not None:
        pins.write_text(pins.read_text().replace("set_io rst ", "set_io en_ ").replace("set_io en ", "set_io rst "))
        pins.write_text(pins.read_text().replace("set_io en_ ", "set_io en "))
    ended = sign(folder)
    if fault is not None:
        assert ended.verdict == "NOT_SIGNED_OFF" and not ended.stage("bitstream")["passed"]
        return
    assert ended.verdict == "PASS", ended.tree["message"]
    assert ended.stage("bitstream, for all inputs")["passed"] and ended.stage("timing")["passed"]
    bad = ended.stage("known-bad bitstream, proof")
    assert bad["must_fail"] and bad["passed"]
    held = verify(folder, "--bitstream", folder / "built" / "model.bin")
    assert (held.exit_code, held.findings) == (0, [])
