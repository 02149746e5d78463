"""Each fault in a netlist is refuted with a vector that a simulator confirms, or has no effect."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.netlist_faults import KINDS, seeded_fault
from support.door import run_sim
from support.programs import dense_network, every_opcode
from support.synthesis import EVERYTHING, synth

from dais_verif.hardware.synthesis.targets import TARGETS
from dais_verif.spec.program import Program

pytestmark = pytest.mark.usefixtures("yosys")

#: The number of vectors for netlists that are proved. Icarus runs twenty vectors per second of a netlist with 200,000
#: characters or more.
_VECTORS, _VECTORS_OF_LARGE, _LARGE = 100_000, 2_000, 200_000

PROGRAMS = {"everything": EVERYTHING, "every opcode": every_opcode(), "dense": dense_network()}


def judged(program: Program, text: str, target: str, folder: Path) -> str:
    """Return the verdict on a faulty netlist, after checking it by simulation."""
    folder.mkdir(exist_ok=True)
    path = folder / "faulty.v"
    path.write_text(text)
    run = run_prove(program, folder, "--netlist", path, "--target", target)
    verdict: str = run.tree["verdict"]
    if verdict == "PASS":  # the fault has no effect on the outputs
        vectors = _VECTORS if len(text) < _LARGE else _VECTORS_OF_LARGE
        simulated = run_sim(program, folder, "--netlist", path, "--target", target, "--vectors", vectors)
        assert simulated.ending == ("PASS", 0), "proved, and it is wrong"
    else:
        assert verdict == "RTL_MISMATCH", (run.tree["message"], run.stderr)
        replay = run.tree["counterexample"]["replay"]
        assert (replay["verdict"], replay["simulators"][0]["mismatches"]) == ("RTL_MISMATCH", 1)
    return verdict


def test_a_fault_is_found(tmp_path: Path) -> None:
    made = synth(EVERYTHING, tmp_path, "ice40")
    text = seeded_fault((made.folder / "netlist.v").read_text(), "bit of a table", 1)
    assert text is not None
    assert judged(EVERYTHING, text, "ice40", tmp_path) == "RTL_MISMATCH"


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_dozens_of_faults_are_found(name: str, target: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    text = (synth(program, tmp_path, target).folder / "netlist.v").read_text()
    faults = {fault for kind in KINDS for seed in range(4) if (fault := seeded_fault(text, kind, seed))} - {text}
    assert len(faults) >= (8 if target == "generic" else 12)
    found = [judged(program, fault, target, tmp_path / str(n)) for n, fault in enumerate(sorted(faults))]
    assert found.count("RTL_MISMATCH") >= len(found) * 2 // 3
