"""Each cell as nextpnr placed it is the cell that was read back: two independent descriptions of the device agree."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.bitstreams import chip_of, flipped, require_icestorm
from support.places import CORPUS

import dais_verif
from dais_verif.hardware.bitstream.logic import ReadBack
from dais_verif.hardware.bitstream.pins_file import read_pins
from dais_verif.hardware.bitstream.trace import TABLE, read_back
from dais_verif.hardware.bitstream.unpack import unpack
from dais_verif.hardware.synthesis.devices import DEVICES

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
MAC, SQUARE = EXAMPLES / "quantised_mac.bin", EXAMPLES / "lookup_square.bin"

#: The pins of a pad, a global buffer and a cell that drive nets.
_DRIVES = ("O", "LO", "COUT", "D_IN_0", "GLOBAL_BUFFER_OUTPUT")


class Route(NamedTuple):
    """A design as nextpnr placed it and as it was read back."""

    placed: dict[str, Any]
    logic: ReadBack


def built(folder: Path, program: Path, device: str, **options: Any) -> Route:
    require_icestorm()
    dais_verif.build_bitstream(program, device, folder / "out", **options)
    (module,) = json.loads((folder / "out" / "placed.json").read_text())["modules"].values()
    found = unpack(folder / "out" / "model.bin", folder / "tools")
    pins = read_pins(folder / "out" / "pins.pcf")
    return Route(module["cells"], read_back(chip_of(DEVICES[device].chip), found, pins, DEVICES[device].package))


def drivers(cells: Mapping[str, Any]) -> dict[int, str]:
    """Return our reader's name of each net of nextpnr, from the location of its driver."""
    found: dict[int, str] = {}
    through: dict[int, int] = {}
    for cell in cells.values():
        x, y, *numbers = re.findall(r"\d+", cell["attributes"]["NEXTPNR_BEL"])
        number = "".join(numbers)
        for pin, nets in cell["connections"].items():
            if not nets or not pin.startswith((*_DRIVES, "RDATA_")):
                continue
            if cell["type"] == "ICESTORM_LC":
                clocked = int(cell["parameters"]["DFF_ENABLE"], 2)
                kind = "carry" if pin == "COUT" else "reg" if clocked and pin == "O" else "lut"
                found[nets[0]] = f"{kind}_{x}_{y}_{number}"
            elif cell["type"] == "SB_IO":
                found[nets[0]] = f"pad_{x}_{y}_{number}"
            elif cell["type"] == "SB_GB":
                through[nets[0]] = cell["connections"]["USER_SIGNAL_TO_GLOBAL_BUFFER"][0]
            elif pin.startswith("RDATA_"):
                found[nets[0]] = f"ram_{x}_{y}[{pin.removeprefix('RDATA_')}]"
    return found | {net: found[source] for net, source in through.items() if source in found}


def function(table: int, inputs: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the signals that a table depends on, sorted by name, and its values, since nextpnr may swap inputs."""

    def value(of: Mapping[str, int]) -> int:
        bits = [of.get(one, int(one == "1'b1")) for one in inputs]
        return table >> sum(bit << i for i, bit in enumerate(bits)) & 1

    def rows(names: Sequence[str]) -> list[dict[str, int]]:
        return [dict(zip(names, bits, strict=True)) for bits in itertools.product((0, 1), repeat=len(names))]

    names = sorted({one for one in inputs if not one.startswith("1'b")})
    matters = tuple(one for one in names if any(value(row) != value({**row, one: 1 - row[one]}) for row in rows(names)))
    return matters, tuple(value(row) for row in rows(matters))


def passing(logic: ReadBack, placed: Container[str]) -> dict[str, str]:
    """Return the tables that nextpnr routes through: no cell is placed there, and they pass on one signal."""
    found = {}
    for lut in logic.luts:
        if str(lut.cell) not in placed:
            matters, values = function(lut.table, lut.inputs)
            if len(matters) == 1 and values == (0, 1):
                found[lut.name] = matters[0]
    return found


def differences(route: Route) -> list[str]:
    """Return where nextpnr's cells and those read back differ: in tables, inputs, carries or registers."""
    logic = route.logic
    named = drivers(route.placed)
    pads = {str(bit): f"pad_{x}_{y}_{number}" for bit, (x, y, number) in logic.inputs.items()}
    at = {"_".join(re.findall(r"\d+", cell["attributes"]["NEXTPNR_BEL"])) for cell in route.placed.values()}
    through = passing(logic, at)
    pads |= {lut: pads.get(source, source) for lut, source in through.items()}
    luts = {str(lut.cell): lut for lut in logic.luts if lut.name not in through}
    carries = {str(carry.cell): carry for carry in logic.carries}
    registers = {str(register.cell): register for register in logic.registers}
    found: list[str] = []
    compared: set[str] = set()

    def source(nets: list[Any], constant: str) -> str:
        return named.get(nets[0], f"net {nets[0]}") if nets else constant

    def same(place: str, what: str, ours: str, theirs: str) -> None:
        if pads.get(ours, ours) != theirs:
            found.append(f"{what} of {place}: read back {ours}, placed {theirs}")

    for cell in route.placed.values():
        if cell["type"] != "ICESTORM_LC":
            continue
        x, y, number = re.findall(r"\d+", cell["attributes"]["NEXTPNR_BEL"])
        place, nets, parameters = f"{x}_{y}_{number}", cell["connections"], cell["parameters"]
        if place in luts:
            compared.add(f"lut {place}")
            placed = [source(nets[f"I{i}"], "1'b0") for i in range(4)]
            inputs = [pads.get(ours, ours) for ours in luts[place].inputs]
            ours, theirs = function(luts[place].table, inputs), function(int(parameters["LUT_INIT"], 2), placed)
            if ours != theirs:
                found.append(f"table of {place}: read back {ours}, placed {theirs}")
        if place in carries:
            compared.add(f"carry {place}")
            ours = sorted(pads.get(one, one) for one in carries[place].inputs[:2])
            same(place, "carry inputs", str(ours), str(sorted(source(nets[f"I{i}"], "1'b0") for i in (1, 2))))
            into = "1'b1" if parameters["CIN_SET"] == "1" else "1'b0"
            # Where a carry also goes to logic, nextpnr adds a cell that passes it on, and names the carry only at I3.
            before = nets["CIN"] or (nets["I3"] if parameters["CIN_CONST"] == "0" and number != "0" else [])
            same(place, "carry in", carries[place].inputs[2], source(before, into))
        if place in registers:
            compared.add(f"register {place}")
            register = registers[place]
            for what, pin, ours, constant in (
                ("clock", "CLK", register.clock, "1'b0"),
                ("enable", "CEN", register.enable, "1'b1"),
                ("reset", "SR", register.reset, "1'b0"),
            ):
                same(place, what, ours, source(nets[pin], constant))
            if register.reset != "1'b0":
                same(place, "value", str(register.value), parameters["SET_NORESET"][-1])
                same(place, "kind of reset", str(int(register.asynchronous)), parameters["ASYNC_SR"][-1])
    kinds = {"lut": luts, "carry": carries, "register": registers}
    there = {f"{kind} {place}" for kind, places in kinds.items() for place in places}
    return found + [f"{what} was read back, and nextpnr placed none there" for what in sorted(there - compared)]


@pytest.mark.parametrize(
    ("program", "device", "options"),
    [
        (MAC, "ice40-hx1k-tq144", {}),
        (MAC, "ice40-hx1k-tq144", {"stages": 2, "reset": True, "enable": True, "valid": True}),
        (SQUARE, "ice40-hx1k-tq144", {"wrap": "uart"}),
        (CORPUS / "p10_bitops" / "prog.v1.bin", "ice40-hx8k-ct256", {"stages": 3}),
        (MAC, "ice40-up5k-sg48", {"stages": 2}),
    ],
    ids=["mac", "mac-pipeline", "square-uart", "bitops", "mac-up5k"],
)
def test_each_cell_is_the_one_that_was_placed(
    program: Path, device: str, options: dict[str, Any], tmp_path: Path
) -> None:
    route = built(tmp_path, program, device, **options)
    assert differences(route) == []
    assert len(route.logic.luts) > 10


def test_a_bit_that_is_turned_over_is_a_difference(tmp_path: Path) -> None:
    """A flipped bit of a table is reported as a difference; otherwise the comparison would prove nothing."""
    route = built(tmp_path, MAC, "ice40-hx1k-tq144")
    configuration = unpack(tmp_path / "out" / "model.bin", tmp_path / "again")
    cell = next(lut.cell for lut in route.logic.luts if "1'b1" not in lut.inputs)
    bit = chip_of("1k").functions("logic")[f"LC_{cell.number}"][TABLE[0]]
    pins = read_pins(tmp_path / "out" / "pins.pcf")
    wrong = read_back(chip_of("1k"), flipped(configuration, (cell.x, cell.y), bit), pins, "tq144")
    assert any(f"table of {cell}" in text for text in differences(Route(route.placed, wrong)))
