"""Modules that users import are found at their old places for a release."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from dais_verif.base.moved import MOVED

CODE = """
import importlib, sys, warnings
from dais_verif.base.moved import MOVED
for old, new in MOVED.items():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        module = importlib.import_module(f"dais_verif.{old}")
    expected = importlib.import_module(f"dais_verif.{new}")
    assert module is expected and module.__spec__.name == module.__name__ == f"dais_verif.{new}", old
    assert any(f"is now dais_verif.{new}" in str(one.message) for one in said), old
print(len(MOVED))
"""


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout


def test_every_old_place_leads_to_the_module_itself_and_says_the_new_one() -> None:
    assert run(CODE) == f"{len(MOVED)}\n" and len(MOVED) > 10


def test_a_module_within_a_moved_package_is_not_loaded_twice() -> None:
    code = "from dais_verif.program.ports import Ports as a; from dais_verif.spec.program.ports import Ports as b; "
    assert run(f"{code}print(a is b)") == "True\n"


def test_no_module_is_imported_at_its_old_place_here() -> None:
    code = (
        "import warnings; warnings.simplefilter('error', DeprecationWarning); import dais_verif.doors.cli.main as m; "
    )
    assert run(f"{code}print(m.__name__)") == "dais_verif.doors.cli.main\n"


def test_a_module_that_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("dais_verif.program.nothing")
