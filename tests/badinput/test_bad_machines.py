"""Machines damaged in about 250 ways end in one line that says what and where, in little time and memory."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest
from bad_machine_files import GOOD, GOOD_TEXT, JSON_CASES, TEXT_CASES, Damaged, encoded
from support.said import as_recorded

from dais_verif.base.errors import DaisError
from dais_verif.doors.cli.main import _run
from dais_verif.spec.machine import load_machine, parse_machine

CASES = {
    **{f"json, {name}": (case, "m.json") for name, case in JSON_CASES.items()},
    **{f"text, {name}": (case, "m.mach") for name, case in TEXT_CASES.items()},
}

#: The cases whose messages quote Python, which words them differently in its versions.
OF_PYTHON = {
    f"json, {name}"
    for name in (
        "truncated",
        "two of them",
        "bytes that are no UTF-8",
        "nested deeply",
        "number of 5,000 digits",
        "gzip truncated",
        "gzip damaged",
        "gzip with another checksum",
    )
}


def test_there_are_at_least_200_and_none_of_them_twice() -> None:
    assert len(CASES) >= 200
    assert len({case.data for case, _ in CASES.values()}) == len(CASES)


def test_without_the_damage_they_are_machines() -> None:
    assert len(parse_machine(encoded(GOOD)).blocks) == len(parse_machine(GOOD_TEXT.encode()).blocks) == 1


@pytest.mark.parametrize("name", CASES)
def test_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, file = CASES[name]
    path = tmp_path / file
    path.write_bytes(case.data)
    with pytest.raises(DaisError) as caught:
        load_machine(path)
    line = str(caught.value)
    missing = [word for word in case.words if word not in line]
    assert not missing, line
    assert "\n" not in line and len(line) - len(str(path)) * line.count(str(path)) < 400, line
    assert line.isprintable() and str(path) in line
    assert caught.value.code == ("machine-file" if file == "m.json" else "text-form")
    if name not in OF_PYTHON:
        as_recorded(line)


@pytest.mark.parametrize("name", [*list(CASES)[::9], "json, nested deeply", "json, gzip of much"])
@pytest.mark.parametrize("verb", ["check", "run", "convert"])
def test_verbs_say_it_and_exit(
    name: str, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case, file = CASES[name]
    monkeypatch.chdir(tmp_path)
    Path(file).write_bytes(case.data)
    more = {"check": [], "run": ["--inputs", "x.npz"], "convert": ["out.mach"]}[verb]
    code = _run([verb, file, *more])
    out, err = capfd.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("dais-verif: INVALID_INPUT: ") and err.count("\n") == 1 and len(err) < 500
    assert [path.name for path in tmp_path.iterdir()] == [file], "nothing half-written is left"


@pytest.mark.parametrize("kind", ["json", "gzip", "text"])
def test_changed_bytes_never_crash(kind: str) -> None:
    """Files with changed bytes are refused, or are machines that can be written."""
    rng = random.Random(kind)
    data = {"json": encoded(GOOD), "gzip": JSON_CASES["gzip truncated"].data, "text": GOOD_TEXT.encode()}[kind]
    refused = 0
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(changed))
            match rng.randrange(4):
                case 0:
                    changed[at] = rng.randrange(256)
                case 1:
                    del changed[at : at + rng.choice((1, 3, 40))]
                case 2:
                    changed[at:at] = changed[at : at + rng.choice((1, 3, 40))]
                case _:
                    changed[at] = rng.choice(b'0123456789-[]{},:."<ensruw')
        try:
            parse_machine(bytes(changed))
        except DaisError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 600, str(error)
    assert refused >= 200


@pytest.mark.parametrize("name", ["10^9 elements", "10^20 elements", "type of 10^9 bits"])
def test_what_a_line_claims_takes_no_memory(name: str) -> None:
    case: Damaged = TEXT_CASES[name]
    tracemalloc.start()
    with pytest.raises(DaisError):
        parse_machine(case.data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_text_cut_off_anywhere_is_refused_or_shorter() -> None:
    for end in range(0, len(GOOD_TEXT), 7):
        try:
            assert len(parse_machine(GOOD_TEXT[:end].encode()).connections) <= 5
        except DaisError as error:
            assert "\n" not in str(error)
