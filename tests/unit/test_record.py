"""The record has a fixed, documented set of fields, and is valid JSON."""

from __future__ import annotations

import io
import json
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
from rich.console import Console
from support.records import MISMATCH, PROGRAM, RECORD
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.record.base import SCHEMA
from dais_verif.record.program import ProgramInfo
from dais_verif.record.simulation import (
    Blame,
    BoardInfo,
    InputValue,
    Mismatch,
    SimulationRecord,
    SimulatorResult,
    Value,
)
from dais_verif.report.console import print_record
from dais_verif.spec.program import read_binary, write_binary

#: Fields of schema 1. Fields may be added; none may be removed or change its meaning.
FIELDS = {
    "": "schema verdict exit_code message program seed vectors unchecked rtl tools simulators first_mismatch reproduce "
    "warnings",
    "program": "path hash file_sha256 layout layout_assumed n_in n_out n_ops",
    "simulators": "name version vectors_compared bits_compared mismatches vectors_with_x digest build_seconds "
    "run_seconds failure",
    "first_mismatch": "simulator row output expected found inputs blame",
    "first_mismatch/expected": "real raw bits",
    "first_mismatch/inputs": "index real bits",
    "first_mismatch/blame": "kind text op mnemonic type expected found replayed_in",
}


@pytest.mark.parametrize("path", FIELDS)
def test_fields_of_schema_1(path: str) -> None:
    assert SCHEMA == "dais-verif/result/1"
    tree = json.loads(RECORD.to_json())
    for name in filter(None, path.split("/")):
        tree = tree[name]
        tree = tree[0] if isinstance(tree, list) else tree
    assert set(FIELDS[path].split()) <= set(tree)


def test_every_field_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`([a-z_0-9.]+)`", page))
    words |= {word.split(".")[-1] for word in words}
    for kind in (SimulationRecord, ProgramInfo, SimulatorResult, Mismatch, BoardInfo):
        missing = {field.name for field in fields(kind)} - words
        assert not missing, f"{kind.__name__}: docs/report.md says nothing of {sorted(missing)}"
    # The page describes the fields of Blame and Value in sentences.
    assert {"blame.kind", "blame.op", "real", "raw", "bits"} <= words | set(re.findall(r"`([a-z_.]+)`", page))


@pytest.mark.parametrize("verdict", Verdict)
def test_verdict_and_exit_code_agree(verdict: Verdict) -> None:
    tree = json.loads(replace(RECORD, verdict=verdict).to_json())
    assert (tree["verdict"], tree["exit_code"]) == (verdict.value, verdict.exit_code)


def test_the_program_is_named_by_meaning_and_by_file() -> None:
    v1 = read_binary(write_binary(PROGRAM, "v1"))
    headerless = read_binary(write_binary(PROGRAM, "headerless"), "headerless")
    a, b = ProgramInfo.of(v1), ProgramInfo.of(headerless)
    assert a.hash == b.hash
    assert a.file_sha256 != b.file_sha256
    assert (a.layout, b.layout) == ("v1", "headerless")


def test_large_integers_stay_whole() -> None:
    value = Value("0", 1 << 200, "1")
    text = replace(RECORD, first_mismatch=replace(MISMATCH, expected=value)).to_json()
    assert json.loads(text)["first_mismatch"]["expected"]["raw"] == 1 << 200


def printed(record: SimulationRecord) -> str:
    out = io.StringIO()
    print_record(record, Console(file=out, highlight=False, soft_wrap=True, width=300))
    return out.getvalue()


def test_text_for_people() -> None:
    text = printed(RECORD)
    lines = text.splitlines()
    assert "first mismatch: vector 17, output 0, in icarus" in lines
    assert re.search(r"^found +\? +\? +1111111X *$", text, re.MULTILINE)
    assert re.search(r"^icarus +11.0 +9 +72 +3 +0 ", text, re.MULTILINE)
    assert re.search(r"^verilator +failed( +-){6} *$", text, re.MULTILINE)
    assert lines[-3] == "RTL_MISMATCH  3 of 9 vectors differ"
    said = f"{Verdict.RTL_MISMATCH.next_step}; see docs/troubleshooting.md#rtl-mismatch"
    assert lines[-2:] == [f"next       {said}", "reproduce  dais-verif sim 'my prog.bin'"]


def test_a_mismatch_begins_with_what_is_wrong() -> None:
    """The wrong output is printed first, then the inputs in its fan-in cone."""
    inputs = [InputValue(j, str(j), "01") for j in range(5)]
    found = replace(
        MISMATCH, expected=Value("9", 9, "01001"), found=Value("12", 12, "01100"), inputs=inputs, cone=[1, 4]
    )
    lines = [line.split() for line in printed(replace(RECORD, first_mismatch=found)).splitlines()]
    begin = lines.index(["first", "mismatch:", "vector", "17,", "output", "0,", "in", "icarus"])
    assert lines[begin + 1 : begin + 10] == [
        ["real", "raw", "bits"],
        ["expected", "9", "9", "01001"],
        ["found", "12", "12", "01100"],
        ["^", "^"],
        ["op", "0", "expected", "1", "1", "1"],
        ["op", "0", "found", "0", "0", "0"],
        ["^"],
        ["input", "1", "1", "01"],
        ["input", "4", "4", "01"],
    ]
    assert lines[begin + 10][0] == "3"
    as_recorded(" ".join(lines[begin + 10]))
    text = printed(replace(RECORD, first_mismatch=found))
    bits, marks = re.search(r"^found.*(01100) *\n(.*)$", text, re.MULTILINE).span(1), text.splitlines()  # type: ignore[union-attr]
    row = next(line for line in marks if line.split() == ["^", "^"])
    start = bits[0] - text.rindex("\n", 0, bits[0]) - 1
    assert [at - start for at, letter in enumerate(row) if letter == "^"] == [2, 4]


@pytest.mark.parametrize(
    ("failures", "code", "other"),
    [
        ((None, "no"), "simulators", "icarus"),
        (("no", None), "simulators", "verilator"),
        (("no", "no"), "simulators", None),
        (("no", "NOT RUN: its build was ended"), "simulators", "verilator"),
        (("iverilog", "g++ too"), "missing-tool", None),
    ],
)
def test_a_simulator_that_failed_says_what_is_known_and_the_way_on(
    failures: tuple[str | None, str | None], code: str, other: str | None
) -> None:
    names = ("icarus", "verilator")
    simulators = [
        SimulatorResult(name, "1", 9, 72) if failure is None else SimulatorResult(name, failure=failure, code=code)
        for name, failure in zip(names, failures, strict=True)
    ]
    message = "; ".join(filter(None, failures))
    text = printed(replace(RECORD, verdict=Verdict.TOOL_FAILURE, message=message, simulators=simulators))
    (line,) = [line for line in text.splitlines() if line.startswith("next ")]
    as_recorded(line)
    assert ("--sim" in line) == (other is not None) and f"--sim {other or ''}" in f"{line} --sim "


def test_of_many_files_the_first_are_shown() -> None:
    names = [f"/rtl/file_{number}.v" for number in range(40)]
    four = printed(replace(RECORD, rtl=replace(RECORD.rtl, files=names[:4])))
    assert "rtl        module model, /rtl/file_0.v, /rtl/file_1.v, /rtl/file_2.v, /rtl/file_3.v\n" in four
    many = printed(replace(RECORD, rtl=replace(RECORD.rtl, files=names)))
    assert all(part in many for part in ("/rtl/file_2.v", "37", "files", "record")) and "file_3" not in many


def test_brackets_in_names_and_messages_are_no_markup() -> None:
    odd = replace(
        RECORD,
        message="[red]x[/red] [/]",
        program=replace(RECORD.program, path="[bold]p[/bold].bin"),
        reproduce="dais-verif sim '[bold]p.bin'",
        first_mismatch=replace(MISMATCH, blame=Blame("cone", "[b]text[/b]")),
    )
    text = printed(odd)
    for part in ("[red]x[/red] [/]", "[bold]p[/bold].bin", "sim '[bold]p.bin'", "[b]text[/b]"):
        assert part in text


def test_a_pass_needs_no_command_to_reproduce() -> None:
    text = printed(replace(RECORD, verdict=Verdict.PASS, message="all 72 output bits", first_mismatch=None))
    assert text.splitlines()[-1] == "PASS  all 72 output bits"


def test_wide_values_and_many_inputs_are_cut_in_the_text_only() -> None:
    wide = Value("0", 0, "01" * 500)
    inputs = [InputValue(j, "0", "0") for j in range(100)]
    record = replace(RECORD, first_mismatch=replace(MISMATCH, expected=wide, inputs=inputs))
    text = printed(record)
    assert "01" * 500 not in text and "... (1000 bits)" in text
    assert (
        "\ninput 31 " in text
        and "\ninput 32 " not in text
        and all(part in text for part in ("... 68", "inputs", "record"))
    )
    tree = json.loads(record.to_json())
    assert tree["first_mismatch"]["expected"]["bits"] == "01" * 500
    assert len(tree["first_mismatch"]["inputs"]) == 100


def test_a_broken_protocol_has_counts_and_a_next_step_that_fits() -> None:
    """No vector is wrong, so the text does not suggest to look at one."""
    broken = SimulatorResult("icarus", "11.0", 256, 2048, 0, failure="vout is 1 at clock edge 140, must be 0")
    text = printed(replace(RECORD, simulators=[broken], first_mismatch=None))
    assert "first mismatch" not in text
    as_recorded(text)
    (row,) = (line for line in text.splitlines() if line.startswith("icarus"))
    assert row.split()[:4] == ["icarus", "11.0", "256", "2048"]


@pytest.mark.parametrize("verdict", [Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT])
def test_the_next_step_names_waves_only_if_there_are_any(verdict: Verdict) -> None:
    for waves in (None, "replay_icarus/waves.fst"):
        found = replace(RECORD, verdict=verdict, first_mismatch=replace(RECORD.first_mismatch, waves=waves))
        (line,) = (line for line in printed(found).splitlines() if line.startswith("next "))
        assert ("waves" in line) == (waves is not None), line
