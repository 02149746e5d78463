"""Simulate a few clock edges with given pins in Icarus, and read a pin before the last edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.process import Session
from dais_verif.base.toolchain.rtl_files import copy_into
from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.simulation.simulators import icarus
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.simulators.simulator import BuildOptions

__all__ = ["replay_trace"]

_TOP, _RESULT = "dais_verif_play", "pin.txt"
_SECONDS = 120.0


def replay_trace(
    design: RtlDesign, interface: DesignInterface, steps: Sequence[Mapping[str, int]], pin: str, folder: Path
) -> str:
    """Return output ``pin`` before the last edge: ``0``, ``1``, ``x`` or ``z``. ``steps``: input pins before each edge.

    Inputs that a step does not name are 0. ``folder`` receives bench, build and log. Raises ``ToolError`` if Icarus is
    missing or fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bench = folder / "play.v"
    bench.write_text(_bench(design.top, interface, steps, pin), encoding="ascii")
    icarus.build([*design.sources, bench], _TOP, folder, BuildOptions(timeout=_SECONDS))
    copy_into(folder, design.data)
    command = [str(tools.icarus().vvp), "-n", icarus.OUTPUT]
    Session(folder / "play.log", cwd=folder.absolute(), timeout=_SECONDS).check("vvp", command)
    return (folder / _RESULT).read_text(encoding="ascii").strip()


def _bench(top: str, interface: DesignInterface, steps: Sequence[Mapping[str, int]], pin: str) -> str:
    assert interface.clocking is not None
    clock, pins = interface.clocking.clock, list(steps[0])
    widths = {wire.name: max(wire.width, 1) for wire in interface.inputs if wire.name == wire.port}
    fixed = [(name, width, 0) for name, width in widths.items() if name not in pins]
    fixed += [(name, max(value.bit_length(), 1), value) for name, value in interface.ties if name not in pins]
    ports = [f".\\{name} (\\{name} )" for name in (clock, *pins)]
    ports += [f".\\{name} ({width}'d{value})" for name, width, value in fixed]
    lines = [f"module {_TOP};", "  wire seen;", "  integer file;", f"  reg \\{clock} ;"]
    lines += [f"  reg [{widths.get(name, 1) - 1}:0] \\{name} ;" for name in pins]
    lines += [f"  \\{top} dut (.\\{pin} (seen), {', '.join(ports)});", "  initial begin"]
    for number, step in enumerate(steps):
        lines.append(f"    \\{clock} = 1'b0;")
        lines += [f"    \\{name} = {widths.get(name, 1)}'d{value};" for name, value in step.items()]
        lines.append("    #1;")
        if number < len(steps) - 1:
            lines += [f"    \\{clock} = 1'b1;", "    #1;"]
    lines += [f'    file = $fopen("{_RESULT}");', '    $fwrite(file, "%b\\n", seen);', "    $fclose(file);"]
    return "\n".join([*lines, "    $finish;", "  end", "endmodule", ""])
