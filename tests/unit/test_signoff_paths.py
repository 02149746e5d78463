"""A program whose path begins with a dash is a program for the verbs of a sign-off, too."""

from __future__ import annotations

from pathlib import Path

from dais_verif.signoff.context import plain_path


def test_no_path_is_taken_for_an_option() -> None:
    assert plain_path(Path("--json")) == "./--json"
    assert plain_path(Path("-x/a.bin")) == "./-x/a.bin"
    assert plain_path(Path("a-b.bin")) == "a-b.bin"
    assert plain_path(Path("/-x.bin")) == "/-x.bin"
