"""Read the multipliers of an iCE40 UltraPlus (SB_MAC16) that are configured to multiply 16 by 16 bits.

All other functions of such a block are refused by name: its adders, accumulators, two products of 8 bits, and registers
that are reset or held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dais_verif.bitstream.configuration import Place
from dais_verif.bitstream.logic import Multiplier, Signal
from dais_verif.bitstream.wiring import Wiring
from dais_verif.errors import BitstreamError

__all__ = ["Site", "read_multiplier", "sites"]

_LOW, _HIGH = "1'b0", "1'b1"
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
        if pin(name, _LOW) != _LOW:
            raise BitstreamError(f"{name} of {what} is driven, and its function is not known")
    place, _ = site.pins["CLK"]
    if clocked and wiring.bit(place, "NegClk"):
        raise BitstreamError(f"{what} is clocked by falling edges, which is not supported")
    return Multiplier(
        site.place,
        f"mac_{x}_{y}",
        a=tuple(pin(f"A_{bit}", _LOW) for bit in range(_WIDTH)),
        b=tuple(pin(f"B_{bit}", _LOW) for bit in range(_WIDTH)),
        signed=("A_SIGNED" in on, "B_SIGNED" in on),
        registers=("A_REG" in on, "B_REG" in on),
        stages=sum(stages),
        clock=pin("CLK", None) if clocked else _LOW,
        enable=pin("CE", _HIGH) if clocked else _HIGH,
    )


def _require_led_out(site: Site, number: int, wiring: Wiring, table: tuple[int, ...], what: str) -> None:
    """Raise ``InputError`` unless output ``number`` passes unchanged through the cell by which it leaves its tile."""
    place, _ = site.pins[f"O_{number}"]
    cell = number % 8
    through = all(wiring.bit(place, f"LC_{cell}[{bit}]") == one for bit, one in zip(table, _THROUGH, strict=True))
    others = any(wiring.bit(place, f"LC_{cell}[{bit}]") for bit in range(20) if bit not in table)
    if not through or others or not wiring.bit(place, _LEADS.format(place[1] - site.place[1], cell)):
        raise BitstreamError(f"output {number} of {what} is changed in tile {place}, which read-back does not support")
