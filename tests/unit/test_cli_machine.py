"""``run`` and ``check`` of machines: input and output files, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from support.machines import NIBBLE, connect, counter, signal, tree
from support.places import FSM
from support.said import as_recorded

import dais_verif
from dais_verif.doors.cli.main import main

FIFO = FSM / "f04_fifo"

Invoke = Callable[..., "Done"]


class Done(NamedTuple):
    exit_code: int
    stdout: str
    output: str


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Return a function that runs the command line; its ``output`` holds stdout and stderr."""

    def call(*arguments: object) -> Done:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return Done(int(ended.value.code or 0), streams.out, "".join(streams))

    return call


@pytest.mark.parametrize(("sample", "file"), [("before", "expected_pre"), ("after", "expected")])
def test_run_writes_npz(invoke: Invoke, sample: str, file: str, tmp_path: Path) -> None:
    out = tmp_path / "y.npz"
    done = invoke("run", FIFO / "fsm.json.gz", "--inputs", FIFO / "inputs.npz", "--sample", sample, "-o", out)
    assert done.exit_code == 0, done.output
    found, expected = np.load(out), np.load(FIFO / f"{file}.npz")
    assert sorted(found) == sorted(expected)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_run_prints_csv_and_a_record(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("run", FIFO / "fsm.json.gz", "--inputs", FIFO / "inputs.npz")
    lines = done.stdout.splitlines()
    assert lines[0] == "sequence,cycle,dout[0],full_empty[0],full_empty[1],lvl[0]" and len(lines) == 257
    record = json.loads(invoke("run", FIFO / "fsm.json.gz", "--inputs", FIFO / "inputs.npz", "--json").stdout)
    assert (record["sequences"], record["cycles"], record["sample"]) == (1, 256, "before")
    assert record["program"]["layout"] == "alirfsm"


def test_sequences_have_an_axis_of_their_own(invoke: Invoke, tmp_path: Path) -> None:
    inputs = np.load(FIFO / "inputs.npz")
    np.savez(tmp_path / "x.npz", **{name: np.stack([inputs[name]] * 3) for name in inputs})
    assert invoke("run", FIFO / "fsm.json.gz", "--inputs", tmp_path / "x.npz", "-o", tmp_path / "y.npz").exit_code == 0
    assert np.load(tmp_path / "y.npz")["lvl"].shape == (3, 256, 1)


def test_unknown_is_nan_and_a_broken_promise_is_exit_code_2(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(counter()))
    np.savez(tmp_path / "x.npz", en=np.ones((2, 1)))
    assert "0,0,nan" in invoke("run", path, "--inputs", tmp_path / "x.npz").output
    words = [[False, 4, 0]] * 3
    index = signal("i", [[False, 2, 0]], exposed=True)
    read = signal("mem", words, reg=True, rst_to=[1, 2, 3], view=(0, 1), dynamic=(index, 1))
    path.write_text(json.dumps(tree({}, [connect(read, signal("y", NIBBLE, exposed=True))])))
    np.savez(tmp_path / "x.npz", i=np.array([[0], [3]]))
    done = invoke("run", path, "--inputs", tmp_path / "x.npz")
    assert done.exit_code == 2 and all(
        part in done.output for part in ("sequence 0, cycle 1: mem[0:1 + 1*i[0:1]]", "index 3")
    )
    assert "0,1,nan" in invoke("run", path, "--inputs", tmp_path / "x.npz", "--unchecked").output


def test_check_says_what_is_in_it(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("check", FSM / "f05_dense_folded" / "fsm.json.gz")
    assert done.exit_code == 0 and "machine is valid" in done.output
    assert "dot 64, ctl 5" in done.output and "4 of 851 bits" in done.output
    record = dais_verif.check(FSM / "f05_dense_folded" / "fsm.json.gz")
    assert record.machine is not None and record.machine.inputs == {"rst": 1, "x": 16}


def test_check_does_not_pass_what_a_state_may_break(invoke: Invoke, tmp_path: Path) -> None:
    of = counter(rst_to=[0])
    of["fsm"]["logic"]["inc"][5][1][3] = [1, 15, 1]  # the sum does not fit if the register holds 15
    path = tmp_path / "m.json"
    path.write_text(json.dumps(of))
    done = invoke("check", path)
    assert done.exit_code == 6 and "inc op 1 (add_const u4.0)" in done.output


REFUSED = {
    "layout": (("check", "M", "--layout", "alir"), "--layout "),
    "raw": (("run", "M", "--inputs", "X", "--raw"), "--raw "),
    "engine": (("run", "M", "--inputs", "X", "--engine", "numpy"), "--engine numpy "),
    "csv": (("run", "M", "--inputs", "C"), ".npz file"),
    "npy": (("run", "M", "--inputs", "N"), ".npz file"),
    "names": (("run", "M", "--inputs", "Y"), "machine-inputs"),
    "shape": (("run", "M", "--inputs", "Z"), "(cycles, 1)"),
    "sample": (("run", "P", "--inputs", "N", "--sample", "after"), "--sample after "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(invoke: Invoke, name: str, tmp_path: Path) -> None:
    (tmp_path / "M").write_text(json.dumps(counter(rst_to=[0])))
    (tmp_path / "C").write_text("1\n2\n")
    np.savez(tmp_path / "X", en=np.ones((2, 1)))
    np.savez(tmp_path / "Y", x=np.ones((2, 1)))
    np.savez(tmp_path / "Z", en=np.ones(3))
    for letter in "XYZ":
        (tmp_path / f"{letter}.npz").rename(tmp_path / letter)
    np.save(tmp_path / "N", np.ones((2, 1)))
    (tmp_path / "N.npy").rename(tmp_path / "N")
    (tmp_path / "P").write_text("[[0, 0], [], [], [], [], [], -1, -1]")
    arguments, message = REFUSED[name]
    done = invoke(*(tmp_path / a if len(a) == 1 else a for a in arguments))
    assert done.exit_code not in (0, 1) and message in done.output, done.output
    as_recorded(done.output)


def test_check_names_an_index_that_is_too_wide_and_prints_the_whole_hash(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "wide.mach"
    path.write_text(
        "machine\ninput at: u2.0\nregister mem: u4.0[3] = [1, 2, 3]\noutput y: u4.0\ny <- mem[at]\n", encoding="utf-8"
    )
    found = invoke("check", str(path))
    assert dais_verif.load_machine(path).hash in found.output
    assert "mem[0:1 + 1*at[0:1]]" in found.output
    simulated = invoke("sim", str(path), "--sim", "icarus", "--vectors", "64")
    assert all(part in simulated.output for part in ("index", "memory"))
