"""A repeated sign-off reads the files of the policy where they are now."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.signing import DESIGN

from dais_verif.signoff.checking.recheck import _data
from dais_verif.signoff.policy import Policy, Rtl
from dais_verif.signoff.signed_design import FileHash, Subject

CERTIFIED = {"alone.mem": "/new/data/alone.mem", "tables/deep/inner.mem": "/new/data/tables/deep/inner.mem"}


@pytest.mark.parametrize(
    ("given", "now"),
    [
        ("/old/data/alone.mem", "/new/data/alone.mem"),
        ("/old/data/tables", "/new/data/tables"),
        ("/old/data/other.mem", "/old/data/other.mem"),
    ],
    ids=["file", "folder", "not certified"],
)
def test_the_current_path_of_data(given: str, now: str) -> None:
    files = tuple(FileHash("data", path, "0" * 64, name) for name, path in CERTIFIED.items())
    subject = Subject(DESIGN, Path("/new/prog.bin"), None, False, "model", files)
    assert list(_data(Policy(rtl=Rtl(data=(given,))), subject)) == [now]
