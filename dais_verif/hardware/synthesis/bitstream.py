"""Make a bitstream from a mapped netlist with nextpnr and icepack, and find the longest path of the bitstream.

All files that the tools read and write are in one folder. The verification of a bitstream does not rely on this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import BitstreamError, BitstreamFailure, ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.icetime import ICETIME_LOGS, path_delay
from dais_verif.base.toolchain.limits import Limits, Tell, run_limited
from dais_verif.hardware.synthesis.devices import DEVICES, Device, constraints_text
from dais_verif.hardware.synthesis.yosys import RTLIL, Synthesis

__all__ = ["BITSTREAM", "LOGS", "PINS", "PLACED", "Built", "Timing", "build_tools", "make_bitstream"]

BITSTREAM, PINS, PLACED = "model.bin", "pins.pcf", "placed.json"
_SCRIPT, _DESIGN, _TEXT, _PLACED, _REPORT = "pnr.ys", "design.json", "placed.asc", "nextpnr.json", "pnr.json"
_YOSYS_LOG, _PNR_LOG, _PACK_LOG = "netlist.log", "nextpnr.log", "icepack.log"
LOGS = (_YOSYS_LOG, _PNR_LOG, _PACK_LOG, *ICETIME_LOGS)

_USED = re.compile(r"^Info:\s+(\w+):\s+(\d+)/\s*(\d+)\s+\d+%$", re.MULTILINE)

#: The attributes of cells that are kept in ``PLACED``.
_KEPT = ("type", "parameters", "attributes", "connections")

#: Readable names of nextpnr's resources.
_WORDS = {
    "ICESTORM_LC": "logic cells",
    "ICESTORM_RAM": "block RAMs",
    "ICESTORM_DSP": "DSPs",
    "ICESTORM_SPRAM": "single-port RAMs",
    "SB_IO": "pins",
}


class Timing(NamedTuple):
    """The timing of a bitstream.

    ``registers``: the clock frequency that paths between registers allow, in MHz, by nextpnr. ``path``: the delay of
    the longest path in ns, by icetime, which reads only the bitstream and includes paths from and to pins. Each is None
    if there is no such path.
    """

    registers: float | None
    path: float | None


class Built(NamedTuple):
    """A finished bitstream. ``used``: resources of the device by nextpnr's names, as (used, available)."""

    used: dict[str, tuple[int, int]]
    timing: Timing


def build_tools() -> dict[str, str]:
    """Return the versions of the tools that bitstreams need. Raises ``ToolError`` if one is missing."""
    for name in ("icepack", "iceunpack", "icetime"):
        tools.icestorm(name)
    for device in DEVICES.values():
        tools.icestorm_chip(device.chip)
    return {"yosys": tools.yosys().version, "nextpnr": tools.nextpnr_version("ice40")}


def make_bitstream(
    done: Synthesis,
    device: str,
    pins: Mapping[str, str],
    limits: Limits,
    *,
    seed: int = 1,
    megahertz: float = 12.0,
    tell: Tell = lambda step: None,
) -> Built:
    """Place, route and pack the netlist of ``done``; writes ``BITSTREAM``, ``PINS`` and ``PLACED`` into its folder.

    ``pins``: the pin of each bit of a port. ``megahertz``: nextpnr's target frequency. The same input gives the same
    bitstream. Raises ``InputError`` with the missing resources if the design does not fit, and ``ToolError`` if a tool
    fails.
    """
    chosen, folder = DEVICES[device], done.folder
    (folder / PINS).write_text(constraints_text(pins), encoding="ascii")
    cells = "read_verilog -D ICE40_HX -lib +/ice40/cells_sim.v"
    lines = [cells, f"read_rtlil {RTLIL}", f"hierarchy -top {done.top}", "blackbox =A:whitebox"]
    (folder / _SCRIPT).write_text("\n".join([*lines, f"write_json {_DESIGN}", ""]), encoding="utf-8")
    run_limited("yosys", [str(tools.yosys().yosys), "-s", _SCRIPT], folder / _YOSYS_LOG, limits, made=[_DESIGN])
    tell("place and route")
    used = _place(chosen, folder, limits, seed, megahertz)
    tell("pack")
    pack = [str(tools.icestorm("icepack")), _TEXT, BITSTREAM]
    run_limited("icepack", pack, folder / _PACK_LOG, limits, made=[BITSTREAM])
    _write_places(folder)
    path = path_delay(folder / BITSTREAM, device, limits)
    return Built(used, Timing(_registers(folder / _REPORT), path))


def _place(device: Device, folder: Path, limits: Limits, seed: int, megahertz: float) -> dict[str, tuple[int, int]]:
    found = tools.nextpnr(device.family)
    options = [f"--{device.part}", "--package", device.package, "--json", _DESIGN, "--pcf", PINS, "--asc", _TEXT]
    options += ["--write", _PLACED, "--seed", str(seed), "--freq", f"{megahertz:g}", "--report", _REPORT]
    options += ["--timing-allow-fail"]
    try:
        made = (_TEXT, _PLACED, _REPORT)
        run_limited(found.name, [str(found), *options], folder / _PNR_LOG, limits, made=made)
    except ToolError as error:
        used = _used(folder / _PNR_LOG)
        over = [
            f"{n} {_WORDS.get(name, name)} of {most}: {n - most} too many"
            for name, (n, most) in used.items()
            if n > most
        ]
        if over:
            raise BitstreamError(
                f"the design does not fit into {device.title}: it needs {', '.join(over)}; choose a larger device, or a"
                " smaller program"
            ) from None
        raise error
    return _used(folder / _PNR_LOG)


def _write_places(folder: Path) -> None:
    """Write the cells of nextpnr's result, with types, places and connections, and the names of nets they drive."""
    try:
        modules = json.loads((folder / _PLACED).read_bytes())["modules"]
        for module in modules.values():
            module["cells"] = {name: {part: cell[part] for part in _KEPT} for name, cell in module["cells"].items()}
            driven = {bit for cell in module["cells"].values() for bit in cell["connections"].get("O", ())}
            nets = {name: {"bits": net["bits"]} for name, net in module["netnames"].items()}
            module["netnames"] = {name: net for name, net in nets.items() if driven.issuperset(net["bits"])}
            module.pop("settings", None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BitstreamFailure(f"what nextpnr wrote into {_PLACED} cannot be used: {error}") from None
    (folder / PLACED).write_text(json.dumps({"modules": modules}, separators=(",", ":")), encoding="utf-8")


def _used(log: Path) -> dict[str, tuple[int, int]]:
    """Return the resources that nextpnr's log lists first, before placement."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, tuple[int, int]] = {}
    for name, used, most in _USED.findall(text):
        found.setdefault(name, (int(used), int(most)))
    return found


def _registers(report: Path) -> float | None:
    try:
        clocks = json.loads(report.read_bytes())["fmax"]
        return min((float(clock["achieved"]) for clock in clocks.values()), default=None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BitstreamFailure(
            f"nextpnr's report {report} cannot be used ({error}); it must be version 0.4 or newer"
        ) from None
