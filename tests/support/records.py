"""The record of a simulation with a mismatch."""

from __future__ import annotations

from dais_verif.base.verdict import Verdict
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.simulation import Blame, InputValue, Mismatch, SimulationRecord, SimulatorResult, Value
from dais_verif.spec.program import Program

__all__ = ["RECORD"]


PROGRAM = Program.build([(-1, 0, -1, 0, (1, 7, 0))], [(0, 0, 0)], inp_shift=[0])

MISMATCH = Mismatch(
    "icarus",
    17,
    0,
    Value("-1", -1, "11111111"),
    Value(None, None, "1111111X"),
    [InputValue(0, "-1", "11111111")],
    Blame(
        "op",
        "op 0 (input) is the first op whose value diverges",
        0,
        "input",
        "s8.0",
        Value("1", 1, "1"),
        Value("0", 0, "0"),
    ),
)

RECORD = SimulationRecord(
    verdict=Verdict.RTL_MISMATCH,
    message="3 of 9 vectors differ",
    program=ProgramInfo.of(PROGRAM),
    seed=4,
    vectors=9,
    reproduce="dais-verif sim 'my prog.bin'",
    rtl=RtlFacts(top="model", emitted=False, files=["/a b.v"], sha256=["00"]),
    tools={"cocotb": "2.1"},
    simulators=[SimulatorResult("icarus", "11.0", 9, 72, 3), SimulatorResult("verilator", failure="out of [memory]")],
    first_mismatch=MISMATCH,
)
