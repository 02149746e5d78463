"""Promises are proved where intervals are too coarse, and a vector shows where they are broken."""

from __future__ import annotations

import itertools
import json
import random
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.door import save
from support.programs import overflowing, unproved

from dais_verif.doors.cli import main
from dais_verif.golden import oracle
from dais_verif.prover import overflow as overflow_module
from dais_verif.prover.overflow import Promise, examine
from dais_verif.prover.results import ProofOptions
from dais_verif.record.proof import Status
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.ranges import PromiseStatus as Shown
from dais_verif.spec.program.ranges import analyse

OPTIONS = ProofOptions(timeout=20, jobs=1)


def promises_at_stake(program: Program) -> list[int]:
    return analyse(program).promises(Shown.POSSIBLE)


def violated(program: Program, vector: tuple[int, ...]) -> list[int]:
    """Return the ops that break a promise without an earlier op that breaks one, according to the oracle."""
    elements = ports_of(program).inputs
    values = [bits * Fraction(2) ** e.lo for bits, e in zip(vector, elements, strict=True)]
    found: list[oracle.Violation] = []
    oracle.trace(program, values, violations=found)
    broken = {violation.op.index for violation in found}
    return [op for op in sorted(broken) if not broken & cone(program, op)]


def cone(program: Program, op: int) -> set[int]:
    """Return all ops that ``op`` depends on."""
    found: set[int] = set()
    work = [op]
    while work:
        more = set(program.ops[work.pop()].operands) - found
        found |= more
        work += more
    return found


def test_a_difference_that_never_overflows() -> None:
    program = unproved()
    assert promises_at_stake(program) == [2]
    assert examine(program, [2], OPTIONS) == [Promise(2, Status.PROVED, "1 level of ops")]


def test_one_value_that_overflows() -> None:
    (promise,) = examine(overflowing(), [1], OPTIONS)
    assert (promise.status, promise.vector) == (Status.REFUTED, (127,))


def test_an_overflow_that_random_vectors_do_not_meet() -> None:
    """An overflow only at the largest values of both 20-bit inputs is found, although random vectors do not meet it."""
    rows = [(-1, j, -1, 0, (0, 20, 0)) for j in range(2)]
    rows += [(0, 0, 1, 0, (0, 21, 0)), (4, 2, -1, (1 << 21) - (1 << 21) + 1, (0, 21, 0))]
    rows += [(4, 3, -1, 1, (0, 21, 0))]
    program = Program.build(rows, [(4, 0, 0)], inp_shift=[0, 0])
    found = {promise.op: promise for promise in examine(program, promises_at_stake(program), OPTIONS)}
    for promise in found.values():
        assert promise.status is Status.REFUTED
        assert promise.vector is not None and promise.op in violated(program, promise.vector)


def test_a_lost_fraction_and_an_index_outside() -> None:
    rows = [
        (-1, 0, -1, 0, (1, 3, 2)),
        (4, 0, -1, 1, (1, 4, 1)),  # loses the last bit of odd values
        (3, 0, -1, 0, (0, 3, 0)),
        (8, 2, -1, 0, (0, 4, 0)),  # 6 entries for 8 values
    ]
    program = Program.build(rows, [(1, 0, 0), (3, 0, 0)], inp_shift=[0], tables=[[1, 2, 3, 4, 5, 6]])
    found = examine(program, promises_at_stake(program), OPTIONS)
    assert [(p.op, p.status) for p in found] == [(1, Status.REFUTED), (3, Status.REFUTED)]
    for promise in found:
        assert promise.vector is not None and promise.op in violated(program, promise.vector)


def test_correlations_over_several_ops() -> None:
    """(a + b) - (a - b) is 2b, which fits, although neither interval shows it."""
    s8 = (1, 7, 0)
    rows = [
        (-1, 0, -1, 0, s8),
        (-1, 1, -1, 0, s8),
        (0, 0, 1, 0, (1, 8, 0)),
        (1, 0, 1, 0, (1, 8, 0)),
        (1, 2, 3, 0, (1, 8, 0)),
    ]
    program = Program.build(rows, [(4, 0, 0)], inp_shift=[0, 0])
    assert promises_at_stake(program) == [4]
    (promise,) = examine(program, [4], OPTIONS)
    assert (promise.status, promise.how) == (Status.PROVED, "1 level of ops")


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_against_all_their_inputs(seed: int) -> None:
    """Proofs and refutations of promises in random programs agree with the oracle on all inputs."""
    rng = random.Random(seed)
    program = small_program(rng)
    found = {p.op: p for p in examine(program, promises_at_stake(program), OPTIONS)}
    elements = ports_of(program).inputs
    broken: set[int] = set()
    for vector in itertools.product(*(range(1 << e.width) for e in elements)):
        broken |= set(violated(program, vector))
    for op, promise in found.items():
        assert promise.status is not Status.UNKNOWN
        assert (promise.status is Status.REFUTED) == (op in broken), (op, promise)
        if promise.vector is not None:
            assert op in violated(program, promise.vector)


def small_program(rng: random.Random) -> Program:
    """Return a program of a few ops on at most six input bits, with types that often are too narrow."""
    rows: list[tuple[int, int, int, int, tuple[int, int, int]]] = []
    rows += [(-1, j, -1, 0, (rng.getrandbits(1), 2, 0)) for j in range(2)]
    for index in range(2, 9):
        a, b = rng.randrange(index), rng.randrange(index)
        code, data = rng.choice(((0, rng.randint(-1, 1)), (1, 0), (4, rng.randint(-3, 3)), (7, 0), (2, 0), (3, 0)))
        kind = (rng.getrandbits(1), rng.randint(2, 5), rng.choice((0, 0, 1)))
        rows.append((code, a, b if code in (0, 1, 7) else -1, data, kind))
    return Program.build(rows, [(8, 0, 0)], inp_shift=[0, 0])


def checked(
    program: Program, folder: Path, capsys: pytest.CaptureFixture[str], *options: str, code: int = 0
) -> dict[str, Any]:
    assert main._run(["check", str(save(program, folder)), "--json", *options]) == code
    overflow: dict[str, Any] = json.loads(capsys.readouterr().out)["overflow"]
    return overflow


def test_check_proves_what_intervals_leave_possible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overflow = checked(unproved(), tmp_path, capsys)
    assert [item["op"] for item in overflow["possible"]] == [2]
    assert overflow["proved_by_proof"] == [{"op": 2, "mnemonic": "sub", "type": "s8.0", "how": "1 level of ops"}]
    assert overflow["broken"] == overflow["undecided"] == []


def test_check_shows_an_input_that_breaks_a_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overflow = checked(overflowing(), tmp_path, capsys, code=2)
    assert overflow["broken"] == [{"op": 1, "mnemonic": "add_const", "type": "s8.0", "inputs": ["127"]}]
    assert main._run(["check", str(tmp_path / "prog.bin")]) == 2
    shown = capsys.readouterr().out
    assert "by inputs 127" in shown and "PROGRAM_INVALID: 1 op" in shown
    (tmp_path / "x.csv").write_text(",".join(overflow["broken"][0]["inputs"]) + "\n")
    arguments = ["run", str(tmp_path / "prog.bin"), "--inputs", str(tmp_path / "x.csv"), "-o", str(tmp_path / "y.npy")]
    assert main._run(arguments) == 2, "the golden model says so too"


def test_check_without_a_proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "broken" not in checked(overflowing(), tmp_path, capsys, "--no-proof")
    assert main._run(["check", str(tmp_path / "prog.bin"), "--no-proof"]) == 0


def test_what_nobody_decides_is_no_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overflow_module, "examine", lambda *_, **__: [Promise(1, Status.UNKNOWN)])
    assert [item["op"] for item in checked(overflowing(), tmp_path, capsys, code=6)["undecided"]] == [1]
    assert main._run(["check", str(tmp_path / "prog.bin")]) == 6
    assert "undecided" in capsys.readouterr().out


def test_without_the_prover_nothing_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dais_verif.prover.overflow", None)
    assert [item["op"] for item in checked(overflowing(), tmp_path, capsys, code=6)["undecided"]] == [1]
    assert main._run(["check", str(tmp_path / "prog.bin")]) == 6


def test_declared_intervals_bound_the_inputs() -> None:
    program = replace(overflowing(), intervals=((-128, 126), (-127, 127)))
    assert promises_at_stake(program) == [1], "by types alone"
    (promise,) = examine(program, [1], OPTIONS, declared=True)
    assert promise.status is Status.PROVED
    (promise,) = examine(replace(program, intervals=((-128, 127), (-127, 127))), [1], OPTIONS, declared=True)
    assert (promise.status, promise.vector) == (Status.REFUTED, (127,))
