"""A ports file has the meaning that it states, or is refused with one line that names the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.hardware.ports.ports_file import PortsFile, Side, latency_of, read_ports_file
from dais_verif.spec.program import FixedType


def read(folder: Path, text: str) -> PortsFile:
    path = folder / "ports.toml"
    path.write_text(text)
    return read_ports_file(path)


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "") == PortsFile(Side("model_inp"), Side("model_out"))


def test_everything(tmp_path: Path) -> None:
    said = read(
        tmp_path,
        """
        [inputs]
        ports = ["a", "b"]
        types = ["s4.1", "u3.-2"]
        [outputs]
        port = "y[{}]"
        types = "s0.0"
        [clock]
        port = "clk"
        latency = 4
        reset = "rst_n"
        reset_active = "low"
        enable = "ce"
        valid_in = "vi"
        valid_out = "vo"
        [tie]
        mode = 3
        """,
    )
    assert said.inputs.names(2) == ["a", "b"]
    assert said.inputs.types == (FixedType(1, 2, 1), FixedType(0, 5, -2))
    assert said.outputs.names(3) == ["y[0]", "y[1]", "y[2]"]
    assert said.outputs.types == (FixedType(1, -1, 0),)
    assert said.clocking == Clocking("clk", 4, "rst_n", True, "ce", "vi", "vo")
    assert said.ties == (("mode", 3),)


def test_one_packed_port_has_no_names_of_elements(tmp_path: Path) -> None:
    assert read(tmp_path, '[inputs]\nport = "x"').inputs.names(7) is None


def test_a_latency_that_is_not_given_is_found_out(tmp_path: Path) -> None:
    for line in ("", 'latency = "auto"'):
        clocking = read(tmp_path, f'[clock]\nport = "clk"\n{line}').clocking
        assert clocking is not None and clocking.latency is None


@pytest.mark.parametrize("value", ["3.5", "-1", "x", True, 1_000_000, "", "٣"])
def test_what_is_no_latency(value: object) -> None:
    with raises(ValueError):
        latency_of(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[inputs", "valid TOML"),
        ("[input]\nport = 'x'", "[inputs], [outputs], [clock]"),
        ("inputs = 3", "inputs must be a table"),
        ("[inputs]\nname = 'x'", "[inputs] name is unknown; keys are port, ports, types"),
        ("[inputs]\nport = 3", "[inputs] port is 3"),
        ("[inputs]\nport = 'x'\nports = ['y']", "[inputs]"),
        ("[inputs]\nports = []", "[inputs] ports"),
        ("[outputs]\nports = ['a', 'b', 'a']", "'a'"),
        ("[outputs]\ntypes = 's4'", '"s12.6"'),
        ("[outputs]\ntypes = ['s4.0', 7]", "(or u), 12 bits, 6"),
        ("[outputs]\ntypes = 'u5000.0'", "4096 bits"),
        ("[clock]\nlatency = 3", "[clock]"),
        ("[clock]\nport = 'c'\nlatency = -1", "[clock] latency"),
        ("[clock]\nport = 'c'\nreset_active = 0", '[clock] reset_active is 0, must be "high" or "low"'),
        ("tie = 3", "[tie] must be a table"),
        ("[tie]\nmode = -1", "[tie] mode is -1"),
        ("[tie]\nmode = true", "[tie] mode is True"),
    ],
)
def test_what_cannot_be_used(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    as_recorded(caught.value)
    assert "ports.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with raises(InputError):
        read_ports_file(tmp_path / "none.toml")
