"""What is given to make is text: neither make nor a shell executes it, and no name is taken for an option."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ATTACKS = ["$(shell touch PWNED)", "$$(touch PWNED)", "`touch PWNED`", "x'; touch PWNED; '", 'x"; touch PWNED; "']
ATTACKS += ["; touch PWNED", "$(eval X:=$(shell touch PWNED))", "-n", "--html=PWNED", "a\ntouch PWNED"]
VARIABLES = {
    "check": ("PROGRAM",),
    "sim": ("PROGRAM", "SIM", "INPUTS", "RTL", "TOP", "DATA", "PORTS", "OUT", "LAYOUT", "VECTORS", "WAVES"),
    "prove": ("PROGRAM", "RTL", "TIMEOUT", "FRONT_END"),
    "signoff": ("PROGRAM", "POLICY", "SIGN", "RTL"),
    "synth": ("PROGRAM", "RTL", "TARGET"),
    "hil": ("PROGRAM", "TARGET"),
    "regress": ("PROGRAMS", "JUNIT", "CLUSTER", "OUT"),
}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Makefile, set up, with a Python that only writes down what it is asked."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("pyproject.toml", "setup.py", "tools/setup.sh", ".venv/bin/python"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / ".venv/bin/python").write_text("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done >asked\n")
    (folder / ".venv/bin/python").chmod(0o755)
    for name in (".ready", ".ready-synth", ".ready-test"):
        (folder / ".venv" / name).touch()
    return folder


def asked(folder: Path, target: str, given: dict[str, str], *, by_environment: bool = False) -> list[str]:
    """The words that the verb is called with."""
    (folder / "asked").unlink(missing_ok=True)
    words = [] if by_environment else [f"{name}={value}" for name, value in given.items()]
    environment = {**os.environ, **(given if by_environment else {})}
    subprocess.run(["make", target, *words], cwd=folder, env=environment, capture_output=True, timeout=60, check=True)
    return (folder / "asked").read_bytes().decode().split("\0")[:-1]


@pytest.mark.parametrize(("target", "name"), [(t, name) for t, names in VARIABLES.items() for name in names])
def test_no_value_is_executed(target: str, name: str, checkout: Path) -> None:
    for attack in ATTACKS:
        for by_environment in (False, True):
            words = asked(checkout, target, {name: attack}, by_environment=by_environment)
            assert not (checkout / "PWNED").exists(), attack
            assert words[:3] == ["-m", "dais_verif", target]
            if name in ("PROGRAM", "POLICY", "OUT", "TARGET", "INPUTS"):
                assert words.count(attack) == 1, words
            if name == "RTL":
                assert "--html=PWNED" not in words
            if name in ("PROGRAM", "PROGRAMS"):
                assert "--html=PWNED" not in words[: words.index("--")]


def test_a_variable_that_nobody_asked_for_is_not_expanded(checkout: Path) -> None:
    asked(checkout, "check", {"NOBODY": "$(shell touch PWNED)"})
    assert not (checkout / "PWNED").exists()


def test_what_is_given_arrives(checkout: Path) -> None:
    (checkout / "a b.v").touch()
    words = asked(
        checkout, "sim", {"PROGRAM": "p 1.bin", "RTL": "a b.v", "VECTORS": "7", "TOP": "top", "SIM": "icarus"}
    )
    assert words[2:] == [
        "sim",
        "--vectors",
        "7",
        "--seed",
        "0",
        "--top",
        "top",
        "--sim",
        "icarus",
        "--rtl=a b.v",
        "--",
        "p 1.bin",
    ]
    words = asked(checkout, "prove", {"RTL": "a.v b.v"})
    assert words[2:] == ["prove", "--top", "model", "--rtl=a.v", "--rtl=b.v", "--", "examples/quantised_mac.bin"]
    assert asked(checkout, "regress", {"PROGRAMS": "x *.bin"})[2:] == ["regress", "--", "x", "*.bin"]
