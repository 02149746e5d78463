"""Trace logic back from the pads: every cell, carry, register and block RAM that an output depends on.

Configuration that no output depends on has no effect, and is ignored. Everything else must be decoded completely:
signals without a driver or with two drivers, and configurations that are not listed here, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.base.errors import BitstreamError
from dais_verif.hardware.bitstream.chip import Chip, Pad
from dais_verif.hardware.bitstream.configuration import Bit, Configuration, Place
from dais_verif.hardware.bitstream.logic import Carry, Cell, Lut, Multiplier, PortBit, Ram, ReadBack, Register, Signal

__all__ = ["DEVICES", "Site", "TABLE", "Wiring", "read_back", "read_multiplier", "read_wiring", "sites"]


#: The supported devices, and whether bits that enable inputs and block RAMs are active at 1.
DEVICES = {"1k": False, "8k": True, "5k": True}

_LOW, _HIGH = "1'b0", "1'b1"

#: The positions, among the 20 bits of a cell, of the bits of its LUT, and of other bits, in IceStorm's numbering.
TABLE = (4, 14, 15, 5, 6, 16, 17, 7, 3, 13, 12, 2, 1, 11, 10, 0)
_CARRY_ENABLE, _DFF_ENABLE, _SET_NO_RESET, _ASYNC_SET_RESET = 8, 9, 18, 19

#: Types of pads: bits ``PINTYPE_5`` to ``PINTYPE_2`` for outputs, and the last two bits for inputs.
_NO_OUTPUT, _PLAIN_OUTPUT, _PLAIN_INPUT = "0000", "0110", "01"

#: Bits that may be set without changing the function of the logic, with the reason.
_NEUTRAL = {
    "IoCtrl.REN_": "a pull-up resistor is off",
    "IoCtrl.cf_bit_35": "a pull-up resistor is off",
    "IoCtrl.cf_bit_39": "a pull-up resistor is off",
    "Cascade.IPCON_": "an input of a hard block is taken from the fabric",
    "Cascade.MULT": "an input of a multiplier is taken from the fabric",
}
#: Bits that are read when the trace reaches the logic that they configure.
_READ = ("LC_", "NegClk", "CarryInSet", "ColBufCtrl.", "RamConfig.", "IOB_", "IoCtrl.IE_", "IpConfig.")

_RAM_PINS = {"RDATA": 16, "RADDR": 11, "WADDR": 11, "MASK": 16, "WDATA": 16}
_RAM_BITS = {"RCLK": _LOW, "RCLKE": _HIGH, "RE": _LOW, "WCLK": _LOW, "WCLKE": _HIGH, "WE": _LOW}


def read_back(chip: Chip, configuration: Configuration, pins: Mapping[PortBit, str], package: str) -> ReadBack:
    """Return the logic of ``configuration``, with ports named by ``pins``.

    Raises ``InputError`` for everything that is not understood, so that no bit that could affect an output is ignored.
    """
    if chip.device not in DEVICES:
        raise BitstreamError(f"bitstreams of device {chip.device} are not supported; those of {', '.join(DEVICES)} are")
    pads = _pads(chip, pins, package)
    wiring = read_wiring(chip, configuration)
    _require_known(wiring)
    return _Trace(wiring, pads, package).read()


def _pads(chip: Chip, pins: Mapping[PortBit, str], package: str) -> dict[PortBit, Pad]:
    known = chip.pins(package)
    for bit, pin in pins.items():
        if pin not in known:
            raise BitstreamError(
                f"{bit} is at pin {pin}, which package {package} of device {chip.device} does not have"
            )
    return {bit: known[pin] for bit, pin in pins.items()}


def _require_known(wiring: Wiring) -> None:
    for net, name in wiring.chip.hard_inputs.items():
        if net in wiring.closed:
            (x, y), _ = wiring.closed[net][0]
            raise BitstreamError(f"{name} is driven, in tile ({x} {y}): a hard block that read-back does not support")
    for (x, y), names in wiring.set.items():
        for name in sorted(names):
            if not name.startswith((*_NEUTRAL, *_READ)):
                raise BitstreamError(f"{name} of tile ({x} {y}) is set; its effect on the logic is not known")
    for bit in wiring.configuration.extra:
        if bit not in wiring.chip.extra_bits:
            raise BitstreamError(
                f"bit {bit[1]}, {bit[2]} of bank {bit[0]}, outside of tiles, is set, and its function is not known"
            )


class _Trace:
    def __init__(self, wiring: Wiring, pads: Mapping[PortBit, Pad], package: str) -> None:
        self._wiring, self._pads, self._package = wiring, pads, package
        self._chip = wiring.chip
        self._outputs_of = wiring.chip.drivers
        self._port_at = {pad: bit for bit, pad in pads.items()}
        self._padins = self._pad_globals()
        self._inputs: dict[PortBit, Pad] = {}
        self._luts: dict[Cell, Lut] = {}
        self._carries: dict[Cell, Carry] = {}
        self._registers: dict[Cell, Register] = {}
        self._rams: dict[Place, Ram] = {}
        self._multipliers: dict[Place, Multiplier] = {}
        self._used: set[Place] = set()
        #: Signals that have a name, but whose drivers have not been read yet.
        self._todo: list[Callable[[], None]] = []
        self._begun: set[tuple[str, Cell | Place]] = set()

    def read(self) -> ReadBack:
        outputs = {bit: pad for bit, pad in self._pads.items() if self._drives(pad)}
        self._require_quiet(set(outputs.values()))
        driven = {
            bit: self._at(pad.place, f"io_{pad.number}/D_OUT_0", None, f"output {bit}") for bit, pad in outputs.items()
        }
        while self._todo:
            self._todo.pop()()
        for bit, pad in self._pads.items():
            if bit not in outputs:
                self._inputs.setdefault(bit, pad)
        kinds = self._wiring.configuration.kinds
        return ReadBack(
            device=self._chip.device,
            package=self._package,
            inputs=self._inputs,
            outputs=outputs,
            driven=driven,
            luts=tuple(self._luts[cell] for cell in sorted(self._luts)),
            carries=tuple(self._carries[cell] for cell in sorted(self._carries)),
            registers=tuple(self._registers[cell] for cell in sorted(self._registers)),
            rams=tuple(self._rams[place] for place in sorted(self._rams)),
            multipliers=tuple(self._multipliers[place] for place in sorted(self._multipliers)),
            used=frozenset(self._used),
            size=(max(x for x, _ in kinds) + 1, max(y for _, y in kinds) + 1),
            kinds=kinds,
        )

    # pads

    def _type(self, pad: Pad) -> tuple[str, str]:
        """Return the output type and the input type of a pad."""
        bits = "".join("1" if self._bit(pad.place, f"IOB_{pad.number}.PINTYPE_{i}") else "0" for i in range(5, -1, -1))
        return bits[:4], bits[4:]

    def _drives(self, pad: Pad) -> bool:
        driving, _ = self._type(pad)
        if driving not in (_NO_OUTPUT, _PLAIN_OUTPUT):
            raise BitstreamError(
                f"pad {_told(pad)} has output type {driving}; read-back supports pads that drive always "
                f"({_PLAIN_OUTPUT}) or never ({_NO_OUTPUT})"
            )
        return driving == _PLAIN_OUTPUT

    def _require_quiet(self, outputs: set[Pad]) -> None:
        """Refuse pads that drive a pin of the package that is not in the pins file."""
        for place, kind in self._wiring.configuration.kinds.items():
            for number in (0, 1) if kind == "io" and place in self._wiring.set else ():
                pad = Pad(*place, number)
                if pad not in outputs and self._drives(pad):
                    raise BitstreamError(f"pad {_told(pad)} drives its pin, which is not in the pins file")

    def _input(self, pad: Pad, what: str) -> Signal:
        bit = self._port_at.get(pad)
        if bit is None:
            raise BitstreamError(f"{what} depends on pad {_told(pad)}, which is not in the pins file")
        driving, read = self._type(pad)
        if driving != _NO_OUTPUT or read != _PLAIN_INPUT:
            raise BitstreamError(
                f"pad {_told(pad)} of {bit} has type {driving}{read}; read-back supports pads that are read as they "
                f"are ({_NO_OUTPUT}{_PLAIN_INPUT})"
            )
        enable = self._chip.input_enables.get(pad)
        if enable is None or self._bit(enable.place, f"IoCtrl.IE_{enable.number}") != DEVICES[self._chip.device]:
            raise BitstreamError(f"the input buffer of pad {_told(pad)} of {bit} is off")
        self._inputs[bit] = pad
        self._used.add(pad.place)
        return str(bit)

    def _pad_globals(self) -> dict[int, Pad]:
        """Return the pad of each global network that a pad drives."""
        names = (self._chip.extra_bits[bit] for bit in self._wiring.configuration.extra)
        numbers = [int(name.removeprefix("padin_glb_netwk.")) for name in names]
        return {number: self._chip.pad_globals[number] for number in numbers}

    # nets

    def _bit(self, place: Place, name: str) -> bool:
        return self._wiring.bit(place, name)

    def _at(self, place: Place, pin: str, default: Signal | None, what: str) -> Signal:
        """Return the driver of an input pin. ``default``: the signal if the pin is not connected."""
        net = self._chip.nets.get((*place, pin))
        if net is None:
            if default is None:
                raise BitstreamError(f"{what}: tile ({place[0]} {place[1]}) has no {pin}")
            return default
        if default is not None and self._wiring.source(net) is None and net not in self._outputs_of:
            return default
        return self._signal(net, what)

    def _signal(self, net: int, what: str) -> Signal:
        """Follow closed switches from ``net`` back to its driver."""
        seen = set()
        while True:
            step = self._wiring.source(net)
            own = self._outputs_of.get(net)
            if step is None or (own is not None and own[1] == "carry_in_mux"):
                break
            if own is not None:
                raise BitstreamError(
                    f"short circuit in the bitstream: a switch drives the output {own[1]} of tile {own[0]}"
                )
            if net in seen:
                raise BitstreamError(f"{what} depends on switches that drive each other in a loop")
            seen.add(net)
            self._used.add(step[0])
            net = step[1]
        if own is not None:
            return self._output(*own, what)
        number = self._chip.globals.get(net)
        if number is not None:
            return self._global(number, what)
        raise BitstreamError(f"{what} depends on a wire that nothing drives (net {net})")

    def _global(self, number: int, what: str) -> Signal:
        place = self._chip.fabric_globals[number]
        fabric = self._wiring.source(self._chip.nets[(*place, "fabout")]) is not None
        pad = self._padins.get(number)
        if fabric and pad is not None:
            raise BitstreamError(f"short circuit in the bitstream: a pad and the logic drive global network {number}")
        if pad is not None:
            return self._input(pad, what)
        if not fabric:
            raise BitstreamError(f"{what} depends on global network {number}, which nothing drives")
        self._used.add(place)
        return self._signal(self._chip.nets[(*place, "fabout")], what)

    def _output(self, place: Place, pin: str, what: str) -> Signal:
        """Return the signal at an output pin, and schedule reading its driver."""
        self._used.add(place)
        head, _, end = pin.partition("/")
        if end.startswith("D_IN_"):
            if end != "D_IN_0":
                raise BitstreamError(
                    f"{what} depends on {pin} of tile {place}: a pad that is read at both edges is not supported"
                )
            return self._input(Pad(*place, int(head.removeprefix("io_"))), what)
        if head == "ram":
            return self._ram(place, int(end.removeprefix("RDATA_")), what)
        if pin == "carry_in_mux":
            return self._carry_in(place)
        if head == "mult":
            return self._multiplied(place, pin)
        if self._wiring.configuration.kinds[place] != "logic":
            raise BitstreamError(
                f"{what} depends on {pin} of tile {place}, a hard block that read-back does not support"
            )
        cell = Cell(*place, int(head.removeprefix("lutff_")))
        if end == "cout":
            return self._once("carry", cell, f"carry_{cell}", self._read_carry)
        if end == "lout" or not self._cell_bit(cell, _DFF_ENABLE):
            return self._once("lut", cell, f"lut_{cell}", self._read_lut)
        return self._once("register", cell, f"reg_{cell}", self._read_register)

    def _once(self, kind: str, cell: Cell, name: Signal, read: Callable[[Cell, Signal], None]) -> Signal:
        if (kind, cell) not in self._begun:
            self._begun.add((kind, cell))
            self._todo.append(lambda: read(cell, name))
        return name

    # cells

    def _cell_bit(self, cell: Cell, number: int) -> bool:
        return self._bit((cell.x, cell.y), f"LC_{cell.number}[{number}]")

    def _read_lut(self, cell: Cell, name: Signal) -> None:
        table = sum(self._cell_bit(cell, bit) << entry for entry, bit in enumerate(TABLE))
        place = (cell.x, cell.y)
        needed = [any((table >> entry ^ table >> (entry ^ 1 << i)) & 1 for entry in range(16)) for i in range(4)]
        inputs = [
            self._at(place, f"lutff_{cell.number}/in_{i}", _LOW, f"cell {cell}") if needed[i] else _LOW
            for i in range(4)
        ]
        self._luts[cell] = Lut(cell, name, table, (inputs[0], inputs[1], inputs[2], inputs[3]))

    def _read_carry(self, cell: Cell, name: Signal) -> None:
        place = (cell.x, cell.y)
        if not self._cell_bit(cell, _CARRY_ENABLE):
            raise BitstreamError(f"the carry of cell {cell} is used, but not enabled")
        if cell.number == 0:
            before = self._carry_in(place)
        elif self._cell_bit(below := Cell(cell.x, cell.y, cell.number - 1), _CARRY_ENABLE):
            before = self._once("carry", below, f"carry_{below}", self._read_carry)
        else:
            raise BitstreamError(f"the carry of cell {cell} depends on that of the cell before, which is not enabled")
        first, second = (self._at(place, f"lutff_{cell.number}/in_{i}", _LOW, f"carry of cell {cell}") for i in (1, 2))
        self._carries[cell] = Carry(cell, name, (first, second, before))

    def _carry_in(self, place: Place) -> Signal:
        """Return the carry input of a tile: a constant, or the last carry of the tile below."""
        from_below = self._wiring.source(self._chip.nets[(*place, "carry_in_mux")])
        high = self._bit(place, "CarryInSet")
        if from_below is None:
            return _HIGH if high else _LOW
        if high:
            raise BitstreamError(f"the carry into tile {place} is both 1 and taken from below")
        return self._signal(from_below[1], f"carry into tile {place}")

    def _read_register(self, cell: Cell, name: Signal) -> None:
        place = (cell.x, cell.y)
        what = f"register of cell {cell}"
        clock = self._at(place, "lutff_global/clk", None, f"clock of the {what}")
        enable = self._at(place, "lutff_global/cen", _HIGH, f"enable of the {what}")
        reset = self._at(place, "lutff_global/s_r", _LOW, f"reset of the {what}")
        self._registers[cell] = Register(
            cell,
            name,
            data=self._once("lut", cell, f"lut_{cell}", self._read_lut),
            clock=clock,
            falling=self._bit(place, "NegClk"),
            enable=enable,
            reset=reset,
            value=int(self._cell_bit(cell, _SET_NO_RESET)),
            asynchronous=reset != _LOW and self._cell_bit(cell, _ASYNC_SET_RESET),
        )

    # hard blocks

    def _multiplied(self, place: Place, pin: str) -> Signal:
        """Return output ``pin`` of the multiplier to which tile ``place`` belongs."""
        name = pin.removeprefix("mult/")
        site = next(one for one in sites(self._chip.blocks[".extra_cell"]) if one.pins[name] == (place, pin))
        if ("multiplier", site.place) not in self._begun:
            self._begun.add(("multiplier", site.place))
            self._todo.append(lambda: self._multipliers.update({site.place: self._read_multiplier(site)}))
        return f"mac_{site.place[0]}_{site.place[1]}[{name.removeprefix('O_')}]"

    def _read_multiplier(self, site: Site) -> Multiplier:
        self._used.update(place for place, _ in site.pins.values())
        return read_multiplier(site, self._wiring, TABLE, self._at)

    def _ram(self, place: Place, bit: int, what: str) -> Signal:
        bottom = place if self._wiring.configuration.kinds[place] == "ramb" else (place[0], place[1] - 1)
        if self._bit(bottom, "RamConfig.PowerUp") != DEVICES[self._chip.device]:
            raise BitstreamError(f"{what} depends on the block RAM at {bottom}, which is switched off")
        if ("ram", bottom) not in self._begun:
            self._begun.add(("ram", bottom))
            self._todo.append(lambda: self._read_ram(bottom))
        return f"ram_{bottom[0]}_{bottom[1]}[{bit}]"

    def _read_ram(self, bottom: Place) -> None:
        top = (bottom[0], bottom[1] + 1)
        what = f"block RAM at {bottom}"
        nets = self._chip.nets

        def at(pin: str, default: Signal) -> Signal:
            place = bottom if (*bottom, f"ram/{pin}") in nets else top
            return self._at(place, f"ram/{pin}", default, f"{pin} of the {what}")

        def falls(pin: str) -> bool:
            place = bottom if (*bottom, f"ram/{pin}") in nets else top
            if self._bit(place, "NegClk") and self._chip.device == "5k":
                raise BitstreamError(f"the {what} is clocked by falling edges, which is not supported for the 5k")
            return self._bit(place, "NegClk")

        def mode(*numbers: int) -> int:
            return sum(self._bit(top, f"RamConfig.CBIT_{n}") << i for i, n in enumerate(numbers))

        pins: dict[str, tuple[Signal, ...]] = {pin: (at(pin, default),) for pin, default in _RAM_BITS.items()}
        for pin, width in _RAM_PINS.items():
            if pin != "RDATA":
                pins[pin] = tuple(at(f"{pin}_{i}", _LOW) for i in range(width))
        self._used.update((bottom, top))
        self._rams[bottom] = Ram(
            bottom,
            f"ram_{bottom[0]}_{bottom[1]}",
            contents=self._wiring.configuration.rams.get(bottom, 0),
            write_mode=mode(0, 1),
            read_mode=mode(2, 3),
            write_falling=falls("WCLK"),
            read_falling=falls("RCLK"),
            pins=pins,
        )


def _told(pad: Pad) -> str:
    return f"({pad.x} {pad.y} {pad.number})"


# Read the multipliers of an iCE40 UltraPlus (SB_MAC16) that are configured to multiply 16 by 16 bits.
#
# All other functions of such a block are refused by name: its adders, accumulators, two products of 8 bits, and
# registers that are reset or held.


_LOW_OF_MULTIPLIERS, _HIGH_OF_MULTIPLIERS = "1'b0", "1'b1"
_WIDTH = 16
#: An output leaves its tile through a LUT with this table, which passes on input 2, and this bit connects it to that
#: input.
_THROUGH = tuple(entry % 8 >= 4 for entry in range(16))
_LEADS = "Cascade.MULT{}_LC0{}_inmux02_5"
#: Bits that select the product for both halves of the output.
_PRODUCT = ("TOPOUTPUT_SELECT_0", "TOPOUTPUT_SELECT_1", "BOTOUTPUT_SELECT_0", "BOTOUTPUT_SELECT_1")
#: Registers of the four partial products, and of their sum.
_PARTS = ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG", "PIPELINE_16x16_MULT_REG1")
_SUM = "PIPELINE_16x16_MULT_REG2"
#: Options that do not affect the product: those of the adders after it, and of input registers that only they use.
_NO_MATTER = ("TOPADDSUB_", "BOTADDSUB_", "C_REG", "D_REG")
#: Pins that hold registers, or reset them asynchronously.
_STILL = ("AHOLD", "BHOLD", "IRSTTOP", "IRSTBOT")


class Site(NamedTuple):
    """The location of a multiplier. ``pins``: tile and pin there, by name; ``options``: tile and bit, by name."""

    place: Place
    pins: Mapping[str, tuple[Place, str]]
    options: Mapping[str, tuple[Place, str]]


def sites(blocks: tuple[str, ...]) -> list[Site]:
    """Return the multipliers in ``blocks``, the ``.extra_cell`` blocks of a chip database."""
    found = []
    for block in blocks:
        head, *lines = block.split("\n")
        words = head.split()
        if words[-1] != "MAC16":
            continue
        rows = [line.split() for line in lines if line]
        places = {name: ((int(x), int(y)), pin) for name, x, y, pin in rows}
        options = {name: at for name, at in places.items() if at[1].startswith("CBIT_")}
        pins = {name: at for name, at in places.items() if name not in options}
        found.append(Site((int(words[1]), int(words[2])), pins, options))
    return found


def read_multiplier(
    site: Site, wiring: Wiring, table: tuple[int, ...], at: Callable[[Place, str, Signal | None, str], Signal]
) -> Multiplier:
    """Return the multiplier at ``site``. ``table``: positions of a LUT's bits; ``at``: returns the driver of a pin.

    Raises ``InputError`` if the block is not configured as a plain multiplier of 16 by 16 bits.
    """
    x, y = site.place
    what = f"the multiplier at ({x} {y})"
    known_bits = {(place, f"IpConfig.{bit}") for place, bit in site.options.values()}
    for place in sorted({place for place, _ in site.pins.values()}):
        for name in sorted(wiring.set.get(place, ())):
            if name.startswith("IpConfig.") and (place, name) not in known_bits:
                raise BitstreamError(f"{name} of tile {place}, of {what}, is set, and its function is not known")
    on = {name for name, (place, bit) in site.options.items() if wiring.bit(place, f"IpConfig.{bit}")}
    parts = [name for name in _PARTS if name in on]
    missing = [name for name in _PRODUCT if name not in on]
    known = {*_PRODUCT, *_PARTS, _SUM, "A_REG", "B_REG", "A_SIGNED", "B_SIGNED"}
    strange = sorted(name for name in on - known if not name.startswith(_NO_MATTER))
    if missing or strange or len(parts) not in (0, len(_PARTS)):
        shown = f"{strange[0]} is 1" if strange else f"{missing[0]} is 0" if missing else f"only {parts[0]} is 1"
        raise BitstreamError(f"{what} does more than multiply 16 by 16 bits, which read-back does not support: {shown}")
    for number in range(2 * _WIDTH):
        _require_led_out(site, number, wiring, table, what)

    def pin(name: str, default: Signal | None) -> Signal:
        place, where = site.pins[name]
        return at(place, where, default, f"{name} of {what}")

    stages = [bool(parts), _SUM in on]
    clocked = any(stages) or not on.isdisjoint(("A_REG", "B_REG"))
    for name in _STILL if clocked else ():
        if pin(name, _LOW_OF_MULTIPLIERS) != _LOW_OF_MULTIPLIERS:
            raise BitstreamError(f"{name} of {what} is driven, and its function is not known")
    place, _ = site.pins["CLK"]
    if clocked and wiring.bit(place, "NegClk"):
        raise BitstreamError(f"{what} is clocked by falling edges, which is not supported")
    return Multiplier(
        site.place,
        f"mac_{x}_{y}",
        a=tuple(pin(f"A_{bit}", _LOW_OF_MULTIPLIERS) for bit in range(_WIDTH)),
        b=tuple(pin(f"B_{bit}", _LOW_OF_MULTIPLIERS) for bit in range(_WIDTH)),
        signed=("A_SIGNED" in on, "B_SIGNED" in on),
        registers=("A_REG" in on, "B_REG" in on),
        stages=sum(stages),
        clock=pin("CLK", None) if clocked else _LOW_OF_MULTIPLIERS,
        enable=pin("CE", _HIGH_OF_MULTIPLIERS) if clocked else _HIGH_OF_MULTIPLIERS,
    )


def _require_led_out(site: Site, number: int, wiring: Wiring, table: tuple[int, ...], what: str) -> None:
    """Raise ``InputError`` unless output ``number`` passes unchanged through the cell by which it leaves its tile."""
    place, _ = site.pins[f"O_{number}"]
    cell = number % 8
    through = all(wiring.bit(place, f"LC_{cell}[{bit}]") == one for bit, one in zip(table, _THROUGH, strict=True))
    others = any(wiring.bit(place, f"LC_{cell}[{bit}]") for bit in range(20) if bit not in table)
    if not through or others or not wiring.bit(place, _LEADS.format(place[1] - site.place[1], cell)):
        raise BitstreamError(f"output {number} of {what} is changed in tile {place}, which read-back does not support")


# Find the drivers of nets: the switches that a bitstream closes, and the columns that global networks reach.
#
# A switch drives in one direction. A net with two drivers is a short circuit; its value is unknown.


@dataclass(frozen=True)
class Wiring:
    """The wiring of a configuration. ``closed``: for each net, the tiles and the driving nets of its closed switches.

    ``set``: the functions that are configured in each tile, by name; those of cells are single bits.
    """

    chip: Chip
    configuration: Configuration
    closed: Mapping[int, tuple[tuple[Place, int], ...]]
    set: Mapping[Place, frozenset[str]]

    def bit(self, place: Place, name: str) -> bool:
        """Return True if ``name`` is configured in the tile ``place``."""
        return name in self.set.get(place, ())

    def source(self, net: int) -> tuple[Place, int] | None:
        """Return the tile of the switch that drives ``net``, and the net at its other end; None if no switch drives it.

        Raises ``InputError`` if several switches drive ``net``, and if a global network does not reach the tile.
        """
        drivers = self.closed.get(net, ())
        if len(drivers) > 1:
            places = ", ".join(f"({x} {y})" for (x, y), _ in drivers)
            raise BitstreamError(
                f"short circuit in the bitstream: {len(drivers)} switches in tiles {places} drive one net"
            )
        if not drivers:
            return None
        place, source = drivers[0]
        number = self.chip.globals.get(source)
        if number is not None:
            buffer = self.chip.column_buffers.get(place)
            if buffer is None or not self.bit(buffer, f"ColBufCtrl.glb_netwk_{number}"):
                raise BitstreamError(
                    f"tile ({place[0]} {place[1]}) reads global network {number}, but the buffer that brings it to "
                    "its column is off"
                )
        return place, source


def read_wiring(chip: Chip, configuration: Configuration) -> Wiring:
    """Find all closed switches, and name all other bits. Raises ``InputError`` for bits with an unknown function."""
    unread: dict[Place, set[Bit]] = {place: set(bits) for place, bits in configuration.bits.items()}
    closed: dict[int, list[tuple[Place, int]]] = {}
    for switch in chip.switches(configuration.bits):
        ones = configuration.bits[switch.place]
        pattern = "".join("1" if bit in ones else "0" for bit in switch.bits)
        if "1" not in pattern:
            continue
        if pattern not in switch.sources:
            x, y = switch.place
            raise BitstreamError(
                f"a switch of tile ({x} {y}) has bits {pattern}, which the chip database does not have"
            )
        closed.setdefault(switch.net, []).append((switch.place, switch.sources[pattern]))
        unread[switch.place].difference_update(switch.bits)
    functions = {kind: chip.functions(kind) for kind in set(configuration.kinds.values())}
    named: dict[Place, frozenset[str]] = {}
    for place, bits in unread.items():
        kind = configuration.kinds[place]
        names: set[str] = set()
        for name, wanted in functions[kind].items():
            there = bits.intersection(wanted)
            if name.startswith("LC_"):
                names.update(f"{name}[{wanted.index(bit)}]" for bit in there)
            elif len(there) == len(wanted):
                names.add(name)
            elif there:
                raise BitstreamError(
                    f"{name} of tile ({place[0]} {place[1]}) is partly set, which the chip database does not have"
                )
            bits.difference_update(wanted)
        if bits:
            row, column = min(bits)
            raise BitstreamError(
                f"bit B{row}[{column}] of tile ({place[0]} {place[1]}) is set, and its function is not known"
            )
        named[place] = frozenset(names)
    return Wiring(chip, configuration, {net: tuple(drivers) for net, drivers in closed.items()}, named)
