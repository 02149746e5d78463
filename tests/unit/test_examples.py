"""The shipped examples are what their script makes, are valid, and are listed in the README."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import dais_verif
from dais_verif.golden import run
from dais_verif.spec.program import write_binary
from dais_verif.spec.program.ranges import PromiseStatus, analyse

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "make_examples.py"

spec = importlib.util.spec_from_file_location("make_examples", SCRIPT)
assert spec is not None and spec.loader is not None
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


@pytest.mark.parametrize(("make", "layout"), module.EXAMPLES, ids=lambda item: getattr(item, "__name__", item))
def test_shipped_file_is_what_the_script_makes(make, layout) -> None:
    path = SCRIPT.with_name(f"{make.__name__}.bin")
    assert path.read_bytes() == write_binary(make(), layout)
    program = dais_verif.load(path)
    assert program.origin.layout == layout and not program.origin.assumed
    assert analyse(program).worst is PromiseStatus.SAFE


def test_every_example_is_listed() -> None:
    text = (ROOT / "examples" / "README.md").read_text()
    shipped = sorted(path.name for path in SCRIPT.parent.glob("*.bin"))
    frames = {path.with_suffix(".bin").name for path in SCRIPT.parent.glob("*.mach")}  # see test_example_machines
    shipped = [name for name in shipped if name not in frames]
    assert shipped == sorted(f"{make.__name__}.bin" for make, _ in module.EXAMPLES)
    assert all(f"`{name}`" in text for name in shipped)


def test_readme_shows_the_example_that_runs_without_a_program() -> None:
    program = dais_verif.load(ROOT / "examples" / "quantised_mac.bin")
    assert program.hash in (ROOT / "README.md").read_text()
    assert "EXAMPLE := examples/quantised_mac.bin" in (ROOT / "Makefile").read_text()


def test_quantised_mac_computes_what_its_docstring_says() -> None:
    program = dais_verif.load(ROOT / "examples" / "quantised_mac.bin")
    # -8 + 3 * -8 - -8 / 2 - 1.25 < 0; 7.75 + 3 * 7.75 - 7.75 / 2 - 1.25 = 25.875, rounded down to 25.5
    assert run(program, [[-8, -8, -8], [7.75, 7.75, 7.75]]).tolist() == [[0.0], [25.5]]
