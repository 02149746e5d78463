"""Flip single bits of five bitstreams: each flip is found, proved to be without effect, or refused.

    PYTHONPATH=tests python -m prove.bitstream_flips.campaign -o build/bitstream-flips.jsonl --flips 1000

This command resumes an earlier campaign from its output file, and writes a table beside it. A flip that is proved to
be without effect is read a second time, by ``icebox_vlog``, and simulated beside the original design. The campaign
fails if that simulation shows a difference: a wrong PASS. ``--design lookup_square_fifo`` is a board design with
bridge and FIFO; there, a flip that is proved is tested by running vectors over the link.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prove.bitstream_flips.second_route import SecondRoute, Unread
from support.bitstreams import DESIGNS, FIFO, Stored, chip_of, stored, turned_over

import dais_verif
from dais_verif.base.errors import DaisError
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.bitstream.configuration import Bit, Place, parse_configuration
from dais_verif.hardware.bitstream.verilog import write_verilog

__all__ = ["Judge", "drawn", "table"]

#: Rows and columns of a tile.
_ROWS = 16
_COLUMNS = {"logic": 54, "io": 18, "ramb": 42, "ramt": 42}
#: Where bits are flipped, in rotation: anywhere on the device, in a tile that the design uses, at a bit that is set
#: in such a tile, and twice in a logic cell of the design.
_TURNS = ("anywhere", "used", "set", "cell", "cell")

#: The possible outcomes of a flip, in the order of the table.
OUTCOMES = ("refuted", "same logic", "proved", "refused", "undecided", "unconfirmed", "ESCAPED")


class Driven:
    """Compare a board that is given as a bitstream with the program, by frames over its link."""

    def __init__(self, design: Stored, folder: Path) -> None:
        self._design, self._folder = design, folder

    def difference(self, text: str) -> str:
        """Return how the board with the configuration ``text`` fails, or an empty string if it does not fail."""
        bitstream, pins = self._folder / "driven.bin", self._design.pins
        packed = subprocess.run([tools.icestorm("icepack")], input=text.encode(), capture_output=True, check=True)
        bitstream.write_bytes(packed.stdout)
        target = f"sim://bitstream?file={bitstream}&pins={pins}&device={self._design.device}"
        record = dais_verif.run_on_board(self._design.program, target, vectors=1000)
        return "" if record.verdict is Verdict.PASS else f"{record.verdict.name}: {record.message}"


class Judge:
    """Decide the outcome of a flipped bit in the bitstream of one design."""

    def __init__(self, design: Stored, folder: Path) -> None:
        self.design, self._folder = design, folder
        configuration = stored(design.name, folder)
        self.text = (folder / "tools" / "unpacked.asc").read_text()
        self.logic = logic = design.read(configuration)
        self._original = write_verilog(logic, "model")
        self.board = bool(logic.rams)
        self.second = Driven(design, folder) if self.board else SecondRoute(logic, design.pins, folder / "second")
        self.kinds, self.ones = configuration.kinds, configuration.bits
        self.used = sorted(logic.used)
        #: Each cell whose table or carry is used, with the bits that configure it.
        self.cells = [
            ((cell.x, cell.y), chip_of(configuration.device).functions("logic")[f"LC_{cell.number}"])
            for cell in sorted({one.cell for one in (*logic.luts, *logic.carries)})
        ]

    def __call__(self, place: Place, bit: Bit) -> tuple[str, str]:
        """Return the outcome and its message."""
        text = turned_over(self.text, place, bit)
        try:
            verilog = write_verilog(self.design.read(parse_configuration(text)), "model")
        except DaisError as error:
            return "refused", str(error)
        if verilog == self._original:
            return self._confirmed("same logic", text)
        (self._folder / "flipped.asc").write_text(text)
        subprocess.run([tools.icestorm("icepack"), "flipped.asc", "flipped.bin"], cwd=self._folder, check=True)
        try:
            record = dais_verif.prove(
                self.design.program,
                bitstream=self._folder / "flipped.bin",
                pins=self.design.pins,
                device=self.design.device,
                **self.design.arguments,
                confirm=self.board,
                simulators="icarus",
                jobs=1,
            )
        except DaisError as error:
            return "refused", str(error)
        if record.verdict is Verdict.PASS:
            return self._confirmed("proved", text)
        found = record.verdict in (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT)
        return "refuted" if found else "undecided", f"{record.verdict.name}: {record.message}"

    def _confirmed(self, outcome: str, text: str) -> tuple[str, str]:
        try:
            difference = self.second.difference(text)
        except Unread as error:
            return "unconfirmed", f"{outcome}: {error}"
        return ("ESCAPED", f"{outcome}: {difference}") if difference else (outcome, "")


def drawn(judge: Judge, seed: int) -> Iterator[tuple[Place, Bit]]:
    """Yield flips of one design without repetition, most of them in tiles that the design uses."""
    rng, seen = random.Random(f"{seed} {judge.design.name}"), set()
    every = sorted(place for place, kind in judge.kinds.items() if kind in _COLUMNS)
    used = [place for place in judge.used if judge.kinds[place] in _COLUMNS]
    for number in range(1_000_000):
        turn = _TURNS[number % len(_TURNS)]
        place = rng.choice(every if turn == "anywhere" else used)
        bit = rng.randrange(_ROWS), rng.randrange(_COLUMNS[judge.kinds[place]])
        if turn == "set" and place in judge.ones:
            bit = rng.choice(sorted(judge.ones[place]))
        elif turn == "cell":
            place, bits = rng.choice(judge.cells)
            bit = rng.choice(bits)
        if (place, bit) not in seen:
            seen.add((place, bit))
            yield place, bit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--design", choices=(*DESIGNS, FIFO.name), action="append", help="these alone")
    asked = parser.parse_args()
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in asked.output.read_text().splitlines()] if asked.output.exists() else []
    known = {(row["design"], tuple(row["place"]), tuple(row["bit"])) for row in done}
    share = asked.flips // len(asked.design or DESIGNS)
    with tempfile.TemporaryDirectory() as folder, asked.output.open("a") as file:
        for name in asked.design or DESIGNS:
            path = Path(folder) / name
            path.mkdir()
            judge = Judge({**DESIGNS, FIFO.name: FIFO}[name], path)
            for _, (place, bit) in zip(range(share), drawn(judge, asked.seed), strict=False):
                if (name, place, bit) in known:
                    continue
                outcome, said = judge(place, bit)
                row = {"design": name, "place": place, "bit": bit, "kind": judge.kinds[place]}
                done.append({**row, "outcome": outcome, "said": said})
                file.write(json.dumps(done[-1]) + "\n")
                file.flush()
    text = table(done)
    asked.output.with_suffix(".md").write_text(text)
    print(text)
    return int(any(row["outcome"] == "ESCAPED" for row in done))


def table(done: list[dict[str, Any]]) -> str:
    """Return a table of the number of flips per design and outcome."""
    lines = [f"| design | flips | {' | '.join(OUTCOMES)} |", "|---" + "|---:" * (1 + len(OUTCOMES)) + "|"]
    for name in (*dict.fromkeys(row["design"] for row in done), "all"):
        mine = Counter(row["outcome"] for row in done if name in ("all", row["design"]))
        lines.append(f"| {name} | {mine.total()} | {' | '.join(str(mine[one]) for one in OUTCOMES)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    raise SystemExit(main())
