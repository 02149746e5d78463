"""Estimate the clock frequency that a netlist allows: nextpnr places and routes it between our own registers.

A core has more ports than a device has pins, and paths from pin to pin are not significant. Therefore the core is put
into a harness with three pins: a shift register drives its inputs, and registers sample its outputs, which a second
shift register folds into one pin.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import BitstreamError, BitstreamFailure
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, Tell, run_limited
from dais_verif.hardware.synthesis.targets import TARGETS
from dais_verif.hardware.synthesis.yosys import RTLIL, STEP, Synthesis

__all__ = ["Placed", "Port", "harness", "netlist_ports", "place"]

_PORT = re.compile(r"^  wire (?:width (\d+) )?(?:upto |offset \d+ |signed )*(input|output|inout) (\d+) \\(\S+)$")
_HARNESS, _SCRIPT, _LOG, _DESIGN, _REPORT, _PNR_LOG = (
    "harness.v",
    "harness.ys",
    "harness.log",
    "harness.json",
    "pnr.json",
    "nextpnr.log",
)
_SEED = 1


class Port(NamedTuple):
    """A port of a netlist. ``width``: in bits."""

    name: str
    direction: str
    width: int


class Placed(NamedTuple):
    """The result of nextpnr. ``fmax``: the maximum clock frequency, in MHz.

    ``used``: resources of the device by nextpnr's names, as (used, available), including those of the harness.
    """

    device: str
    fmax: float
    used: dict[str, tuple[int, int]]
    seconds: float


def place(done: Synthesis, clock: str, limits: Limits, *, tell: Tell = lambda step: None) -> Placed:
    """Place and route the netlist of ``done``. ``clock``: the name of its clock port, if it has one.

    Raises ``ToolError`` if nextpnr is missing, fails or exceeds a limit; ``InputError`` for a target that nextpnr
    cannot place.
    """
    target, folder, begun = TARGETS[done.target], done.folder, time.monotonic()
    if target.board is None:
        able = ", ".join(name for name, other in TARGETS.items() if other.board)
        raise BitstreamError.of(
            "no free tool places and routes {target}: {pnr} supports {able}", target=done.target, able=able
        )
    found = tools.nextpnr(target.board.family)
    ports = netlist_ports(folder / RTLIL, done.top)
    (folder / _HARNESS).write_text(harness(done.top, ports, clock), encoding="utf-8")
    lines = [
        f"read_verilog {_HARNESS}",
        *(command.format(top=f"{done.top}_harness", flags="") for command in target.after),
        # Up to here, the empty module replaces the netlist; it must be removed before the netlist is read.
        f"delete {done.top}",
        f"read_rtlil {RTLIL}",
        f"hierarchy -top {done.top}_harness",
        "flatten",
        "opt_clean -purge",
        "blackbox =A:whitebox",
        f"write_json {_DESIGN}",
    ]
    (folder / _SCRIPT).write_text("\n".join([*lines, ""]), encoding="utf-8")
    yosys = [str(tools.yosys().yosys), "-s", _SCRIPT]
    run_limited("yosys", yosys, folder / _LOG, limits, step=STEP, tell=tell, made=[_DESIGN])
    tell(found.name)
    command = [str(found), *target.board.options, "--json", _DESIGN, "--report", _REPORT, "--seed", str(_SEED)]
    run_limited(found.name, [*command, "--timing-allow-fail"], folder / _PNR_LOG, limits, made=[_REPORT])
    fmax, used = _read(folder / _REPORT)
    return Placed(target.board.device, fmax, used, time.monotonic() - begun)


def netlist_ports(rtlil: Path, top: str) -> list[Port]:
    """Return the ports of module ``top`` in ``rtlil``, a netlist written by ``write_rtlil``."""
    ports: list[tuple[int, Port]] = []
    inside = False
    with rtlil.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("module "):
                inside = line.rstrip() == f"module \\{top}"
            elif inside and (found := _PORT.match(line)):
                ports.append((int(found[3]), Port(found[4], found[2], int(found[1] or 1))))
    return [port for _, port in sorted(ports)]


def harness(top: str, ports: Sequence[Port], clock: str) -> str:
    """Return the Verilog of the harness ``{top}_harness``, and of an empty module ``top`` instead of the netlist.

    Raises ``InputError`` unless there are inputs and outputs, and no inout ports.
    """
    driven = [port for port in ports if port.direction == "input" and port.name != clock]
    seen = [port for port in ports if port.direction == "output"]
    if not driven or not seen or len(driven) + len(seen) < len(ports) - (clock in (port.name for port in ports)):
        raise BitstreamError(
            f"module {top} cannot be placed: it needs inputs and outputs, and must not have inout ports"
        )
    inputs, outputs = (sum(port.width for port in some) for some in (driven, seen))
    declared = ", ".join(f"{port.direction} [{port.width - 1}:0] \\{port.name} " for port in ports)
    connections = [f".\\{clock} (clk)"] if any(port.name == clock for port in ports) else []
    for vector, some in (("drive", driven), ("found", seen)):
        position = 0
        for port in some:
            connections.append(f".\\{port.name} ({vector}[{position + port.width - 1}:{position}])")
            position += port.width
    return f"""\
(* blackbox *)
module {top} ({declared});
endmodule
module {top}_harness (input clk, input si, output so);
  reg [{inputs - 1}:0] drive;
  wire [{outputs - 1}:0] found;
  reg [{outputs - 1}:0] seen, folded;
  {top} core ({", ".join(connections)});
  always @(posedge clk) begin
    drive <= {{drive, si}};
    seen <= found;
    folded <= {{folded, si}} ^ seen;
  end
  assign so = folded[{outputs - 1}];
endmodule
"""


def _read(path: Path) -> tuple[float, dict[str, tuple[int, int]]]:
    try:
        report = json.loads(path.read_bytes())
        fmax = min(float(clock["achieved"]) for clock in report["fmax"].values())
        used = {name: (int(of["used"]), int(of["available"])) for name, of in report["utilization"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BitstreamFailure(f"{path} does not hold a report of nextpnr that this version understands") from error
    return fmax, {name: numbers for name, numbers in used.items() if numbers[0]}
