"""Run icetime, which computes delays in an iCE40 bitstream from the bitstream alone."""

from __future__ import annotations

import re
from pathlib import Path

from dais_verif.base.errors import SimulatorError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, run_limited

__all__ = ["DEVICE", "ICETIME_LOGS", "part_of", "path_delay"]

_UNPACK_LOG, _LOG = ICETIME_LOGS = ("iceunpack.log", "icetime.log")
_UNPACKED = "unpacked.asc"

_DELAY = re.compile(r"^Total path delay: ([0-9.]+) ns", re.MULTILINE)
#: The name of a device: part, size and package.
DEVICE = re.compile(r"ice40-([a-z]+(\d)k)-([a-z]+\d+)$")


def part_of(device: str) -> tuple[str, str, str]:
    """Return part, package and chip of a device such as ``ice40-hx8k-ct256``. Raises ``InputError`` for other names."""
    found = DEVICE.match(device)
    if found is None:
        raise SimulatorError.of("{device} {value!r} is not known; must be like ice40-hx8k-ct256", value=device)
    return found[1], found[3], f"{found[2]}k"


def path_delay(bitstream: Path, device: str, limits: Limits) -> float | None:
    """Return the delay of the longest path in a bitstream in ns, including paths from and to pins; None without a path.

    Logs and temporary files are in the folder of the bitstream. Raises ``ToolError`` if a tool is missing or fails.
    """
    folder = bitstream.parent
    part, package, chip = part_of(device)
    unpack = [str(tools.icestorm("iceunpack")), bitstream.name, _UNPACKED]
    run_limited("iceunpack", unpack, folder / _UNPACK_LOG, limits, made=[_UNPACKED])
    words = ["-d", part, "-P", package, "-C", str(tools.icestorm_chip(chip)), "-m", "-t", _UNPACKED]
    run_limited("icetime", [str(tools.icestorm("icetime")), *words], folder / _LOG, limits)
    (folder / _UNPACKED).unlink(missing_ok=True)
    found = _DELAY.search((folder / _LOG).read_text(encoding="utf-8", errors="replace"))
    return float(found[1]) if found else None
