"""TOML is parsed, or refused with one line that gives the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from dais_verif.base.errors import InputError
from dais_verif.base.toml import parse_toml
from dais_verif.hardware.emitter.delays import read_delay_model
from dais_verif.hardware.ports.ports_file import read_ports_file
from dais_verif.signoff.policy import read_policy
from dais_verif.verbs.mutation.mutate import read_expected


def test_a_document_is_its_tables() -> None:
    assert parse_toml("a = 1\n[b]\nc = [0x10, {d = 'x'}]") == {"a": 1, "b": {"c": [16, {"d": "x"}]}}
    assert parse_toml(f"a = 0x{'f' * 1024}") == {"a": (1 << 4096) - 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = ", "Invalid value"),
        (f"a = {'1' * 5000}", "5000 digits"),
        (f"a = 0x1{'0' * 1024}", "4097 bits"),
        (f"[[a]]\nb = [{{c = 0b1{'0' * 4096}}}]", "4097 bits"),
        (f"a = {'[' * 5000}{']' * 5000}", r"\w"),
    ],
)
def test_anything_else_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        parse_toml(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("reader", [read_ports_file, read_delay_model, read_expected, read_policy])
@pytest.mark.parametrize("digits", ["1" * 5000, "0x" + "f" * 5000], ids=["decimal", "hexadecimal"])
def test_files_of_users_with_a_long_integer_are_refused(digits: str, reader: object, tmp_path: Path) -> None:
    path = tmp_path / "user.toml"
    path.write_text(f"carry = {digits}\n")
    assert callable(reader)
    with pytest.raises(InputError, match=r"user\.toml") as caught:
        reader(path)
    assert len(str(caught.value)) < 400
