"""``dais-verif sim`` gives the right verdict, exit code and bits compared for programs that cannot be composed."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from dais_verif.doors.cli import main
from dais_verif.simulation.simulators.build import SIMULATORS
from dais_verif.spec.program import Program, write_binary

S4, U3 = (1, 3, 0), (0, 3, 0)
X = (-1, 0, -1, 0, S4)
CONSTANTS = [(5, -1, -1, -5, S4), (5, -1, -1, 3, U3), (7, 0, 1, 0, (1, 4, 0))]
PASS, NOT_RUN = ("PASS", 0), ("NOT_RUN", 6)

#: The program, its expected verdict and exit code, and its output bits per vector.
PROGRAMS = {
    "constants only": (Program.build(CONSTANTS, [(0, 0, 1), (2, 0, 0)]), PASS, 10),
    "inputs not read": (Program.build(CONSTANTS, [(2, 0, 0)], inp_shift=[0, -3]), PASS, 5),
    "all outputs -1": (Program.build([X], [(-1, 0, 0), (-1, 5, 1)], inp_shift=[0]), NOT_RUN, 0),
    "all outputs without bits": (
        Program.build([X, (3, 0, -1, 0, (1, -1, 0))], [(1, 0, 1)], inp_shift=[0]),
        NOT_RUN,
        0,
    ),
    "no outputs": (Program.build([X], [], inp_shift=[0]), NOT_RUN, 0),
    "no ops": (Program.build([], [(-1, 0, 0)], inp_shift=[0]), NOT_RUN, 0),
    "nothing": (Program.build([], []), NOT_RUN, 0),
}
#: Programs run in both simulators, as without ``--sim``; the others run only in Icarus, which builds at once.
BOTH = ("constants only", "nothing")


@pytest.mark.few(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_sim(name: str, tmp_path: Path) -> None:
    program, ending, bits = PROGRAMS[name]
    simulators = SIMULATORS if name in BOTH else ("icarus",)
    path = tmp_path / "program.bin"
    path.write_bytes(write_binary(program, "v1"))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        arguments = ["--vectors", "5", "--exhaustive-bits", "0", "-o", str(tmp_path / "out"), "--json"]
        if name not in BOTH:
            arguments += ["--sim", "icarus"]
        code = main._run(["sim", str(path), *arguments])
    record = json.loads(out.getvalue())
    assert (record["verdict"], code) == ending, record["message"]
    assert record["exit_code"] == code
    ran = {one["name"]: (one["mismatches"], one["bits_compared"]) for one in record["simulators"]}
    if bits:
        vectors = record["vectors"]
        assert vectors > 0
        assert ran == dict.fromkeys(simulators, (0, vectors * bits))
    else:
        assert all(one == (0, 0) for one in ran.values())
