"""``make prove-rtl`` proves the hand-written RTL, and does not prove it with a bug."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def tools() -> None:
    if shutil.which("yosys-smtbmc") is None:
        if os.environ.get("CI"):
            pytest.fail("no yosys-smtbmc on PATH")
        pytest.skip("no yosys-smtbmc on PATH")


def prove(folder: Path, *options: str, rtl: Path = ROOT / "rtl") -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools" / "prove_rtl.py"), "--rtl", str(rtl), "-o", str(folder / "proofs")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=500, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize(("only", "covers"), [("skid", ["3"]), ("LATENCY2", ["4"]), ("deframer", ["3"])])
def test_a_part_is_proved(only: str, covers: list[str], tmp_path: Path) -> None:
    """The part is proved, and all its cover properties are reached."""
    code, text = prove(tmp_path, "--only", only)
    assert code == 0, text
    assert re.findall(r"^\w+ +(\d) .* proved$", text, re.MULTILINE) == covers


@pytest.mark.slow
def test_all_is_proved(tmp_path: Path) -> None:
    code, text = prove(tmp_path)
    assert code == 0, text
    assert "10 of 10 proved" in text
    # Covers reached in the skid buffer, the wrappers, the wrappers with the self-check, and the parts of a board.
    assert re.findall(r"^\w+ +(\d) .* proved$", text, re.MULTILINE) == ["3", *5 * ["4"], "6", "6", "3", "2"]


SKID, SHELL, SWITCH = "dais_skid.v", "dais_axis.v", "dais_selfcheck.v"
DEFRAMER, FRAMER, BRIDGE = "dais_deframer.v", "dais_framer.v", "dais_bridge.v"

#: The file, the text, its faulty replacement, the proof, and a property that must fail.
BUGS = {
    "a beat is dropped under back-pressure": (
        SKID, "full    <= full || accept;", "full    <= full;", "skid", "held_is_offered"),
    "the skid buffer gives its input for its spare": (
        SKID, "full ? spare : s_data", "s_data", "skid", "followed_comes_out"),
    "the spare is taken while it is full": (
        SKID, "if (s_ready) spare <=", "spare <=", "skid", "followed_comes_out"),
    "a beat is given twice": (
        SKID, "m_valid <= full || accept;", "m_valid <= full || accept || &m_data;", "skid", "held_is_offered"),
    "the payload changes while it is stalled": (
        SKID, "if (move) m_data", "m_data", "skid", "payload_holds"),
    "the reset forgets what is offered": (
        SKID, "      m_valid <= 1'b0;\n", "", "skid", "dropped_by_reset"),
    "a clock is lost after each stall": (
        SKID, "      s_ready <= 1'b1;\n", "      s_ready <= !full;\n", "skid", "room_is_offered"),
    "room is offered too late": (
        SKID, "      s_ready <= 1'b1;\n", "      s_ready <= !accept;\n", "LATENCY1", "room_is_offered"),
    "ready and valid share a path and a beat gets lost": (
        SKID, "wire accept = s_valid && s_ready;", "wire accept = s_valid;", "skid", "held_is_offered"),
    "TLAST is that of another beat": (
        SHELL, "assign m_axis_tlast  = side_out[0];", "assign m_axis_tlast  = side_in[0];",
        "LATENCY2", "followed_comes_out"),
    "TUSER does not stand with its beat": (
        SHELL, "if (enable) side <=", "side <=", "LATENCY2", "payload_holds"),
    "TVALID drops without TREADY": (
        SHELL, "else if (enable) valid <= valid_next", "else valid <= {STAGES{enable}} & valid_next",
        "LATENCY1", "valid_holds"),
    "the reset forgets what is in the pipeline": (
        SHELL, "if (!aresetn) valid <= {STAGES{1'b0}};\n    else if", "if", "LATENCY2", "dropped_by_reset"),
    "pad bits are not 0": (
        SHELL, "{{OUT_PAD{1'b0}}, result}", "{{OUT_PAD{1'b1}}, result}", "LATENCY0", "pad_is_zero"),
    "the core does not stand": (
        SHELL, "assign core_en = enable;", "assign core_en = 1'b1;", "LATENCY1", "payload_holds"),
    "the register of a combinational core does not stand": (
        SHELL, "if (enable) held <= core_out", "held <= core_out", "LATENCY0", "payload_holds"),
    "a pipeline that moves only when it is read": (
        SHELL, "wire enable = !valid_out || m_axis_tready;", "wire enable = m_axis_tready;",
        "LATENCY2", "held_is_offered"),
    "beats of a self-check leave": (
        SWITCH, "assign m_axis_tvalid = !checking && from_tvalid;", "assign m_axis_tvalid = from_tvalid;",
        "LATENCY0_SWITCH", "not_made_up"),
    "a self-check does not wait for the stream": (
        SWITCH, "DRAIN: if (in_flight == 32'd0)", "DRAIN: if (1'b1)", "LATENCY0_SWITCH", "held_is_offered"),
    "a beat is taken while the stream is blocked": (
        SWITCH, "assign s_axis_tready = idle && to_tready;", "assign s_axis_tready = to_tready;",
        "LATENCY0_SWITCH", "held_is_offered"),
}  # fmt: skip


#: The fast suite has the first bug that breaks each property.
FIRST = {bug[-1]: name for name, bug in reversed(BUGS.items())}.values()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in FIRST)) for n in BUGS])
def test_a_bug_is_not_proved(name: str, tmp_path: Path) -> None:
    file, found, seeded, only, property_ = BUGS[name]
    shutil.copytree(ROOT / "rtl", tmp_path / "rtl")
    path = tmp_path / "rtl" / file
    text = path.read_text()
    assert text.count(found) == 1
    path.write_text(text.replace(found, seeded))
    code, said = prove(tmp_path, "--only", only, rtl=tmp_path / "rtl")
    assert code == 1, said
    assert re.search(rf"FAILED contract: [^;]*\b{property_}\b[^;]*; base: ", said), said


#: Bugs that need more clock cycles to show than the base case has: induction finds them.
DEEP_BUGS = {
    "a frame is handed out before it is whole": (
        DEFRAMER, "wire fetch = tail != committed", "wire fetch = tail != head", "deframer"),
    "a full buffer is written": (
        DEFRAMER, "wire write = (ends || spills) && has_room;", "wire write = ends || spills;", "deframer"),
    "what is offered changes": (
        DEFRAMER, "if (fetch) out <=", "out <=", "deframer"),
    "a damaged frame leaves its bytes": (
        DEFRAMER, "place = ends && !good ? committed : head", "place = head", "deframer"),
    "a vector that waits is shifted": (
        BRIDGE, "wire vector_room = !vector_whole || vector_tready;", "wire vector_room = 1'b1;", "bridge"),
    "a byte is taken that was not sent": (
        FRAMER, "state == BODY && tx_ready && whole", "state == BODY && whole", "bridge"),
    "an escaped flag is sent as it is": (
        FRAMER, "escaping ? plain ^ 8'h20", "escaping ? plain", "bridge"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", DEEP_BUGS)
def test_a_bug_of_a_board_is_not_proved(name: str, tmp_path: Path) -> None:
    file, found, seeded, only = DEEP_BUGS[name]
    shutil.copytree(ROOT / "rtl", tmp_path / "rtl")
    path = tmp_path / "rtl" / file
    text = path.read_text()
    assert text.count(found) == 1
    path.write_text(text.replace(found, seeded))
    code, said = prove(tmp_path, "--only", only, rtl=tmp_path / "rtl")
    assert code == 1 and "FAILED" in said, said


def test_what_cannot_happen_is_no_proof(tmp_path: Path) -> None:
    """A buffer that never accepts a beat keeps every property of accepted beats, but its covers fail."""
    shutil.copytree(ROOT / "rtl", tmp_path / "rtl")
    path = tmp_path / "rtl" / "formal" / "skid_proof.v"
    path.write_text(path.read_text().replace("assume (!resetn);", "assume (!resetn);\n  always @* assume (!s_valid);"))
    code, said = prove(tmp_path, "--only", "skid", rtl=tmp_path / "rtl")
    assert code == 1 and re.search(r"FAILED cover: cover_", said), said


@pytest.mark.parametrize(
    ("reached", "unreached"),
    [
        ("Reached cover statement at cover_full in step 10.", "Unreached cover statement at cover_full."),
        ("Reached cover statement in step 10 at top: cover_full", "Unreached cover statement at top: cover_full"),
    ],
    ids=["Yosys 0.23", "Yosys 0.52"],
)
def test_the_names_of_covers(reached: str, unreached: str) -> None:
    lines = f"##   0:00:00  {unreached}\n##   0:00:00  {reached}\n##   0:00:00  Status: PASSED\n"
    spec = importlib.util.spec_from_file_location("prove_rtl", ROOT / "tools" / "prove_rtl.py")
    assert spec is not None and spec.loader is not None
    prove_rtl = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(prove_rtl)
    for word in ("Reached", "Unreached"):
        assert re.findall(prove_rtl.COVER.format(word), lines, re.MULTILINE) == ["cover_full"]


def test_a_missing_tool_is_a_tool_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, said = prove(tmp_path, "--only", "skid")
    assert code == 3 and "yosys was not found on PATH" in said


def test_rtl_that_yosys_cannot_read_is_a_tool_failure(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "rtl", tmp_path / "rtl")
    (tmp_path / "rtl" / SKID).write_text("module dais_skid (")
    code, said = prove(tmp_path, "--only", "skid", rtl=tmp_path / "rtl")
    assert code == 3 and "yosys failed on skid_proof" in said


def test_no_proof_of_that_name(tmp_path: Path) -> None:
    code, said = prove(tmp_path, "--only", "fifo")
    assert code == 2 and "skid_proof_WIDTH4" in said
