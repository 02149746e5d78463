"""Drive, read and compare many designs in one, all in parallel, each as if it were alone.

Runs in the simulator's process. Step k drives row k of every design; each design gets the same rows as when it runs
alone. Vectors take the paths of ``vectors``: the first ones through the ports, and all of them in bulk, if possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from cocotb.triggers import Timer

from dais_verif.hardware.ports.interface import DesignInterface, Wire
from dais_verif.simulation.scoreboard import Chunk, Scoreboard, words_of_text
from dais_verif.simulation.testbench.bulk import FILLINGS, Evaluator, evaluator
from dais_verif.simulation.testbench.job import Answer, Job, JointJob, Member
from dais_verif.simulation.testbench.packed_rows import WORD, Words, port_strings, row_words
from dais_verif.simulation.testbench.pins import PortHandles, problem_with
from dais_verif.simulation.testbench.vectors import SMOKE, problem_of

#: The number of rows of all designs that are in memory at once.
_BLOCK = 4096

JOB = JointJob


async def drive(dut: Any, asked: JointJob) -> tuple[list[Answer], str | None]:
    """Return the answer of each design, and why the test does not pass."""
    designs = [_Design(dut, member) for member in asked.members]
    able = [design for design in designs if design.problem is None]
    with ExitStack() as opened:
        # This must happen before simulated time passes.
        fillings = (0, *FILLINGS) if asked.bulk and able else ()
        instances = [opened.enter_context(evaluator(*_joint(able), filling=filling)) for filling in fillings]
        await _through_ports(able, SMOKE if asked.bulk else None)
        if instances:
            _in_bulk(able, instances)
    answers = [design.answer() for design in designs]
    wrong = [
        why for design, answer in zip(designs, answers, strict=True) if (why := problem_of(answer, design.job.rows))
    ]
    return answers, f"{len(wrong)} of {len(designs)} designs: {wrong[0]}" if wrong else None


class _Design:
    """One of the designs, with all its vectors."""

    def __init__(self, dut: Any, member: Member) -> None:
        self.job, self.interface = member.job, member.interface
        self._scoreboard = Scoreboard(member.job)
        self._seen: list[str] = []
        instance = getattr(dut, member.instance)
        self.problem = problem_with(instance, member.job.interface) or problem_with(dut, member.interface)
        self.chunks = [_chunk(member.job, number) for number in member.job.numbers]
        if self.problem is None and not self.chunks:
            self.problem = "there is no vector"
        if self.problem is None:
            self._pins = PortHandles(dut, member.interface)

    def rows(self, most: int | None) -> list[str]:
        """Return the rows to run through the ports: at most the first ``most``; None: all."""
        inputs = [chunk.inputs if most is None else chunk.inputs[:most] for chunk in self.chunks]
        return [row for part in (inputs if most is None else inputs[:1]) for row in self._strings(part)]

    def _strings(self, inputs: Words) -> list[str]:
        return port_strings(inputs, self.job.interface.input_bits)

    def write(self, row: str) -> None:
        """Drive one row."""
        self._pins.write(row)

    def read(self) -> None:
        """Keep the current output row of the design."""
        self._seen.append(self._pins.read())

    def compare(self, found: Words | None) -> None:
        """Compare all chunks: as read at the ports, or as ``found`` in bulk, which the ports must confirm."""
        if found is None:
            words, unknown = words_of_text(self._seen, self.job.interface.output_bits)
            self._compare_chunks(words, unknown, bulk=False)
            return
        seen, unknown = words_of_text(self._seen, self.job.interface.output_bits)
        differing = np.flatnonzero((seen != found[: len(seen)]).any(axis=1)).tolist() + list(unknown)
        if differing:
            self.problem = f"vector {min(differing)} gives different outputs through the ports and in bulk"
            return
        self._compare_chunks(found, {}, bulk=True)

    def _compare_chunks(self, found: Words, unknown: dict[int, str], *, bulk: bool) -> None:
        at = 0
        for chunk in self.chunks:
            its = {row - at: bits for row, bits in unknown.items() if at <= row < at + chunk.rows}
            self._scoreboard.compare(chunk, found[at : at + chunk.rows], its, bulk=bulk)
            at += chunk.rows

    def answer(self) -> Answer:
        """Return the results of the design."""
        if self.problem is not None:
            return Answer(port_error=f"the design does not fit the program: {self.problem}")
        return self._scoreboard.answer()


def _chunk(job: Job, number: int) -> Chunk:
    chunk = Chunk.wait(job, number)
    if chunk is None:
        raise ValueError(f"chunk {number} of {job.chunks} was not received")
    return chunk


async def _through_ports(designs: Sequence[_Design], most: int | None) -> None:
    """Run the rows of all designs in parallel through the ports; a design without further rows keeps its last one."""
    wait = Timer(1, unit="ns")
    rows = [design.rows(most) for design in designs]
    for number in range(max(map(len, rows), default=0)):
        live = [(design, its[number]) for design, its in zip(designs, rows, strict=True) if number < len(its)]
        for design, row in live:
            design.write(row)
        await wait
        for design, _ in live:
            design.read()
    if most is None:
        for design in designs:
            design.compare(None)


def _joint(designs: Sequence[_Design]) -> tuple[DesignInterface, int]:
    """Return the ports of all designs, each design aligned to a word, and the number of words of an output row."""
    inputs, _ = _placed([design.interface.inputs for design in designs])
    outputs, words = _placed([design.interface.outputs for design in designs])
    return DesignInterface(inputs, outputs), words


def _placed(groups: Sequence[Sequence[Wire]]) -> tuple[tuple[Wire, ...], int]:
    placed, word = [], 0
    for wires in groups:
        placed += [wire._replace(offset=word * WORD + wire.offset) for wire in wires]
        word += row_words(sum(wire.width for wire in wires))
    return tuple(placed), word


def _in_bulk(designs: Sequence[_Design], instances: Sequence[Evaluator]) -> None:
    """Run all rows of all designs in C++; the first ones must not depend on what is filled in for X."""
    evaluate, *filled_otherwise = instances
    inputs = [np.concatenate([chunk.inputs for chunk in design.chunks]) for design in designs]
    found = [
        np.zeros((len(rows), row_words(design.job.output_bits)), dtype="<u8")
        for design, rows in zip(designs, inputs, strict=True)
    ]
    for start in range(0, max(map(len, inputs)), _BLOCK):
        block = [rows[start : start + _BLOCK] for rows in inputs]
        wide = np.zeros((max(map(len, block)), sum(rows.shape[1] for rows in inputs)), dtype="<u8")
        _spread(wide, block)
        outputs = evaluate(wide, 0)
        _gather(found, start, outputs)
        if start == 0:
            others = [[rows.copy() for rows in found] for _ in filled_otherwise]
            for instance, its in zip(filled_otherwise, others, strict=True):
                _gather(its, start, instance(wide, 0))
            for number, design in enumerate(designs):
                if any((its[number] != found[number]).any() for its in others):
                    design.problem = "its outputs depend on what nothing drives"
    for design, words in zip(designs, found, strict=True):
        design.compare(words)


def _spread(wide: Words, block: Sequence[Words]) -> None:
    at = 0
    for rows in block:
        wide[: len(rows), at : at + rows.shape[1]] = rows
        at += rows.shape[1]


def _gather(found: Sequence[Words], start: int, wide: Words) -> None:
    at = 0
    for rows in found:
        its = rows[start : start + len(wide)]
        its[:] = wide[: len(its), at : at + rows.shape[1]]
        at += rows.shape[1]
