"""Open the link to a board: a real one, or a simulated one, from RTL or from the logic read back from a bitstream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dais_verif.hardware.emitter.machines.board import BOARD_CYCLES
from dais_verif.record.program import BitstreamFacts
from dais_verif.simulation.boards.compare import BOARD
from dais_verif.simulation.boards.emulator import emulated_link, rtl_link
from dais_verif.simulation.boards.link import Link, Target, open_link
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.read_back.bitstreams import BitstreamFile, bitstream_board

__all__ = ["board_link"]


@contextmanager
def board_link(
    target: Target, model: Program | Machine, folder: Path, timeout: float, progress: Progress
) -> Iterator[tuple[Link, BitstreamFacts | None]]:
    """Yield the link to a board, and the facts of the bitstream if the board is simulated from one."""
    if target.scheme == "sim":
        progress.notice("building a board in simulation")
        cycles = BOARD_CYCLES if target.cycles is None else target.cycles
        if target.bitstream is not None:
            file, pins, device, clocks = target.bitstream
            given = BitstreamFile(Path(file), Path(pins), device)
            source, kind, facts = bitstream_board(given, "model", folder / BOARD)
            with rtl_link(model, [source], kind, folder / BOARD, clocks_per_bit=clocks, cycles=cycles) as link:
                yield link, facts
            return
        with emulated_link(model, target.place, folder / BOARD, cycles) as link:
            yield link, None
    else:
        with open_link(target, timeout) as link:
            yield link, None
