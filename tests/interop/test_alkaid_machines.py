"""alkaid reads the machines that we write, and its emulator gives the same traces as on its own files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.places import FSM

from dais_verif.spec.machine import load_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.machine.text import machine_text

REAL = sorted(FSM.glob("f*/fsm.json.gz"))

#: Run in a separate process, since alkaid may crash on a file that it reads wrongly.
EMULATE = """
import sys
import numpy as np
from alkaid.stateful import FSM
np.savez(sys.argv[3], **FSM.load(sys.argv[1]).run(dict(np.load(sys.argv[2])), scheduled=False))
"""


@pytest.mark.few(2)
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.parent.name)
def test_real_machines(path: Path, alkaid: None, tmp_path: Path) -> None:
    of = load_machine(path)
    text = tmp_path / "m.mach"
    text.write_text(machine_text(of))
    expected = np.load(path.parent / "expected.npz")
    for name, again in (("json", of), ("from text", load_machine(text))):
        written, found = tmp_path / "m.json", tmp_path / "y.npz"
        written.write_bytes(machine_json(again))
        inputs = path.parent / "inputs.npz"
        subprocess.run([sys.executable, "-c", EMULATE, written, inputs, found], check=True)
        outputs = np.load(found)
        assert set(expected) == set(outputs)
        assert all(np.array_equal(outputs[port], expected[port]) for port in expected), name
