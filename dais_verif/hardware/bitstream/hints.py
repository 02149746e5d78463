"""Read nextpnr's report of the position of each register, to name the registers of a bitstream, which holds no names.

A hint only names a register, and says nothing about its function. Names suggest which registers correspond; a proof
decides whether they do.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dais_verif.base.errors import BitstreamError
from dais_verif.base.files import read_plain
from dais_verif.hardware.bitstream.logic import Cell, ReadBack, Register, Signal

__all__ = ["read_hints", "with_names"]

_MOST = 1 << 28
_PLACE = re.compile(r"X(\d{1,4})/Y(\d{1,4})/lc([0-7])", re.ASCII)
#: Names of a bit of a register: ``total[3]``, ``core.stage2_x[0]``. Other names, such as those of tools, are ignored.
_NAME = re.compile(r"[A-Za-z_][\w.]{0,250}(\[\d{1,6}\]){0,2}", re.ASCII)
#: The suffix that nextpnr adds to the name of a net that drives a pad.
_PAD = "$SB_IO_OUT"


def read_hints(path: Path) -> dict[Cell, str]:
    """Return names of nets by the logic cell that drives each, from the JSON of ``nextpnr-ice40 --write``.

    Raises ``InputError`` if the file ``path`` is not such a report.
    """
    try:
        tree = json.loads(read_plain(path, _MOST, "hints"))
        (module,) = tree["modules"].values()
        nets = {bit: name for name, net in module["netnames"].items() for bit in net["bits"] if len(net["bits"]) == 1}
        found: dict[Cell, str] = {}
        for cell in module["cells"].values():
            place = _PLACE.fullmatch(cell["attributes"].get("NEXTPNR_BEL", ""))
            if place is not None and (driven := cell["connections"].get("O")):
                name = nets.get(driven[0], "").removesuffix(_PAD)
                if _NAME.fullmatch(name):
                    found[Cell(*map(int, place.groups()))] = name
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        raise BitstreamError(f"{str(path)!r} is not what `nextpnr-ice40 --write` writes; give that file") from None
    return found


def with_names(logic: ReadBack, hints: Mapping[Cell, str]) -> ReadBack:
    """Return ``logic`` with the names of registers in ``hints``.

    A name is not used if two registers would have it, or if it is the name of a cell, a port, or a bit of a port.
    """
    ports = {bit.name for bit in (*logic.inputs, *logic.outputs)}
    wanted = {one.name: hints[one.cell] for one in logic.registers if one.cell in hints}
    often = Counter(wanted.values())
    kinds = (logic.luts, logic.carries, logic.registers, logic.rams, logic.multipliers)
    taken = {one.name for cells in kinds for one in cells}
    # An escaped name ends with a space.
    names = {
        old: f"\\{new} "
        for old, new in wanted.items()
        if often[new] == 1 and new not in taken and new.partition("[")[0] not in ports
    }

    def named(signal: Signal) -> Signal:
        return names.get(signal, signal)

    def register(one: Register) -> Register:
        return one._replace(
            name=named(one.name),
            data=named(one.data),
            clock=named(one.clock),
            enable=named(one.enable),
            reset=named(one.reset),
        )

    return replace(
        logic,
        driven={bit: named(signal) for bit, signal in logic.driven.items()},
        luts=tuple(one._replace(inputs=_four(tuple(map(named, one.inputs)))) for one in logic.luts),
        carries=tuple(one._replace(inputs=_three(tuple(map(named, one.inputs)))) for one in logic.carries),
        registers=tuple(map(register, logic.registers)),
        rams=tuple(
            one._replace(pins={pin: tuple(map(named, bits)) for pin, bits in one.pins.items()}) for one in logic.rams
        ),
        multipliers=tuple(
            one._replace(
                a=tuple(map(named, one.a)),
                b=tuple(map(named, one.b)),
                clock=named(one.clock),
                enable=named(one.enable),
            )
            for one in logic.multipliers
        ),
    )


def _four(signals: tuple[Signal, ...]) -> tuple[Signal, Signal, Signal, Signal]:
    one, two, three, four = signals
    return one, two, three, four


def _three(signals: tuple[Signal, ...]) -> tuple[Signal, Signal, Signal]:
    one, two, three = signals
    return one, two, three
