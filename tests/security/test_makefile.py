"""Values given to make are text: neither make nor a shell executes them, and no name is taken for an option."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ATTACKS = ["$(shell touch PWNED)", "$$(touch PWNED)", "`touch PWNED`", "x'; touch PWNED; '", 'x"; touch PWNED; "']
ATTACKS += ["; touch PWNED", "$(eval X:=$(shell touch PWNED))", "-n", "--html=PWNED", "a\ntouch PWNED"]
VARIABLES = {
    "check": ("PROGRAM",),
    "sim": ("PROGRAM", "SIM", "OUT", "VECTORS", "SEED"),
    "prove": ("PROGRAM", "OUT"),
    "signoff": ("PROGRAM", "OUT"),
    "synth": ("PROGRAM", "TARGET"),
    "hil": ("PROGRAM", "TARGET"),
    "regress": ("PROGRAMS", "SIM", "OUT"),
}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the Makefile, set up, and a Python that only writes its arguments into a file."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("pyproject.toml", "setup.py", "tools/setup.sh", "tools/constraints.txt", ".venv/bin/python"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / ".venv/bin/python").write_text("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done >asked\n")
    (folder / ".venv/bin/python").chmod(0o755)
    for name in (".ready", ".ready-synth", ".ready-test"):
        (folder / ".venv" / name).touch()
    return folder


def asked(folder: Path, target: str, given: dict[str, str], *, by_environment: bool = False) -> list[str]:
    """Return the arguments that make gives to Python."""
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
            if name != "PROGRAMS":
                assert words.count(attack) == 1, words
            if name in ("PROGRAM", "PROGRAMS"):
                assert "--html=PWNED" not in words[: words.index("--")]


@pytest.mark.parametrize("target", VARIABLES)
def test_options_are_words_and_nothing_is_executed(target: str, checkout: Path) -> None:
    """ARGS is split at blanks, and not processed further."""
    for attack in ATTACKS:
        words = asked(checkout, target, {"ARGS": f"--first {attack}"})
        assert not (checkout / "PWNED").exists(), attack
        options = words[words.index("--first") + 1 : words.index("--")]
        assert options == attack.split(), words


@pytest.mark.parametrize("name", ["NOBODY", "RTL", "STAGES", "PROGARM"])
def test_a_variable_without_a_meaning_is_refused_and_not_expanded(name: str, checkout: Path) -> None:
    """If an unknown variable were ignored, the RTL that it names would not be checked, and emitted RTL would pass."""
    done = subprocess.run(["make", "sim", f"{name}=$(shell touch PWNED)"], cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 2 and f"there is no variable {name}: give options" in done.stderr
    assert not (checkout / "PWNED").exists()


def test_every_variable_is_known() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = re.search(r"^KNOWN := ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    assert known is not None
    assert set(re.findall(r"(\w+) \?=", text)) <= set(known[1].replace("\\", " ").split())


def test_what_is_given_arrives(checkout: Path) -> None:
    given = {"PROGRAM": "p 1.bin", "VECTORS": "7", "SIM": "icarus", "OUT": "o 1", "ARGS": "--stages 3  --waves"}
    assert asked(checkout, "sim", given)[2:] == [
        *("sim", "--sim", "icarus", "--vectors", "7", "-o", "o 1", "--stages", "3", "--waves", "--", "p 1.bin"),
    ]
    words = asked(checkout, "prove", {"ARGS": "--rtl a.v b.v"})
    assert words[2:] == ["prove", "--rtl", "a.v", "b.v", "--", "examples/quantised_mac.bin"]
    assert asked(checkout, "regress", {"PROGRAMS": "x *.bin"})[2:] == ["regress", "--", "x", "*.bin"]
    assert asked(checkout, "hil", {})[2:5] == ["hil", "--target", "sim://uart"]
