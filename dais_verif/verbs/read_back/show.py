"""The resources of a bitstream: cells, carries, registers, block RAMs, and their positions."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import BitstreamError, InputError
from dais_verif.base.files import read_plain
from dais_verif.base.temporary import temporary_folder
from dais_verif.hardware.bitstream.recognition import is_bitstream
from dais_verif.record.floor_plan import CELLS, FloorPlan, TileUse
from dais_verif.subject.given import AnyProgram

if TYPE_CHECKING:
    from dais_verif.hardware.bitstream.logic import ReadBack

__all__ = ["find_floor_plan", "floor_plan_of"]

#: File names as written by a build next to a bitstream.
_PINS, _RECORD = "pins.pcf", "build.json"


def find_floor_plan(program: AnyProgram) -> FloorPlan | None:
    """Return the floor plan of a bitstream, such as ``model.bin``; None if ``program`` is not a bitstream.

    Its pins are in ``pins.pcf`` in the same folder, as written by ``build``; a ``build.json`` there may name the
    device, which only influences the picture. Raises ``InputError`` if the bitstream is not understood.
    """
    path = Path(program) if isinstance(program, str | Path) else None
    if path is None or not path.is_file() or not is_bitstream(path):
        return None
    pins = path.with_name(_PINS)
    if not pins.is_file():
        raise BitstreamError(
            f"{str(path)!r} is a bitstream, and a bitstream has no port names: {str(pins)!r} must give them"
        )

    from dais_verif.verbs.read_back.bitstreams import BitstreamFile, read_bitstream

    with temporary_folder() as folder:
        logic = read_bitstream(BitstreamFile(path, pins, _device(path)), folder.path)
    return floor_plan_of(logic, str(path))


def floor_plan_of(logic: ReadBack, path: str) -> FloorPlan:
    """Return the device resources that ``logic``, read from ``path``, uses."""
    cells = {*(lut.cell for lut in logic.luts), *(carry.cell for carry in logic.carries)}
    per_tile = Counter((cell.x, cell.y) for cell in cells)
    carries = Counter((one.cell.x, one.cell.y) for one in logic.carries)
    registers = Counter((one.cell.x, one.cell.y) for one in logic.registers)
    pads: dict[tuple[int, int], list[str]] = {}
    for bit, (x, y, _) in {**logic.inputs, **logic.outputs}.items():
        pads.setdefault((x, y), []).append(str(bit))
    rams = {place for ram in logic.rams for place in (ram.place, (ram.place[0], ram.place[1] + 1))}
    kinds = Counter(logic.kinds.values())
    tiles = [
        TileUse(
            x=place[0],
            y=place[1],
            kind=logic.kinds[place],
            cells=per_tile[place],
            carries=carries[place],
            registers=registers[place],
            pads=tuple(sorted(pads.get(place, ()))),
            ram=place in rams,
        )
        for place in sorted({*logic.used, *per_tile, *pads, *rams})
        if place in logic.kinds
    ]
    return FloorPlan(
        path=path,
        chip=logic.device,
        package=logic.package,
        columns=logic.size[0],
        rows=logic.size[1],
        cells=CELLS * kinds["logic"],
        block_rams=kinds["ramb"],
        luts=len(logic.luts),
        carries=len(logic.carries),
        registers=len(logic.registers),
        rams=len(logic.rams),
        multipliers=len(logic.multipliers),
        inputs=len(logic.inputs),
        outputs=len(logic.outputs),
        tiles=tuple(tiles),
    )


def _device(path: Path) -> str | None:
    from dais_verif.hardware.synthesis.devices import DEVICES

    with contextlib.suppress(InputError, ValueError, TypeError, KeyError):
        device = json.loads(read_plain(path.with_name(_RECORD), 1 << 24))["device"]
        return device if device in DEVICES else None
    return None
