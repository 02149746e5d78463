"""``hil --blame`` names the op whose lookup table is wrong on a board, by means of bitstreams with taps."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from support.bitstreams import require_icestorm, with_fault
from support.door import command
from support.said import raises

import dais_verif
from dais_verif.base.errors import DaisError
from dais_verif.verbs.boards.taps import TapsSearch

EXAMPLES = Path(__file__).parents[2] / "examples"
MAC = EXAMPLES / "quantised_mac.bin"
SMALL, LARGE = "ice40-hx1k-tq144", "ice40-hx8k-ct256"

#: A script that loads a bitstream onto a board whose device has a fault wherever an op of the core is placed.
_LOAD = """\
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from support.bitstreams import with_fault
if len(sys.argv) > 2:
    sys.exit("the cable is not there")
with_fault(Path(sys.argv[1]), {source!r}, Path({board!r}))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_icestorm()
    folder = tmp_path_factory.mktemp("built") / "out"
    dais_verif.build_bitstream(MAC, SMALL, folder, wrap="uart")
    return folder


def loading(folder: Path, source: str) -> str:
    """Return a command that loads a bitstream with a fault in the RTL line that starts with ``source``."""
    script = folder / "load.py"
    tests = str(Path(__file__).parents[1])
    script.write_text(_LOAD.format(tests=tests, source=source, board=str(folder / "board.bin")))
    return shlex.join([sys.executable, str(script), "{bitstream}"])


def blamed(built: Path, folder: Path, *options: object) -> dict[str, Any]:
    target = f"sim://bitstream?file={folder / 'board.bin'}&pins={built / 'pins.pcf'}&device={SMALL}"
    arguments = ["--target", target, "--vectors", "40", "--blame", built, "-o", folder / "run", "--json", *options]
    done = command("hil", MAC, *arguments)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("op", "computes"), [(3, "%1 + %1<<1"), (4, "%0 + %3"), (5, "%4 - %2>>1")])
def test_the_op_whose_table_is_wrong_is_named(built: Path, tmp_path: Path, op: int, computes: str) -> None:
    source = f"op_{op} ="
    with_fault(built / "model.bin", source, tmp_path / "board.bin")
    found = blamed(built, tmp_path, "--load", loading(tmp_path, source))
    assert found["verdict"] == "RTL_MISMATCH", found["message"]
    blame = found["first_mismatch"]["blame"]
    assert (blame["kind"], blame["op"]) == ("op", op), blame
    for word in (f"op {op} (", computes, "first op whose value diverges", "sent again 8 times"):
        assert word in blame["text"]
    assert blame["expected"]["bits"] != blame["found"]["bits"]
    (read,) = found["board"]["taps"]
    assert op in read["wrong"] and min(read["wrong"]) == op
    assert (tmp_path / "run" / "taps-1" / "model.bin").exists()


@pytest.mark.slow
def test_where_few_taps_fit_the_op_is_found_by_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_icestorm()
    monkeypatch.setattr(TapsSearch, "_room", lambda self: 18)
    built = tmp_path / "built"
    dais_verif.build_bitstream(MAC, LARGE, built, wrap="uart")
    with_fault(built / "model.bin", "op_4 =", tmp_path / "board.bin")
    found = dais_verif.run_on_board(
        MAC,
        f"sim://bitstream?file={tmp_path / 'board.bin'}&pins={built / 'pins.pcf'}&device={LARGE}",
        vectors=40,
        blame=built,
        load=loading(tmp_path, "op_4 ="),
        output=tmp_path / "run",
    )
    assert found.first_mismatch is not None and found.first_mismatch.op == 4
    assert found.board is not None and found.board.taps is not None and 1 < len(found.board.taps) <= 4
    assert all(sum(width(op) for op in read.ops) <= 18 for read in found.board.taps)


def width(op: int) -> int:
    return dais_verif.load(MAC).ops[op].type.width


@pytest.mark.slow
def test_a_fault_of_the_bitstream_alone_is_not_one_of_an_op(built: Path, tmp_path: Path) -> None:
    """A fault of the original bitstream only, which bitstreams with taps do not have, is not blamed on an op."""
    with_fault(built / "model.bin", "op_4 =", tmp_path / "board.bin")
    found = blamed(built, tmp_path)
    blame = found["first_mismatch"]["blame"]
    assert found["verdict"] == "RTL_MISMATCH" and blame["op"] is None
    assert "the fault is in the bitstream on the board" in blame["text"]


@pytest.mark.slow
def test_a_command_that_fails_is_told_and_the_verdict_stays(built: Path, tmp_path: Path) -> None:
    with_fault(built / "model.bin", "op_4 =", tmp_path / "board.bin")
    found = blamed(built, tmp_path, "--load", loading(tmp_path, "op_4 =") + " again")
    assert found["verdict"] == "RTL_MISMATCH"
    text = found["first_mismatch"]["blame"]["text"]
    assert "the taps found nothing: the command of --load" in text and "the cable is not there" in text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"load": "iceprog {bitstream}"}, r"load.*taps.*build.*board.*blame"),
        ({"blame": "nowhere", "target": "sim://uart"}, r"blame.*run a bitstream"),
        ({"blame": "nowhere", "target": "tcp://localhost:1"}, r"load.*command.*bitstream"),
        ({"blame": "nowhere", "target": "tcp://localhost:1", "load": "true"}, ""),
        ({"blame": "nowhere", "target": "tcp://localhost:1", "load": "true {bitstream}"}, "read 'nowhere"),
        ({"program": EXAMPLES / "serial_dot.mach", "blame": "nowhere"}, "blame"),
    ],
    ids=["no-build", "rtl", "no-command", "no-place", "no-folder", "machine"],
)
def test_what_does_not_go_together(given: dict[str, Any], says: str) -> None:
    with raises(DaisError, match=says):
        dais_verif.run_on_board(**{"program": MAC, "target": "sim://fifo", **given})


@pytest.mark.slow
def test_builds_of_something_else_are_refused(built: Path, tmp_path: Path) -> None:
    with raises(DaisError, match="build"):
        dais_verif.run_on_board(EXAMPLES / "sort_two.bin", "tcp://localhost:1", blame=built, load="true {bitstream}")
    dais_verif.build_bitstream(MAC, SMALL, tmp_path / "bare", wrap="none")
    with raises(DaisError, match=r"build.*link"):
        dais_verif.run_on_board(MAC, "tcp://localhost:1", blame=tmp_path / "bare", load="true {bitstream}")
