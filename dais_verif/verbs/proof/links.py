"""Prove a bitstream with a link: it equals the RTL of core, wrapper and link, and the core equals the program.

Both parts are proved in one run. The logic is read back from the bitstream and its pins alone. The RTL that it is
compared with, in every cycle, is generated again from the program.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from dais_verif.base.errors import DaisError, ProofError, ToolError
from dais_verif.base.files import write_atomically
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.bitstream.hints import read_hints
from dais_verif.hardware.emitter.board import buffer_bits, clocks_per_bit
from dais_verif.prover.clocked.sequential.answer import Equivalence
from dais_verif.record.program import ProvedLink
from dais_verif.record.proof import ProofRecord
from dais_verif.simulation.boards.emulator import rtl_link
from dais_verif.simulation.boards.odd_requests import answer, unusual_requests
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.verbs.bitstream.build import build_design
from dais_verif.verbs.boards.run_on_board import BoardRequest, run_on_board
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.proof.replay import COUNTEREXAMPLE
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.read_back.bitstreams import (
    BitstreamFile,
    bitstream_board,
    bitstream_facts,
    link_of,
    read_bitstream,
)
from dais_verif.verbs.read_back.gates import bitstream_gates
from dais_verif.verbs.work_folder import work_folder

__all__ = ["core_request", "hints_of", "link_asked", "prove_link"]

#: The port of the clock of every board.
_CLOCK = "aclk"
#: The default clock period in ns, as in ``build``.
_PERIOD = 1000 / 12
#: Seconds for all solver calls; numbers of vectors for the simulated board, after a successful proof and otherwise.
_SECONDS, _VECTORS, _MORE_VECTORS = 900.0, 20, 200
#: Verdicts of a simulated board that mean wrong logic.
_WRONG = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT)
#: How many unusual requests, which no host sends, a board must answer like its RTL; fewer for a UART, which is slow.
_UNUSUAL = {"uart": 20, "spi": 100, "fifo": 100}
#: Seconds for an answer of the simulated RTL; for the bitstream, the least seconds, and a multiple of the time of the
#: RTL, since the bitstream takes longer to simulate, and the computer may be busy.
_RTL_PATIENCE, _PATIENCE, _SLOWER = 300.0, 60.0, 50.0
#: The largest number of hexadecimal digits in a message.
_LONGEST_SHOWN = 96


def link_asked(request: ProveRequest) -> str | None:
    """Return the kind of link of the bitstream of ``request``, by its pins; None: no link, or no bitstream.

    Raises ``InputError`` for options that conflict.
    """
    bitstream = request.design.bitstream
    kind = None if bitstream is None else link_of(bitstream)
    if kind is None and request.period is not None:
        raise ProofError.of("{period} is that of the clock of a bitstream behind a link")
    if kind is not None and (request.design.pins.given or request.design.ports):
        raise ProofError.of("a board behind a link has its own pins: no {clock}, {reset}, {latency} or {ports}")
    if kind is not None and request.dump_smt is not None:
        raise ProofError.of("{dump_smt} writes obligations of ops: prove the RTL of the core for that")
    return kind


def core_request(request: ProveRequest) -> ProveRequest:
    """Return the request for a proof of the core's RTL in the form that ``build`` writes."""
    options = request.design.pipeline
    options = None if options is None else replace(options, reset=False, enable=True, valid=False)
    return replace(request, design=DesignRequest(pipeline=options), period=None, output=None, command=request.command)


def hints_of(request: ProveRequest) -> dict[str, str]:
    """Return the register names that the hints of ``request`` propose, by the register names read back.

    Raises ``InputError`` if the file was not written by nextpnr.
    """
    bitstream = request.design.bitstream
    if bitstream is None or bitstream.hints is None:
        return {}
    names = read_hints(bitstream.hints)
    return {f"reg_{cell}": name if name.endswith("]") else f"{name}[0]" for cell, name in names.items()}


def prove_link(
    request: ProveRequest, kind: str, core: ProofRecord, hints: Mapping[str, str], progress: Progress
) -> tuple[ProofRecord, Path | None]:
    """Return the record of the core's proof with the proof of the bitstream, and the folder that was kept.

    PASS: both are proved, and a simulated board made of the bitstream gave the right outputs. RTL_MISMATCH and other
    verdicts for wrong RTL: the core or the simulated board is wrong. Otherwise UNKNOWN.
    """
    bitstream = request.design.bitstream
    assert bitstream is not None
    program, _ = read_program(request.program, request.layout, progress)
    period = _PERIOD if request.period is None else request.period
    facts, begun = bitstream_facts(bitstream), time.monotonic()
    with work_folder(request.output, COUNTEREXAMPLE) as folder:
        with progress.working("proving the bitstream") as tell:
            found, sources = _equal(request, program, kind, bitstream, hints, period, folder.path, tell)
        seconds = round(time.monotonic() - begun, 3)
        board = _board(request, bitstream, period, found.proved, folder.path, progress) if request.confirm else None
        if board is not None and board[0] not in _WRONG:
            board = _answers(request, program, kind, bitstream, sources, period, folder.path, progress) or board
        if bitstream_facts(bitstream) != facts:
            raise ProofError(f"{str(bitstream.path)!r} or its pins were changed while they were read; run again")
        link = ProvedLink(
            link=kind,
            period=period,
            bitstream=facts,
            core=core.verdict,
            proved=found.proved,
            why=found.why,
            registers=found.registers[0],
            logic_registers=found.registers[1],
            classes=len(found.classes),
            columns=found.columns,
            claims=found.claims,
            hinted=found.hinted,
            seconds=seconds,
            board=None if board is None else board[0],
            board_message="" if board is None else board[1],
        )
        verdict, message = _judged(core, link, asked=request.confirm)
        record = replace(core, verdict=verdict, message=message, link=link, reproduce=request.reproduce())
        if request.output is not None:
            folder.kept = True
            write_atomically(folder.path / "result.json", record.to_json().encode())
        return record, folder.path if folder.kept else None


def _equal(
    request: ProveRequest,
    program: Program,
    kind: str,
    bitstream: BitstreamFile,
    hints: Mapping[str, str],
    period: float,
    folder: Path,
    tell: Callable[[str], None],
) -> tuple[Equivalence, list[Path]]:
    """Return the result of the proof of the bitstream against the RTL that ``build`` writes, and the RTL's files."""
    from dais_verif.prover.clocked.machines.registers import open_registers
    from dais_verif.prover.clocked.sequential.equivalence import prove_equal
    from dais_verif.prover.clocked.sequential.rtl_side import rtl_gates
    from dais_verif.prover.clocked.sequential.sides import Port
    from dais_verif.prover.gates.aig import Aig
    from dais_verif.prover.slang import elaborate

    design = build_design(program, kind, core_request(request).design.pipeline, period=period, cycles=None)
    sources = [folder / name for name in design.files]
    for source, text in zip(sources, design.files.values(), strict=True):
        write_atomically(source, text.encode())
    opened = open_registers(elaborate(sources, design.top), _CLOCK)
    graph, inputs = Aig(), dict[Port, int]()
    rtl = rtl_gates(opened, graph, inputs, _CLOCK)
    logic = bitstream_gates(read_bitstream(bitstream._replace(hints=None), folder / "bitstream"), graph, inputs, _CLOCK)
    return prove_equal(graph, rtl, logic, seconds=_SECONDS, seed=request.seed, tell=tell, hints=hints), sources


def _board(
    request: ProveRequest, bitstream: BitstreamFile, period: float, proved: bool, folder: Path, progress: Progress
) -> tuple[Verdict, str]:
    """Return the verdict of a simulated board made of the bitstream; TOOL_FAILURE if it cannot be simulated."""
    named = {"file": str(bitstream.path), "pins": str(bitstream.pins), "clocks_per_bit": clocks_per_bit(period)}
    options = urlencode(named if bitstream.device is None else {**named, "device": bitstream.device})
    try:
        run = run_on_board(
            BoardRequest(
                program=request.program,
                layout=request.layout,
                target=f"sim://bitstream?{options}",
                vectors=_VECTORS if proved else _MORE_VECTORS,
                seed=request.seed,
                unchecked=request.unchecked,
                output=folder / "board",
            ),
            progress=progress,
        )
    except DaisError as error:
        return Verdict.TOOL_FAILURE, str(error)
    return run.record.verdict, run.record.message


def _answers(
    request: ProveRequest,
    program: Program,
    kind: str,
    bitstream: BitstreamFile,
    sources: Sequence[Path],
    period: float,
    folder: Path,
    progress: Progress,
) -> tuple[Verdict, str] | None:
    """Return how simulated boards of the bitstream and of the RTL differ on unusual requests; None: no difference."""
    bits = max(ports_of(program).input_bits, 1)
    rng = random.Random(request.seed)
    asked = unusual_requests(rng, _UNUSUAL[kind], row_bytes=-(-bits // 8), buffer=1 << buffer_bits(bits))
    progress.notice("sending unusual requests to the board")
    per_bit = clocks_per_bit(period)
    try:
        logic, _, _ = bitstream_board(bitstream, "model", folder / "logic")
        with (
            rtl_link(program, sources, kind, folder / "rtl_board", clocks_per_bit=per_bit) as right,
            rtl_link(program, [logic], kind, folder / "logic_board", clocks_per_bit=per_bit) as board,
        ):
            for number, one in enumerate(asked):
                begun = time.monotonic()
                expected = answer(right, number, one, _RTL_PATIENCE)
                try:
                    said = answer(board, number, one, max(_PATIENCE, _SLOWER * (time.monotonic() - begun)))
                except ToolError:
                    return Verdict.RTL_MISMATCH, f"it is silent after {_told(number, asked[number])}"
                if said != expected:
                    told = f"{_shown(said)} instead of {_shown(expected)} to {_told(number, asked[number])}"
                    return Verdict.RTL_MISMATCH, f"it answers {told}"
    except DaisError as error:
        return Verdict.TOOL_FAILURE, str(error)
    return None


def _told(number: int, request: bytes) -> str:
    return f"unusual request {number}, {_shown(request)}"


def _shown(data: bytes) -> str:
    text = data.hex()
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}… ({len(data)} bytes)"


def _judged(core: ProofRecord, link: ProvedLink, *, asked: bool) -> tuple[Verdict, str]:
    """Return the verdict on core and bitstream together, with the reason."""
    if core.verdict is not Verdict.PASS:
        return core.verdict, f"the RTL of the core: {core.message}"
    if link.board in _WRONG and not link.proved:
        return link.board, f"the bitstream, as a board, fails: {link.board_message}"
    if not link.proved:
        return Verdict.UNKNOWN, f"the bitstream is not proved to be the RTL of core and {link.link}: {link.why}"
    if asked and link.board is not None and link.board is not Verdict.PASS:
        told = f"{link.board.value}: {link.board_message}"
        return Verdict.UNKNOWN, f"the bitstream was proved, but a simulated board with it does not confirm it ({told})"
    text = f"the bitstream is the RTL of core, wrapper and {link.link} in every cycle from power-up, for all inputs"
    return Verdict.PASS, f"{text}: {link.claims} claims on outputs, registers and buffers; of the core: {core.message}"
