"""The emitted Verilog in each wrapper, driven through its bus, against the golden model."""

from __future__ import annotations

from pathlib import Path

from dais_verif.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.emitter.wrapper import WRAPS, wrap
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.fuzzing.pairs.needs import require_comparable
from dais_verif.hil.core_run import run_core
from dais_verif.hil.emulator import build_core
from dais_verif.program.numbers import Batch
from dais_verif.program.ports import ports_of
from dais_verif.simulation.axis import simulate_axis
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

__all__ = ["wrapped"]

_PAIR = "wrappers"
#: Seconds for a build and for a run, after which it counts as hung.
_SECONDS = 60.0
#: The largest number of stages of the core; 0: it is combinational.
_MOST_STAGES = 3
#: How often the vectors are sent through a stream, so that some are left to compare after its resets.
_TIMES = 6


def wrapped(case: Case) -> Disagreement | None:
    """Return a difference of a wrapper's output from the golden model: on AXI4-Stream, or on a link of a board.

    The number of stages of the core depends on the case.
    """
    require_comparable(case, "icarus", "verilator")
    stages = int(case.program.hash[:4], 16) % (_MOST_STAGES + 1)
    text, latency = emit_verilog(case.program), 0
    if stages:
        made = emit_pipeline(case.program, "model", PipelineOptions(stages=stages, enable=True))
        text, latency = made.text, made.latency
    for kind in WRAPS:
        with temporary_folder() as folder:
            verdict, message = _heard(case, kind, text, latency, folder.path)
        if verdict is Verdict.NOT_RUN:
            raise NotJudged(message)
        if verdict is not Verdict.PASS:
            return Disagreement(_PAIR, f"{kind}: {verdict.value}", message.replace(str(folder.path), ""))
    return None


def _heard(case: Case, kind: str, text: str, latency: int, folder: Path) -> tuple[Verdict, str]:
    """Return the verdict on wrapper ``kind`` around the core ``text``, and the message."""
    program = case.program
    if kind != "axis":
        board = build_core(program, kind, folder / "board", text, latency)
        run = run_core(program, case.batch, kind, board, folder, check=False, timeout=_SECONDS)
        return run.verdict, run.message
    ports = ports_of(program)
    bits = max(ports.input_bits, 1), max(ports.output_bits, 1)
    made = wrap(kind, "model", text, program.hash, input_bits=bits[0], output_bits=bits[1], latency=latency)
    sources = []
    for name, part in made.files.items():
        sources.append(folder / name)
        sources[-1].write_text(part)
    design = RtlDesign(tuple(path for path in sources if path.suffix == ".v"), f"model_{kind}")
    found = simulate_axis(
        program,
        Batch.concatenate([case.batch] * _TIMES),
        design,
        folder / "simulated",
        latency=latency,
        simulators=("icarus",),
        check=False,
        timeout=_SECONDS,
    )
    return found.verdict, found.message
