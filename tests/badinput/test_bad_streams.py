"""Machines and files that cannot be used with AXI4-Stream end in one line that names what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import as_recorded, raises
from support.stream_machines import moving_sum, write_stream

import dais_verif
from dais_verif.spec.machine import Machine

COUNTER = Path(__file__).parents[1] / "fsm" / "f01_counter" / "fsm.json.gz"
PROGRAM = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


def refused(machine: Machine | Path, folder: Path, stream: Path | None, **options: object) -> str:
    with pytest.raises(dais_verif.InputError) as error:
        dais_verif.emit(machine, wrap="axis", stream=stream, output=folder / "out", **options)  # type: ignore[arg-type]
    assert not (folder / "out").exists() and "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"enable": None}, "enable"),
        ({"valid_in": None}, "valid_in"),
        ({"valid_out": None}, "valid_out"),
        ({"reset": None}, "line"),
        ({"valid_in": "x"}, "valid_in 'x' (v, en, rst)"),
        ({"valid_out": "v"}, "valid_out 'v' (w"),
        ({"enable": "nope"}, "enable 'nope' (v, en, rst)"),
        ({"enable": "v"}, "valid_in enable 'v'"),
        ({"enable": "rst", "reset": "en"}, "line en"),
    ],
)
def test_pins_that_are_none(changed: dict[str, str | None], names: str, tmp_path: Path) -> None:
    said = refused(moving_sum(), tmp_path, write_stream(tmp_path, **changed))
    assert all(name in said for name in names.split()), said
    as_recorded(said)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("valid_in = 3", "valid_in 3"),
        ("valid = 'v'", "'valid' valid_in, valid_out, enable, reset"),
        ("= 1", "TOML"),
    ],
)
def test_files_that_say_nothing(text: str, names: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(text)
    said = refused(moving_sum(), tmp_path, tmp_path / "s.toml")
    assert all(name in said for name in names.split()), said
    if text != "= 1":  # this one quotes Python
        as_recorded(said)


def test_an_enable_that_does_not_hold_everything(tmp_path: Path) -> None:
    said = refused(moving_sum(held=False), tmp_path, write_stream(tmp_path))
    assert all(part in said for part in ("line[0], line[1]", "0, so", "beats"))


def test_a_reset_that_leaves_something(tmp_path: Path) -> None:
    said = refused(moving_sum(all_reset=False), tmp_path, write_stream(tmp_path))
    as_recorded(said)


def test_a_machine_without_such_bits(tmp_path: Path) -> None:
    assert all(
        part in refused(COUNTER, tmp_path, None) for part in ("stream, a TOML", "valid_in, valid_out, enable", "reset")
    )
    as_recorded(refused(COUNTER, tmp_path, write_stream(tmp_path)))


def test_options_that_only_programs_have(tmp_path: Path) -> None:
    stream = write_stream(tmp_path)
    as_recorded(refused(moving_sum(), tmp_path, stream, axil=True))
    assert "user_bits" in refused(moving_sum(), tmp_path, stream, user_bits=4)
    as_recorded(refused(PROGRAM, tmp_path, stream))
    with raises(dais_verif.InputError):
        dais_verif.emit(moving_sum(), stream=stream)
    for more, said in (
        ({"wrap": "uart", "stream": stream}, r"stream.*wrap.*board"),
        ({"wrap": "uart", "axil": True}, r"axil.*AXI4-Stream.*wrap"),
        (
            {"wrap": "axis", "stream": stream, "cycles": 8},
            r"cycles.*wrap.*stream",
        ),
        ({"wrap": "fifo", "cycles": 0}, r"cycles.*1 to 4096.*0"),
    ):
        with raises(dais_verif.DaisError, match=said):
            dais_verif.emit(moving_sum(), output=tmp_path / "out", **more)
    with raises(dais_verif.InputError):
        dais_verif.emit(PROGRAM, wrap="uart", cycles=8, output=tmp_path / "out")


def test_a_name_that_is_taken(tmp_path: Path) -> None:
    said = refused(moving_sum(), tmp_path, write_stream(tmp_path), top="dais_skid")
    assert said == "top dais_skid gives two modules dais_skid; choose another top"
