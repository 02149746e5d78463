"""Read a bitstream with third-party software: IceStorm's ``icebox_vlog``, simulated beside the original design."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from dais_verif.base.toolchain import tools
from dais_verif.hardware.bitstream.logic import ReadBack
from dais_verif.hardware.bitstream.pins_file import PortBit
from dais_verif.hardware.bitstream.verilog import write_verilog

__all__ = ["SecondRoute", "Unread"]

#: Number of clock edges, or of vectors for a design without a clock.
_STEPS = 2000


class Unread(Exception):
    """The second reading is not possible."""


class SecondRoute:
    """Compare ``icebox_vlog``'s reading of other bitstreams with ``original``, which is proved.

    A design with a clock may also have ``rst`` and ``out_valid``; outputs are compared where ``out_valid`` is 1.
    """

    def __init__(self, original: ReadBack, pins: Path, folder: Path) -> None:
        self._pins, self._folder, self._package = pins, folder, original.package
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "original.v").write_text(write_verilog(original, "original"))
        inputs, outputs = _widths(original.inputs), _widths(original.outputs)
        (folder / "bench.v").write_text(_bench(inputs, outputs, bool(original.registers)))

    def difference(self, text: str) -> str:
        """Return where the configuration ``text`` differs from the original, or an empty string if it does not.

        Raises ``Unread`` if ``icebox_vlog`` or Icarus refuses it.
        """
        (self._folder / "flipped.asc").write_text(text)
        read = subprocess.run(
            [tools.icestorm("icebox_vlog"), "-s", "-c", "-d", self._package, "-p", self._pins, "flipped.asc"],
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if read.returncode:
            raise Unread(f"icebox_vlog refuses it: {read.stderr.strip().splitlines()[-1:]}")
        # ``icebox_vlog`` declares a pad that drives and is also read as an ``inout`` vector, which Icarus rejects.
        text = re.sub(r"\binout\b", "output", read.stdout)
        text = re.sub(r"tran\((\S+ \[\d+\]), (\S+ )\);", r"assign \1 = \2;", text)
        (self._folder / "flipped.v").write_text(text)
        found = tools.icarus()
        built = subprocess.run(
            [found.iverilog, "-g2005-sv", "-o", "bench.vvp", "bench.v", "original.v", "flipped.v"],
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode:
            raise Unread(f"icarus refuses what icebox_vlog wrote: {built.stderr.strip()[:200]}")
        ran = subprocess.run(
            [found.vvp, "bench.vvp"], cwd=self._folder, capture_output=True, text=True, check=True, timeout=120
        )
        lines = ran.stdout.split()
        return "" if lines[:1] == ["EQUAL"] else ran.stdout.strip()[:200]


def _widths(bits: Mapping[PortBit, object]) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for bit in bits:
        found[bit.name] = None if bit.place is None else max(found.get(bit.name) or 0, bit.place + 1)
    return found


def _bench(inputs: Mapping[str, int | None], outputs: Mapping[str, int | None], clocked: bool) -> str:
    rng = random.Random(1)
    driven = {name: width or 1 for name, width in inputs.items() if name != "clk"}
    wires = [f"  reg [{width - 1}:0] {name} = 0;" for name, width in driven.items()]
    wires += ["  reg clk = 0;"] if clocked else []
    for name, width in outputs.items():
        wires += [f"  wire [{(width or 1) - 1}:0] {name}_a, {name}_b;"]
    joined = [f".{name}({name})" for name in inputs]
    one, two = (", ".join([*joined, *(f".{name}({name}_{which})" for name in outputs)]) for which in "ab")
    counts = "out_valid_a === 1'b1" if "out_valid" in outputs else "1"
    differ = [f"(({counts}) && {name}_a !== {name}_b)" for name in outputs if name != "out_valid"]
    differ += ["(out_valid_a !== out_valid_b)"] if "out_valid" in outputs else []
    draw = [f"      {name} = {{{', '.join(['$urandom(seed)'] * -(-width // 32))}}};" for name, width in driven.items()]
    draw += ["      rst = ($urandom(seed) % 50) == 0;"] if "rst" in driven else []
    draw += ["      en = ($urandom(seed) % 5) != 0;"] if "en" in driven else []
    edge = ["      #1 clk = 1; #1 clk = 0;"] if clocked else []
    return "\n".join(
        [
            "module bench;",
            *wires,
            f"  integer seed = {rng.getrandbits(30)}, i;",
            f"  original a ({one});",
            f"  chip b ({two});",
            "  initial begin",
            f"    for (i = 0; i < {_STEPS}; i = i + 1) begin",
            *draw,
            *edge,
            "      #1;",
            f"      if ({' || '.join(differ)}) begin",
            '        $display("DIFFERENT in step %0d", i);',
            "        $finish;",
            "      end",
            "    end",
            '    $display("EQUAL");',
            "  end",
            "endmodule",
            "",
        ]
    )
