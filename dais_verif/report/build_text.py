"""Build records as text."""

from __future__ import annotations

from rich.console import Console

from dais_verif.record.build import BuildRecord
from dais_verif.report.console import program_line

__all__ = ["print_build"]

_KINDS = {
    "ICESTORM_LC": "logic cells",
    "ICESTORM_RAM": "block RAMs",
    "ICESTORM_DSP": "DSPs",
    "ICESTORM_SPRAM": "single-port RAMs",
}


def print_build(record: BuildRecord, out: Console) -> None:
    """Print ``record`` as text for users."""
    timing = record.timing
    around = "bare" if record.wrap == "none" else f"behind a byte link ({record.wrap})"
    chosen = "chosen automatically" if record.pins_chosen else "as given"
    used = [f"{used} of {most} {_KINDS[name]}" for name, (used, most) in record.used.items() if used and name in _KINDS]
    lines = {
        "program": program_line(record.program),
        "device": f"{record.device}, seed {record.seed}",
        "tools": ", ".join(f"{name} {version}" for name, version in record.tools.items()),
        "rtl": f"module {record.top}, {around}",
        "pins": f"{len(record.pins)}, {chosen}",
        "used": ", ".join(used) or "nothing",
        "clock": _clock(record),
        "path": "none" if timing.path is None else f"{timing.path:.2f} ns, the longest in the bitstream, pins included",
        "bitstream": f"{record.folder}/model.bin, sha256 {record.files['model.bin']}",
    }
    for title, text in lines.items():
        out.print(f"{title:<11}{text}", markup=False)


def _clock(record: BuildRecord) -> str:
    timing = record.timing
    allowed = "any" if timing.allowed is None else f"up to {timing.allowed:.2f} MHz"
    if timing.required is None:
        return f"{allowed}; none was requested"
    return f"{allowed}; {timing.required:g} MHz requested"
