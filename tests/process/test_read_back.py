"""A bitstream is read back completely: unknown parts, and nets with no driver or with two, are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.bitstreams import DESIGNS, chip_of, flipped, require_icestorm, stored
from support.said import as_recorded, raises

from dais_verif.base.errors import BitstreamError, InputError
from dais_verif.hardware.bitstream.chip import Pad, Switch
from dais_verif.hardware.bitstream.configuration import Bit, Configuration, Place, parse_configuration
from dais_verif.hardware.bitstream.logic import ReadBack
from dais_verif.hardware.bitstream.pins_file import PortBit, read_pins
from dais_verif.hardware.bitstream.unpack import unpack
from dais_verif.hardware.bitstream.verilog import write_verilog

MAC, PIPELINE = DESIGNS["quantised_mac"], DESIGNS["lookup_square_pipelined"]


@pytest.fixture(scope="module")
def mac(tmp_path_factory: pytest.TempPathFactory) -> Configuration:
    require_icestorm()
    return stored("quantised_mac", tmp_path_factory.mktemp("mac"))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Configuration:
    require_icestorm()
    return stored("lookup_square_pipelined", tmp_path_factory.mktemp("pipeline"))


@pytest.fixture(scope="module")
def logic(mac: Configuration) -> ReadBack:
    return MAC.read(mac)


def function(kind: str, name: str) -> Bit:
    """Return the bit that configures ``name``."""
    return chip_of("1k").functions(kind)[name][0]


def closed(configuration: Configuration, place: Place) -> list[tuple[Switch, str]]:
    """Return the closed switches of a tile, each with the pattern of its bits."""
    ones = configuration.bits[place]
    found = []
    for switch in chip_of("1k").switches([place]):
        pattern = "".join("1" if bit in ones else "0" for bit in switch.bits)
        if "1" in pattern:
            found.append((switch, pattern))
    return found


def pad_of(configuration: Configuration, bit: PortBit) -> Pad:
    return chip_of("1k").pins("tq144")[read_pins(MAC.pins)[bit]]


# What is read back


def test_what_two_small_designs_consist_of(logic: ReadBack, pipeline: Configuration) -> None:
    assert (len(logic.luts), len(logic.carries), len(logic.registers), len(logic.rams)) == (42, 14, 0, 0)
    assert [str(bit) for bit in sorted(logic.outputs)][:2] == ["model_out[0]", "model_out[1]"]
    found = PIPELINE.read(pipeline)
    assert len(found.registers) > 10
    assert {one.clock for one in found.registers} == {"clk"}
    assert {one.enable for one in found.registers} >= {"en"}
    assert {one.falling or one.asynchronous for one in found.registers} == {False}
    assert {one.reset for one in found.registers} == {"1'b0", "rst"}


def test_a_table_says_what_its_bits_say(mac: Configuration, logic: ReadBack) -> None:
    """Entry 15 of a cell's table is bit 0 of its configuration, as IceStorm documents."""
    lut = next(lut for lut in logic.luts if "1'b0" not in lut.inputs)
    bits = chip_of("1k").functions("logic")[f"LC_{lut.cell.number}"]
    other = MAC.read(flipped(mac, (lut.cell.x, lut.cell.y), bits[0]))
    assert next(one for one in other.luts if one.cell == lut.cell).table == lut.table ^ 1 << 15


def test_a_port_of_one_bit_has_no_range(logic: ReadBack) -> None:
    one = replace(logic, outputs={PortBit("y", None): (0, 0, 0)}, driven={PortBit("y", None): "1'b1"})
    assert "output wire y\n" in write_verilog(one, "model")


# What is refused


def refusal(configuration: Configuration, pins: dict[PortBit, str] | None = None) -> str:
    with pytest.raises(InputError) as error:
        MAC.read(configuration, pins)
    return str(error.value)


def test_a_second_switch_that_drives_a_net(mac: Configuration, logic: ReadBack) -> None:
    """A net that two groups of bits can drive is refused if both of them drive it."""
    for place in sorted(logic.used):
        if place not in mac.bits:
            continue
        used = {switch.net: switch for switch, _ in closed(mac, place)}
        for other in chip_of("1k").switches([place]):
            first = used.get(other.net)
            if first is not None and first.bits != other.bits:
                pattern = next(iter(other.sources))
                ones = [bit for bit, digit in zip(other.bits, pattern, strict=True) if digit == "1"]
                as_recorded(refusal(flipped(mac, place, *ones)))
                return
    pytest.fail("no net of the design can be driven by two switches of a tile")


def test_a_switch_that_is_off(mac: Configuration, logic: ReadBack) -> None:
    lut = next(lut for lut in logic.luts if "1'b0" not in lut.inputs)
    place = (lut.cell.x, lut.cell.y)
    net = chip_of("1k").nets[(*place, f"lutff_{lut.cell.number}/in_0")]
    entering = next(switch.sources[pattern] for switch, pattern in closed(mac, place) if switch.net == net)
    switch, _ = next(found for found in closed(mac, place) if found[0].net == entering)
    text = refusal(flipped(mac, place, *(mac.bits[place] & set(switch.bits))))
    assert "depends on a wire that nothing drives" in text


def test_a_pattern_that_no_switch_has(mac: Configuration, logic: ReadBack) -> None:
    used = sorted(logic.used & mac.bits.keys())
    for switch, pattern in (found for place in used for found in closed(mac, place)):
        for index, bit in enumerate(switch.bits):
            other = pattern[:index] + str(1 - int(pattern[index])) + pattern[index + 1 :]
            if "1" in other and other not in switch.sources:
                as_recorded(refusal(flipped(mac, switch.place, bit)))
                return
    pytest.fail("all patterns are known")


@pytest.mark.parametrize("name", ["IoCtrl.LVDS", "Icegate", "PLL.PLLCONFIG_1"])
def test_what_nobody_here_knows_to_be_harmless(name: str, mac: Configuration) -> None:
    place = next(place for place, kind in mac.kinds.items() if kind == "io")
    assert f"{name}" in refusal(flipped(mac, place, function("io", name)))


def test_a_hard_block_that_is_driven(mac: Configuration) -> None:
    """A driven BOOT of WARMBOOT is refused though no output needs it, since the device would load another bitstream."""
    chip = chip_of("1k")
    place = (12, 0)
    net = chip.nets[(*place, "fabout")]
    switch = next(switch for switch in chip.switches([place]) if switch.net == net)
    ones = [bit for bit, digit in zip(switch.bits, next(iter(switch.sources)), strict=True) if digit == "1"]
    assert "BOOT of WARMBOOT is driven" in refusal(flipped(mac, place, *ones))


def test_bits_that_no_description_names(mac: Configuration) -> None:
    known = {bit for bits in chip_of("1k").functions("logic").values() for bit in bits}
    place = next(place for place, kind in mac.kinds.items() if kind == "logic")
    known |= {bit for switch in chip_of("1k").switches([place]) for bit in switch.bits}
    unknown = next((row, column) for row in range(16) for column in range(54) if (row, column) not in known)
    as_recorded(refusal(flipped(mac, place, unknown)))
    as_recorded(refusal(replace(mac, extra=frozenset({(0, 1, 2)}))))


def test_a_global_network_that_is_not_brought_to_a_column(pipeline: Configuration) -> None:
    chip = chip_of("1k")
    cell = PIPELINE.read(pipeline).registers[0].cell
    net = chip.nets[(cell.x, cell.y, "lutff_global/clk")]
    switch, pattern = next(found for found in closed(pipeline, (cell.x, cell.y)) if found[0].net == net)
    name = f"ColBufCtrl.glb_netwk_{chip.globals[switch.sources[pattern]]}"
    buffer = chip.column_buffers[(cell.x, cell.y)]
    with raises(InputError):
        PIPELINE.read(flipped(pipeline, buffer, function(pipeline.kinds[buffer], name)))


def test_an_input_whose_buffer_is_off(mac: Configuration, logic: ReadBack) -> None:
    pad = Pad(*logic.inputs[PortBit("model_inp", 0)])
    enable = chip_of("1k").input_enables[pad]
    text = refusal(flipped(mac, enable.place, function("io", f"IoCtrl.IE_{enable.number}")))
    assert "input buffer" in text
    assert "model_inp[0]" in text


@pytest.mark.parametrize(
    ("bit", "type_"),
    [(0, "000000"), (2, ""), (4, "")],
    ids=["registered", "odd", "clocked"],
)
def test_pads_that_are_more_than_wires(bit: int, type_: str, mac: Configuration, logic: ReadBack) -> None:
    port = PortBit("model_inp", 0) if bit == 0 else PortBit("model_out", 0)
    pad = Pad(*(logic.inputs if bit == 0 else logic.outputs)[port])
    said = refusal(flipped(mac, pad.place, function("io", f"IOB_{pad.number}.PINTYPE_{bit}")))
    assert type_ in said
    as_recorded(said)


@pytest.mark.parametrize("port", ["model_inp", "model_out"])
def test_a_pin_of_which_the_pins_file_does_not_speak(port: str, mac: Configuration) -> None:
    pins = read_pins(MAC.pins)
    del pins[PortBit(port, 0)]
    as_recorded(refusal(mac, pins))


def test_an_input_where_an_output_should_be(logic: ReadBack) -> None:
    inputs = {**logic.inputs, PortBit("model_out", 0): (0, 0, 0)}
    outputs = {bit: pad for bit, pad in logic.outputs.items() if bit != PortBit("model_out", 0)}
    with raises(InputError):
        write_verilog(replace(logic, inputs=inputs, outputs=outputs), "model")
    with raises(InputError):
        write_verilog(replace(logic, outputs=outputs), "model")


def test_a_carry_that_is_switched_off(mac: Configuration, logic: ReadBack) -> None:
    carry = logic.carries[3]
    bits = chip_of("1k").functions("logic")[f"LC_{carry.cell.number}"]
    as_recorded(refusal(flipped(mac, (carry.cell.x, carry.cell.y), bits[8])))


def test_packages_and_pins_that_there_are_not(mac: Configuration) -> None:
    with raises(InputError):
        MAC._replace(device="ice40-hx1k-ct256").read(mac)
    assert "Z99" in refusal(mac, {PortBit("model_out", 0): "Z99"})


# Files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("set_io a 1\nset_io a 2\n", ""),
        ("set_io a 1\nset_io b 1\n", ""),
        ("set_io a 1 2\n", ""),
        ("set_location a 1\n", ""),
        ("# nothing\n", "pins"),
        ("set_io a 1\nset_io a[0] 2\n", r"bit.*line"),
    ],
    ids=["twice", "taken", "words", "command", "empty", "both"],
)
def test_pins_files_that_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "pins.pcf"
    path.write_text(text)
    with raises(BitstreamError, match=said):
        read_pins(path)


def test_what_a_pins_file_may_say_besides(tmp_path: Path) -> None:
    path = tmp_path / "pins.pcf"
    path.write_text("set_frequency clk 12\nset_io -pullup yes --warn-no-port a[3] 1 # left\n\n")
    assert read_pins(path) == {PortBit("a", 3): "1"}


def test_statements_that_are_not_known() -> None:
    with raises(InputError):
        parse_configuration(".device 1k\n.warp 9\n")
    with raises(InputError):
        parse_configuration("")


def test_files_that_no_device_would_take(tmp_path: Path) -> None:
    require_icestorm()
    path = MAC.write(tmp_path)
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    with raises(InputError):
        unpack(path, tmp_path / "tools")
    path.write_bytes(b"nothing")
    with raises(InputError):
        unpack(path, tmp_path / "tools")


def test_what_the_unpacked_form_does_not_hold(tmp_path: Path) -> None:
    """A file with a command after the last one is refused, since the output of ``iceunpack`` lacks the command."""
    require_icestorm()
    path = MAC.write(tmp_path)
    path.write_bytes(path.read_bytes().replace(bytes.fromhex("7eaa997e5100"), bytes.fromhex("7eaa997e5101")))
    with pytest.raises(InputError):
        unpack(path, tmp_path / "tools")
